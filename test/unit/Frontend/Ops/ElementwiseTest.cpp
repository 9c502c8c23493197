// Arithmetic, comparisons, mathematics and activations against plain functions of doubles.
#include "test/unit/Frontend/Ops/Harness.h"
#include <numbers>

using namespace sprig;
using namespace sprig::test;

namespace {

using Unary = double (*)(double);

struct UnaryRow {
  const char *name;
  std::function<Tensor(const Tensor &)> f;
  std::function<double(double)> want;
  double low = -3, high = 3, tolerance = 2e-6;
};

double phi(double x) { return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); }

TEST(Elementwise, OfOneOperand) {
  const UnaryRow rows[] = {
      {"abs", [](auto &x) { return abs(x); }, [](double v) { return std::abs(v); }},
      {"neg", [](auto &x) { return -x; }, [](double v) { return -v; }},
      {"sign", [](auto &x) { return sign(x); }, [](double v) { return double((v > 0) - (v < 0)); }},
      {"square", [](auto &x) { return square(x); }, [](double v) { return v * v; }},
      {"floor", [](auto &x) { return floor(x); }, [](double v) { return std::floor(v); }},
      {"ceil", [](auto &x) { return ceil(x); }, [](double v) { return std::ceil(v); }},
      {"round", [](auto &x) { return round(x); }, [](double v) { return std::nearbyint(v); }},
      {"trunc", [](auto &x) { return trunc(x); }, [](double v) { return std::trunc(v); }},
      {"frac", [](auto &x) { return frac(x); }, [](double v) { return v - std::trunc(v); }},
      {"exp", [](auto &x) { return exp(x); }, [](double v) { return std::exp(v); }},
      {"expm1", [](auto &x) { return expm1(x); }, [](double v) { return std::expm1(v); }},
      {"exp2", [](auto &x) { return exp2(x); }, [](double v) { return std::exp2(v); }},
      {"log", [](auto &x) { return log(x); }, [](double v) { return std::log(v); }, 0.1, 9},
      {"log1p", [](auto &x) { return log1p(x); }, [](double v) { return std::log1p(v); }, -0.9, 9},
      {"log2", [](auto &x) { return log2(x); }, [](double v) { return std::log2(v); }, 0.1, 9},
      {"log10", [](auto &x) { return log10(x); }, [](double v) { return std::log10(v); }, 0.1, 9},
      {"sqrt", [](auto &x) { return sqrt(x); }, [](double v) { return std::sqrt(v); }, 0, 9},
      {"rsqrt", [](auto &x) { return rsqrt(x); }, [](double v) { return 1 / std::sqrt(v); }, 0.1, 9},
      {"reciprocal", [](auto &x) { return reciprocal(x); }, [](double v) { return 1 / v; }, 0.1, 9},
      {"sin", [](auto &x) { return sin(x); }, [](double v) { return std::sin(v); }},
      {"cos", [](auto &x) { return cos(x); }, [](double v) { return std::cos(v); }},
      {"tan", [](auto &x) { return tan(x); }, [](double v) { return std::tan(v); }, -1.2, 1.2},
      {"asin", [](auto &x) { return asin(x); }, [](double v) { return std::asin(v); }, -0.99, 0.99},
      {"acos", [](auto &x) { return acos(x); }, [](double v) { return std::acos(v); }, -0.99, 0.99},
      {"atan", [](auto &x) { return atan(x); }, [](double v) { return std::atan(v); }},
      {"sinh", [](auto &x) { return sinh(x); }, [](double v) { return std::sinh(v); }},
      {"cosh", [](auto &x) { return cosh(x); }, [](double v) { return std::cosh(v); }},
      {"tanh", [](auto &x) { return tanh(x); }, [](double v) { return std::tanh(v); }},
      {"asinh", [](auto &x) { return asinh(x); }, [](double v) { return std::asinh(v); }},
      {"acosh", [](auto &x) { return acosh(x); }, [](double v) { return std::acosh(v); }, 1.1, 5},
      {"atanh", [](auto &x) { return atanh(x); }, [](double v) { return std::atanh(v); }, -0.9, 0.9},
      {"erf", [](auto &x) { return erf(x); }, [](double v) { return std::erf(v); }},
      {"erfc", [](auto &x) { return erfc(x); }, [](double v) { return std::erfc(v); }},
      {"relu", [](auto &x) { return relu(x); }, [](double v) { return std::max(v, 0.0); }},
      {"relu6", [](auto &x) { return relu6(x); }, [](double v) { return std::min(std::max(v, 0.0), 6.0); }, -3, 9},
      {"sigmoid", [](auto &x) { return sigmoid(x); }, sigmoidOf},
      {"logSigmoid", [](auto &x) { return logSigmoid(x); }, [](double v) { return std::log(sigmoidOf(v)); }},
      {"silu", [](auto &x) { return silu(x); }, [](double v) { return v * sigmoidOf(v); }},
      {"mish", [](auto &x) { return mish(x); }, [](double v) { return v * std::tanh(softplusOf(v)); }},
      {"gelu", [](auto &x) { return gelu(x); }, [](double v) { return v * phi(v); }},
      {"gelu tanh", [](auto &x) { return gelu(x, Gelu::tanh); },
       [](double v) {
         return 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v)));
       }},
      {"elu", [](auto &x) { return elu(x, 1.5); }, [](double v) { return v > 0 ? v : 1.5 * std::expm1(v); }},
      {"celu", [](auto &x) { return celu(x, 2); }, [](double v) { return v > 0 ? v : 2 * std::expm1(v / 2); }},
      {"selu", [](auto &x) { return selu(x); },
       [](double v) { return 1.0507009873554805 * (v > 0 ? v : 1.6732632423543772 * std::expm1(v)); }},
      {"leakyRelu", [](auto &x) { return leakyRelu(x); }, [](double v) { return v > 0 ? v : 0.01 * v; }},
      {"prelu", [](auto &x) { return prelu(x, 0.25); }, [](double v) { return v > 0 ? v : 0.25 * v; }},
      {"softplus", [](auto &x) { return softplus(x); }, softplusOf},
      {"softplus beta", [](auto &x) { return softplus(x, 2, 3); },
       [](double v) { return 2 * v > 3 ? v : softplusOf(2 * v) / 2; }},
      {"softsign", [](auto &x) { return softsign(x); }, [](double v) { return v / (1 + std::abs(v)); }},
      {"hardSigmoid", [](auto &x) { return hardSigmoid(x); },
       [](double v) { return std::min(std::max(v / 6 + 0.5, 0.0), 1.0); }, -5, 5},
      {"hardSwish", [](auto &x) { return hardSwish(x); },
       [](double v) { return v * std::min(std::max(v / 6 + 0.5, 0.0), 1.0); }, -5, 5},
      {"hardTanh", [](auto &x) { return hardTanh(x, -2, 0.5); },
       [](double v) { return std::min(std::max(v, -2.0), 0.5); }},
      {"hardShrink", [](auto &x) { return hardShrink(x); }, [](double v) { return std::abs(v) <= 0.5 ? 0 : v; }},
      {"softShrink", [](auto &x) { return softShrink(x); },
       [](double v) { return v > 0.5    ? v - 0.5
                             : v < -0.5 ? v + 0.5
                                        : 0; }},
      {"tanhShrink", [](auto &x) { return tanhShrink(x); }, [](double v) { return v - std::tanh(v); }},
      {"threshold", [](auto &x) { return threshold(x, 0.5, 7); }, [](double v) { return v > 0.5 ? v : 7; }},
      {"clamp", [](auto &x) { return clamp(x, -1, 0.5); }, [](double v) { return std::min(std::max(v, -1.0), 0.5); }},
      {"clampMin", [](auto &x) { return clampMin(x, 1); }, [](double v) { return std::max(v, 1.0); }},
      {"clampMax", [](auto &x) { return clampMax(x, 1); }, [](double v) { return std::min(v, 1.0); }},
      {"pow 2", [](auto &x) { return pow(x, 2); }, [](double v) { return v * v; }},
      {"pow 3", [](auto &x) { return pow(x, 3); }, [](double v) { return v * v * v; }},
      {"2 pow", [](auto &x) { return pow(2.0, x); }, [](double v) { return std::exp2(v); }},
      {"stopGradient", [](auto &x) { return stopGradient(x); }, [](double v) { return v; }},
  };
  for (const UnaryRow &row : rows) {
    Array x = numbers({3, 7}, 5, row.low, row.high);
    check(
        row.name, {tensorOf(x)}, [&](Inputs in) { return row.f(in[0]); }, map(x, row.want), DType::f32, row.tolerance);
  }
}

