// Methods of tensors are the functions of the same names: same results, same defaults. And what tensors are made of and
// how they print.
#include "sprig/ops.h"
#include "test/unit/Frontend/Expect.h"
#include <cmath>
#include <sstream>

using namespace sprig;

namespace {

Tensor sample() { return linspace(-2, 3, 12).reshape({3, 4}); }

TEST(Methods, OfElements) {
  Tensor x = sample(), positive = x.abs() + 0.5;
#define SAME(name) expectSameBits(x.name(), name(x))
  SAME(abs);
  SAME(neg);
  SAME(sign);
  SAME(square);
  SAME(floor);
  SAME(ceil);
  SAME(round);
  SAME(exp);
  SAME(expm1);
  SAME(sin);
  SAME(cos);
  SAME(tanh);
  SAME(erf);
  SAME(relu);
  SAME(sigmoid);
  SAME(silu);
  SAME(gelu);
  SAME(isNan);
  SAME(isInf);
  SAME(isFinite);
#undef SAME
  expectSameBits(positive.log(), log(positive));
  expectSameBits(positive.log1p(), log1p(positive));
  expectSameBits(positive.sqrt(), sqrt(positive));
  expectSameBits(positive.rsqrt(), rsqrt(positive));
  expectSameBits(positive.reciprocal(), reciprocal(positive));
  expectSameBits(x.to(DType::i32), cast(x, DType::i32));
}

TEST(Methods, OfTwoOperands) {
  Tensor x = sample(), y = x.flip(0) + 1;
#define SAME(name)                                                                                                     \
  expectSameBits(x.name(y), name(x, y));                                                                               \
  expectSameBits(x.name(2), name(x, 2))
  SAME(add);
  SAME(sub);
  SAME(mul);
  SAME(div);
  SAME(pow);
  SAME(maximum);
  SAME(minimum);
  SAME(eq);
  SAME(ne);
  SAME(lt);
  SAME(le);
  SAME(gt);
  SAME(ge);
  SAME(clampMin);
  SAME(clampMax);
#undef SAME
  expectSameBits(x.clamp(-1, 1), clamp(x, -1, 1));
  expectSameBits(x.maskedFill(x.gt(0), 7), maskedFill(x, x > 0, 7));
  expectSameBits(x.matmul(y.t()), matmul(x, transpose(y)));
  expectSameBits(x.mm(y.T()), mm(x, transpose(y)));
  expectSameBits(x.unsqueeze(0).bmm(y.t().unsqueeze(0)), matmul(x, y.t()).unsqueeze(0));
  expectSameBits(x.mv(y[0]), mv(x, y[0]));
  expectSameBits(x[0].dot(y[0]), dot(x[0], y[0]));
}

TEST(Methods, OfAxes) {
  Tensor x = sample();
#define SAME(name)                                                                                                     \
  expectSameBits(x.name(), name(x));                                                                                   \
  expectSameBits(x.name(1, true), name(x, 1, true))
  SAME(sum);
  SAME(mean);
  SAME(prod);
  SAME(max);
  SAME(min);
  SAME(any);
  SAME(all);
  SAME(logsumexp);
  SAME(argmax);
  SAME(argmin);
#undef SAME
  expectSameBits(x.var(0), var(x, 0));
  expectSameBits(x.stdDev({0, 1}, 0), stdDev(x, {0, 1}, 0));
  expectSameBits(x.norm(), norm(x));
  expectSameBits(x.softmax(-1), softmax(x, -1));
  expectSameBits(x.logSoftmax(0), logSoftmax(x, 0));
  expectSameBits(x.cumsum(1), cumsum(x, 1));
  expectSameBits(x.cumprod(1), cumprod(x, 1));
  expectSameBits(x.topk(2).indices, topk(x, 2).indices);
  expectSameBits(x.sort(0, true).values, sort(x, 0, true).values);
  expectSameBits(x.argsort(), argsort(x));
}

TEST(Methods, OfShapes) {
  Tensor x = sample(), i = Tensor({2, 0}).to(DType::i64);
  expectSameBits(x.view({2, -1}), reshape(x, {2, 6}));
  expectSameBits(x.flatten(), reshape(x, {12}));
  expectSameBits(x.unflatten(1, {2, 2}), unflatten(x, 1, {2, 2}));
  expectSameBits(x.t(), transpose(x, 0, 1));
  expectSameBits(x[0].t(), x[0]);
  expectSameBits(x.permute({1, 0}), permute(x, {1, 0}));
  expectSameBits(x.movedim(0, 1), movedim(x, 0, 1));
  expectSameBits(x.unsqueeze(1).squeeze(), x);
  expectSameBits(x.unsqueeze(1).squeeze(1), x);
  expectSameBits(x.unsqueeze(0).expand({2, -1, -1}), expand(unsqueeze(x, 0), {2, 3, 4}));
  expectSameBits(x.repeat({2, 1}), tile(x, {2, 1}));
  expectSameBits(x.repeatInterleave(2, 0), repeatInterleave(x, 2, 0));
  expectSameBits(x.split(2, 1)[1], split(x, 2, 1)[1]);
  expectSameBits(x.split({1, 3}, 1)[1], split(x, {1, 3}, 1)[1]);
  expectSameBits(x.chunk(2)[0], chunk(x, 2)[0]);
  expectSameBits(x.unbind(1)[3], unbind(x, 1)[3]);
  expectSameBits(x.slice(1, 1, 3), slice(x, 1, 1, 3));
  expectSameBits(x.narrow(1, 1, 2), narrow(x, 1, 1, 2));
  expectSameBits(x.select(1, 2), select(x, 1, 2));
  expectSameBits(x.indexSelect(0, i), indexSelect(x, 0, i));
  expectSameBits(x.gather(0, i.unsqueeze(1)), gather(x, 0, i.unsqueeze(1)));
  expectSameBits(x.scatterAdd(0, i.unsqueeze(1), ones({2, 1})), scatterAdd(x, 0, i.unsqueeze(1), ones({2, 1})));
  expectSameBits(x.flip({0, 1}), flip(x, {0, 1}));
  expectSameBits(x.roll(1, 0), roll(x, 1, 0));
  expectSameBits(x.tril(), tril(x));
  expectSameBits(x.triu(1), triu(x, 1));
  expectSameBits(x.clone(), x);
  expectSameBits(x.contiguous(), x);
}

TEST(Tensors, OfVectors) {
  Tensor x(std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(describe(x.type()), "4xf32");
  EXPECT_EQ(Tensor(std::vector<double>{1, 2, 3, 4}, {2, 2}).text(), "[[1, 2],\n [3, 4]]");
  EXPECT_EQ(describe(Tensor(std::vector<int>{1, 2}).type()), "2xi32");
  EXPECT_EQ(describe(Tensor(std::vector<long long>{1, 2}).type()), "2xi64");
  EXPECT_EQ(describe(Tensor(5ull).type()), "u64");
  EXPECT_EQ(Tensor(std::vector<bool>{true, false, true}).text(), "[true, false, true]");
  EXPECT_EQ(Tensor::from(std::vector<bool>{true, false}, {2, 1}).shape(), Shape({2, 1}));
  EXPECT_EQ(describe(Tensor(std::vector<float>{}).type()), "0xf32");
}

TEST(Tensors, Printing) {
  std::ostringstream out;
  Tensor x({1.f, 2.5f});
  out << x << ' ' << x.shape() << ' ' << x.dtype() << ' ' << x.type() << ' ' << Ints({1, 2}) << ' ' << Shape() << ' '
      << Parameter(x) << ' ' << DType::boolean;
  EXPECT_EQ((Tensor({0.f, -0.f}) / 0).text(), "[nan, nan]");
  EXPECT_EQ(out.str(), "[1, 2.5] [2] f32 2xf32 [1, 2] [] [1, 2.5] i1");
}

// As PyTorch's and NumPy's: ceil((end - begin) / step) numbers.
TEST(Ranges, OfRealNumbers) {
  Tensor tenths = arange(0, 1, 0.1);
  ASSERT_EQ(describe(tenths.type()), "10xf32");
  std::vector<double> exact = arange(0, 1, 0.1, DType::f64).toVector<double>();
  std::vector<float> rounded = tenths.toVector<float>();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(exact[size_t(i)], 0 + i * 0.1);
    EXPECT_EQ(rounded[size_t(i)], float(i * 0.1));
  }
  // 0.3 / 0.1 is a little less than 3, (1.3 - 1) / 0.1 a little more.
  EXPECT_EQ(arange(0, 0.3, 0.1).numel(), 3);
  EXPECT_EQ(arange(1, 1.3, 0.1).numel(), 4);
  EXPECT_EQ(arange(1, 1.3, 0.1, DType::f64).toVector<double>()[3], 1 + 3 * 0.1);
  EXPECT_EQ(arange(1, 0, -0.25).text(), "[1, 0.75, 0.5, 0.25]");
  EXPECT_EQ(describe(arange(2.5).type()), "3xf32");
  EXPECT_EQ(describe(arange(1.0, 1.0).type()), "0xf32");
  EXPECT_EQ(describe(arange(0.f, 2).type()), "2xf32");
  EXPECT_EQ(describe(arange(0, 1, 0.5, DType::i32).type()), "2xi32");
}

TEST(Ranges, OfIntegers) {
  EXPECT_EQ(arange(2, 8, 3).text(), "[2, 5]");
  EXPECT_EQ(arange(2, 9, 3).text(), "[2, 5, 8]");
  EXPECT_EQ(arange(5, 0, -2).text(), "[5, 3, 1]");
  EXPECT_EQ(describe(arange(size_t(3)).type()), "3xi64");
  EXPECT_EQ(describe(arange(3, DType::f32).type()), "3xf32");
  EXPECT_EQ(describe(arange(1, 3, DType::i32).type()), "2xi32");
  EXPECT_EQ(describe(arange(4, 4, -1).type()), "0xi64");
  int64_t most = INT64_MAX;
  EXPECT_EQ(arange(most - 2, most).toVector<int64_t>(), (std::vector<int64_t>{most - 2, most - 1}));
}

TEST(Ranges, Linspace) {
  std::vector<double> x = linspace(0, 1, 11, DType::f64).toVector<double>();
  ASSERT_EQ(x.size(), 11u);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[3], 3 * 0.1);
  EXPECT_EQ(x[10], 1);
  EXPECT_EQ(linspace(3, -3, 3).text(), "[3, 0, -3]");
  EXPECT_EQ(linspace(2, 9, 1).text(), "[2]");
  EXPECT_EQ(describe(linspace(2, 9, 0).type()), "0xf32");
  EXPECT_EQ(linspace(0, 0.7, 5).toVector<float>()[4], 0.7f);
}

} // namespace