struct BinaryRow {
  const char *name;
  std::function<Tensor(const Tensor &, const Tensor &)> f;
  std::function<double(double, double)> want;
  DType type = DType::f32;
};

double moduloOf(double a, double b) { return a - std::floor(a / b) * b; }

TEST(Elementwise, OfTwoOperandsBroadcast) {
  const BinaryRow rows[] = {
      {"add", [](auto &a, auto &b) { return a + b; }, [](double a, double b) { return a + b; }},
      {"sub", [](auto &a, auto &b) { return a - b; }, [](double a, double b) { return a - b; }},
      {"mul", [](auto &a, auto &b) { return a * b; }, [](double a, double b) { return a * b; }},
      {"div", [](auto &a, auto &b) { return a / b; }, [](double a, double b) { return a / b; }},
      {"remainder", [](auto &a, auto &b) { return a % b; }, moduloOf},
      {"fmod", [](auto &a, auto &b) { return fmod(a, b); }, [](double a, double b) { return std::fmod(a, b); }},
      {"floorDivide", [](auto &a, auto &b) { return floorDivide(a, b); },
       [](double a, double b) { return std::floor(a / b); }},
      {"maximum", [](auto &a, auto &b) { return maximum(a, b); }, [](double a, double b) { return std::max(a, b); }},
      {"minimum", [](auto &a, auto &b) { return minimum(a, b); }, [](double a, double b) { return std::min(a, b); }},
      {"pow", [](auto &a, auto &b) { return pow(abs(a), b); },
       [](double a, double b) { return std::pow(std::abs(a), b); }},
      {"atan2", [](auto &a, auto &b) { return atan2(a, b); }, [](double a, double b) { return std::atan2(a, b); }},
      {"lerp", [](auto &a, auto &b) { return lerp(a, b, 0.25); },
       [](double a, double b) { return a + 0.25 * (b - a); }},
      {"eq", [](auto &a, auto &b) { return a == b; }, [](double a, double b) { return a == b; }, DType::boolean},
      {"ne", [](auto &a, auto &b) { return a != b; }, [](double a, double b) { return a != b; }, DType::boolean},
      {"lt", [](auto &a, auto &b) { return a < b; }, [](double a, double b) { return a < b; }, DType::boolean},
      {"le", [](auto &a, auto &b) { return a <= b; }, [](double a, double b) { return a <= b; }, DType::boolean},
      {"gt", [](auto &a, auto &b) { return a > b; }, [](double a, double b) { return a > b; }, DType::boolean},
      {"ge", [](auto &a, auto &b) { return a >= b; }, [](double a, double b) { return a >= b; }, DType::boolean},
      {"and", [](auto &a, auto &b) { return a > 0 && b > 0; }, [](double a, double b) { return a > 0 && b > 0; },
       DType::boolean},
      {"or", [](auto &a, auto &b) { return a > 0 || !(b > 0); }, [](double a, double b) { return a > 0 || !(b > 0); },
       DType::boolean},
      {"xor", [](auto &a, auto &b) { return logicalXor(a > 0, b > 0); },
       [](double a, double b) { return (a > 0) != (b > 0); }, DType::boolean},
      {"where", [](auto &a, auto &b) { return where(a > b, a, 1.5); },
       [](double a, double b) { return a > b ? a : 1.5; }},
      {"maskedFill", [](auto &a, auto &b) { return maskedFill(a + 0 * b, b > 0, -1); },
       [](double a, double b) { return b > 0 ? -1 : a; }},
  };
  for (const BinaryRow &row : rows) {
    Array a = numbers({2, 1, 5}, 3), b = numbers({4, 1}, 8);
    b.values[2] = a.values[3]; // something that is equal
    check(
        row.name, {tensorOf(a), tensorOf(b)}, [&](Inputs in) { return row.f(in[0], in[1]); }, zip(a, b, row.want),
        row.type);
  }
}

TEST(Elementwise, IntegersAsPython) {
  Array a = counting({13}), b = map(counting({13}), [](double v) { return v < 6 ? v - 7 : v - 5; });
  a = map(a, [](double v) { return v * 3 - 17; });
  std::vector<Tensor> in{tensorOf(a, DType::i32), tensorOf(b, DType::i32)};
  check(
      "floorDivide", in, [](Inputs x) { return floorDivide(x[0], x[1]); },
      zip(a, b, [](double x, double y) { return std::floor(x / y); }), DType::i32);
  check("remainder", in, [](Inputs x) { return x[0] % x[1]; }, zip(a, b, moduloOf), DType::i32);
  check(
      "fmod", in, [](Inputs x) { return fmod(x[0], x[1]); },
      zip(a, b, [](double x, double y) { return std::fmod(x, y); }), DType::i32);
  check("div", in, [](Inputs x) { return x[0] / x[1]; }, zip(a, b, [](double x, double y) { return x / y; }));
  check(
      "bitwiseAnd", in, [](Inputs x) { return bitwiseAnd(x[0], x[1]); },
      zip(a, b, [](double x, double y) { return double(int(x) & int(y)); }), DType::i32);
  check(
      "bitwiseOr", in, [](Inputs x) { return bitwiseOr(x[0], x[1]); },
      zip(a, b, [](double x, double y) { return double(int(x) | int(y)); }), DType::i32);
  check(
      "bitwiseXor", in, [](Inputs x) { return bitwiseXor(x[0], x[1]); },
      zip(a, b, [](double x, double y) { return double(int(x) ^ int(y)); }), DType::i32);
  check(
      "bitwiseNot", in, [](Inputs x) { return bitwiseNot(x[0]); }, map(a, [](double x) { return double(~int(x)); }),
      DType::i32);
  check(
      "shifts", in, [](Inputs x) { return bitwiseRightShift(bitwiseLeftShift(x[0], 4), 2); },
      map(a, [](double x) { return x * 4; }), DType::i32);
  check("exp of integers", in, [](Inputs x) { return exp(x[1]); }, map(b, [](double x) { return std::exp(x); }));
  check("floor of integers", in, [](Inputs x) { return floor(x[1]); }, b, DType::i32);
}

TEST(Elementwise, TypesArePyTorchs) {
  auto ones = [](DType type, Shape shape = {2}) { return tensorOf(counting(shape), type); };
  struct Row {
    Tensor got;
    DType want;
  };
  const Row rows[] = {
      {ones(DType::f32) + ones(DType::f64), DType::f64},
      {ones(DType::f32) + ones(DType::f64, {}), DType::f32}, // a scalar gives way within its kind
      {ones(DType::i32) + ones(DType::f64, {}), DType::f64},
      {ones(DType::i64) + 1, DType::i64},
      {ones(DType::i8) + 1, DType::i8},
      {ones(DType::u8) * 2.5, DType::f32},
      {ones(DType::f16) + 2.5, DType::f16},
      {ones(DType::f16) + ones(DType::bf16), DType::f32},
      {ones(DType::u8) + ones(DType::i8), DType::i16},
      {ones(DType::u8) + ones(DType::u16), DType::u16},
      {ones(DType::i32) + ones(DType::i64), DType::i64},
      {ones(DType::boolean) + ones(DType::boolean), DType::boolean},
      {ones(DType::boolean) + 1, DType::i64},
      {ones(DType::boolean) * 1.5, DType::f32},
      {ones(DType::boolean) + ones(DType::i8), DType::i8},
      {ones(DType::i32) / 2, DType::f32},
      {ones(DType::f64) / 2, DType::f64},
      {ones(DType::i32) == 1.5, DType::boolean},
      {ones(DType::i64).sum(), DType::i64},
      {ones(DType::boolean).sum(), DType::i64},
      {ones(DType::u8).max(), DType::u8},
      {cat({ones(DType::i32), ones(DType::f32)}), DType::f32},
      {1 - ones(DType::i32), DType::i32},
      {where(ones(DType::boolean), 1, 2.5), DType::f32},
  };
  for (const Row &row : rows) EXPECT_EQ(row.got.dtype(), row.want) << &row - rows;
  // The number meets the integers as a float.
  expectClose("i32 == 1.5", ones(DType::i32) == 1.5, {map(counting({2}), [](double) { return 0; }), DType::boolean});
  EXPECT_EQ((ones(DType::boolean) + ones(DType::boolean)).toVector<bool>(), (std::vector<bool>{false, true}));
}

TEST(Elementwise, SpecialNumbers) {
  double inf = HUGE_VAL, nan = std::nan("");
  Array x{{6}, {-inf, -1, 0, 2.5, inf, nan}};
  auto truth = [&](std::function<bool(double)> f) { return map(x, [=](double v) { return double(f(v)); }); };
  check(
      "isNan", {tensorOf(x)}, [](Inputs in) { return isNan(in[0]); }, truth([](double v) { return std::isnan(v); }),
      DType::boolean);
  check(
      "isInf", {tensorOf(x)}, [](Inputs in) { return isInf(in[0]); }, truth([](double v) { return std::isinf(v); }),
      DType::boolean);
  check(
      "isFinite", {tensorOf(x)}, [](Inputs in) { return isFinite(in[0]); },
      truth([](double v) { return std::isfinite(v); }), DType::boolean);
  check("trunc", {tensorOf(x)}, [](Inputs in) { return trunc(in[0]); }, map(x, [](double v) { return std::trunc(v); }));
  check(
      "clamp", {tensorOf(x)}, [](Inputs in) { return clamp(in[0], -2, 2); },
      map(x, [](double v) { return std::isnan(v) ? v : std::min(std::max(v, -2.0), 2.0); }));
  check(
      "relu", {tensorOf(x)}, [](Inputs in) { return relu(in[0]); },
      map(x, [](double v) { return std::isnan(v) ? v : std::max(v, 0.0); }));
}

TEST(Elementwise, Casts) {
  Array x{{5}, {-1.75, 0, 0.5, 3.25, 250.5}};
  for (DType type : {DType::i32, DType::i64, DType::i16})
    check(
        "cast", {tensorOf(x)}, [=](Inputs in) { return in[0].to(type); },
        map(x, [](double v) { return std::trunc(v); }), type);
  check(
      "to boolean", {tensorOf(x)}, [](Inputs in) { return in[0].to(DType::boolean); },
      map(x, [](double v) { return double(v != 0); }), DType::boolean);
  check("to f64", {tensorOf(x)}, [](Inputs in) { return in[0].to(DType::f64); }, x, DType::f64);
  check("to f16 and back", {tensorOf(x)}, [](Inputs in) { return in[0].to(DType::f16).to(DType::f32); }, x);
}

TEST(Elementwise, AssignmentsGiveTheHandleANewVersion) {
  Tensor a({1.f, 2.f}), old = a;
  a += 1;
  a *= 3;
  a -= Tensor({1.f, 1.f});
  a /= 2;
  EXPECT_EQ(a.toVector<float>(), (std::vector<float>{2.5f, 4}));
  EXPECT_EQ(old.toVector<float>(), (std::vector<float>{1, 2}));
}

TEST(Elementwise, AlongAnAxis) {
  Array x = numbers({2, 4, 3}, 9);
  auto softmaxOf = [&](double sign) {
    Array e = map(x, [=](double v) { return std::exp(sign * v); });
    Array total = reduce(e, {1}, true, [](auto &v) {
      double s = 0;
      for (double each : v) s += each;
      return s;
    });
    return zip(e, total, [](double a, double b) { return a / b; });
  };
  check("softmax", {tensorOf(x)}, [](Inputs in) { return softmax(in[0], 1); }, softmaxOf(1));
  check("softmin", {tensorOf(x)}, [](Inputs in) { return softmin(in[0], -2); }, softmaxOf(-1));
  check(
      "logSoftmax", {tensorOf(x)}, [](Inputs in) { return logSoftmax(in[0], 1); },
      map(softmaxOf(1), [](double v) { return std::log(v); }));
  check(
      "glu", {tensorOf(x)}, [](Inputs in) { return glu(in[0], 1); },
      generate({2, 2, 3}, [&](auto &i) { return at(x, i) * sigmoidOf(at(x, {i[0], i[1] + 2, i[2]})); }));
  Array slopes = numbers({4}, 2);
  check(
      "prelu per channel", {tensorOf(x), tensorOf(slopes)}, [](Inputs in) { return prelu(in[0], in[1]); },
      generate(x.shape, [&](auto &i) { return at(x, i) > 0 ? at(x, i) : at(x, i) * slopes.values[size_t(i[1])]; }));
}

} // namespace
