// DetectNonFinite names the operation that makes a NaN or an infinity, and its line: planted faults, one a row.
#include "sprig/debug.h"
#include "sprig/sprig.h"
#include "test/unit/Frontend/Lines.h"
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <limits>

using namespace sprig;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A fault stands on the row's line. `text` follows the line in the error: "log gives -infinity".
struct Fault {
  int line;
  const char *text;
  std::function<void()> run;
  const char *from = ""; ///< what else the error says
};

std::string messageOf(const std::function<void()> &run) {
  try {
    DetectNonFinite detect;
    run();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::runtime) << error.what();
    return error.what();
  }
  return "";
}

void expectFound(const std::vector<Fault> &faults, Source here = Source::here()) {
  for (const Fault &fault : faults) {
    std::string place = placeOf(fault.line, here) + fault.text, message = messageOf(fault.run);
    EXPECT_THAT(message, HasSubstr(place));
    EXPECT_LT(message.find(place), message.find(" gives ")) << message;
    EXPECT_THAT(message, HasSubstr(fault.from));
  }
}

Parameter parameterOf(const Tensor &value, const char *name = "w") {
  Parameter parameter(value);
  parameter.setName(name);
  return parameter;
}

void differentiate(const Tensor &loss, const Tensor &wrt) { (void)grad(sum(loss), wrt); }

TEST(NonFinite, ForwardFaultsThatAreRead) {
  Tensor zero({0.f, 1.f}), minus({-1.f, 4.f}), large({1e20f, 200.f}), two({2.f, 2.f}), one({1.f, 1.f});
  expectFound({
      {__LINE__, "log gives -infinity in 2xf32", [&] { sum(log(zero)).item<float>(); }},
      {__LINE__, "log gives NaN in 2xf32", [&] { log(minus).toVector<float>(); }},
      {__LINE__, "sqrt gives NaN", [&] { mean(sqrt(minus) * two).item<float>(); }},
      {__LINE__, "div gives NaN", [&] { sum(zero / zero).item<float>(); }},
      {__LINE__, "exp gives infinity", [&] { mean(exp(large)).item<float>(); }},
      {__LINE__, "mul gives infinity", [&] { sum(large * large).item<float>(); }},
      {__LINE__, "div gives infinity", [&] { sum(one / zero).item<float>(); }},
      {__LINE__, "pow gives NaN", [&] { sum(pow(minus, 0.5)).item<float>(); }},
      {__LINE__, "pow gives infinity", [&] { sum(pow(large, two)).item<float>(); }},
      {__LINE__, "reciprocal gives infinity", [&] { sum(reciprocal(zero)).item<float>(); }},
      {__LINE__, "asin gives NaN", [&] { sum(asin(two)).item<float>(); }},
      {__LINE__, "rsqrt gives infinity", [&] { sum(rsqrt(zero)).item<float>(); }},
      {__LINE__, "atanh gives infinity", [&] { sum(atanh(one)).item<float>(); }},
      {__LINE__, "matmul gives infinity", [&] { matmul(large.reshape({1, 2}), large.reshape({2, 1})).item<float>(); }},
      {__LINE__, "cast gives infinity", [&] { sum(cast(large, DType::f16)).item<float>(); }},
      {__LINE__, "log gives -infinity", [&] { (-sum(log(zero))).item<float>(); }}, // its sign changes on the way
  });
}

// The operation that makes a NaN of an infinity is named with the one that made the infinity.
TEST(NonFinite, NaNsThatInfinitiesLeadTo) {
  Tensor zero({0.f, 1.f}), large({1e20f, 200.f});
  const int kSquare = __LINE__ + 1, kVanish = kSquare + 1;
  auto square = [&] { return large * large; };
  auto vanish = [](Tensor x) { return x - x; };
  std::string from = "from the infinity that " __FILE__ ":" + std::to_string(kSquare) + ": mul gives in 2xf32";
  expectFound({
      {kVanish, "sub gives NaN", [&] { sum(vanish(square())).item<float>(); }, from.c_str()},
      {__LINE__, "mul gives NaN", [&] { sum(square() * 0.f).item<float>(); }, from.c_str()},
      {__LINE__, "mul gives NaN", [&] { sum(zero * log(zero)).item<float>(); }, "the -infinity that"},
      {__LINE__, "div gives NaN", [&] { sum(exp(large) / exp(large)).item<float>(); }, "the infinity that"},
      {__LINE__, "matmul gives NaN", [&] { matmul(square().reshape({1, 2}), zero.reshape({2, 1})).item<float>(); },
       from.c_str()},
  });
}

TEST(NonFinite, BackwardFaultsNameTheForwardLine) {
  Tensor zero = Tensor({0.f, 4.f}), small = Tensor({1e-30f, 1.f}), one = Tensor({1.f, 1.f});
  auto x = [](const Tensor &value) { return value.requireGrad(); };
  Tensor a = x(zero), b = x(small), c = x(one);
  Parameter w = parameterOf(zero);
  expectFound({
      {__LINE__, "sqrt: div in its gradient gives infinity", [&] { differentiate(sqrt(a), a); },
       "found in the gradient of"},
      // The norm of zeros.
      {__LINE__, "mul: mul in its gradient gives NaN", [&] { differentiate(sqrt(sum(a * a * 0.f)), a); },
       "sqrt: div in its gradient gives in f32"},
      {__LINE__, "pow: ", [&] { differentiate(pow(a, 0.5), a); }},
      {__LINE__, "log: ", [&] { differentiate(where(a > 0.f, log(a), a), a); }}, // the classic of masked logarithms
      {__LINE__, "reciprocal: ", [&] { differentiate(reciprocal(b) * 1e-30f, b); }},
      {__LINE__, "asin: ", [&] { differentiate(asin(c), c); }},
      {__LINE__, "div: ", [&] { differentiate(c / b, b); }},
      {__LINE__, "acos: ", [&] { differentiate(acos(c), c); }},
      {__LINE__, "sqrt: ", [&] { sum(sqrt(w)).backward(); }, "found in the gradient of parameter 'w'"},
  });
}

TEST(NonFinite, UpdatesThatAreNotFinite) {
  Tensor zero({0.f, 1.f});
  auto step = [&](const auto &makeOptimizer, const Tensor &gradient) {
    Parameter w = parameterOf(zero);
    makeOptimizer(w).update({gradient});
  };
  Tensor large({1e30f, 1.f});
  for (auto [run, found] : std::vector<std::pair<std::function<void()>, std::string>>{
           {[&] { step([](Parameter w) { return optim::sgd({w}, {.lr = 1e39}); }, zero); }, "parameter 'w'"},
           {[&] { step([](Parameter w) { return optim::sgd({w}, {.lr = 1e20}); }, large); }, "parameter 'w'"},
           {[&] { step([](Parameter w) { return optim::adam({w}, {.eps = 0}); }, zero); }, "parameter 'w'"},
           {[&] { step([](Parameter w) { return optim::adam({w}); }, large); }, "optimizer/exp_avg_sq/w"},
           {[&] { step([](Parameter w) { return optim::sgd({w}, {.lr = 1, .weightDecay = 1e39}); }, zero); },
            "parameter 'w'"},
       }) {
    std::string message = messageOf(run);
    EXPECT_THAT(message, HasSubstr("(layer 'optimizer')"));
    EXPECT_THAT(message, HasSubstr("found in the next value of"));
    EXPECT_THAT(message, HasSubstr(found));
  }
  // The value that is there stays.
  Parameter w = parameterOf(zero);
  EXPECT_NE(messageOf([&] { w.set(log(w) * 1.f); }), "");
  EXPECT_EQ(w.value().toVector<float>(), (std::vector<float>{0, 1}));
}

TEST(NonFinite, RegionsAndCompiledFunctions) {
  Tensor falling({2.f, 1.f, 0.f, -1.f}), zero({0.f, 1.f}), start(1.f);
  Tensor xs = falling.requireGrad();
  const int kFirst = __LINE__ + 1;
  auto logs = [](Tensor h, Tensor x) { return std::pair(h + log(x), h); };
  auto roots = [](Tensor h, Tensor x) { return std::pair(h, h * sqrt(x)); };
  auto masked = [](Tensor h, Tensor x) { return std::pair(h + where(x > 0.f, log(x), x), h); };
  auto slope = [](Tensor x) { return grad(sum(sqrt(x)), x); };
  auto grow = [](Tensor x) { return exp(x); };
  auto shrink = [&] { return log(-start); };
  auto logOf = compile([](Tensor x) { return sum(log(x)); });
  auto slopeOf = compile([&](Tensor x) { return slope(x.requireGrad()); });
  expectFound({
      {kFirst, "log gives ", [&] { scan(logs, start, falling).first.item<float>(); }},
      {kFirst + 1, "sqrt gives NaN", [&] { sum(scan(roots, start, falling).second).item<float>(); }},
      {kFirst + 2, "log: ", [&] { differentiate(scan(masked, start, xs).first, xs); }},
      {kFirst + 3, "sqrt: ", [&] { slopeOf(zero); }},
      {kFirst + 4, "exp gives infinity",
       [&] { whileLoop([](Tensor x) { return x < 1e30f; }, grow, start).item<float>(); }},
      {kFirst + 5, "log gives NaN", [&] { cond(start > 0.f, shrink, [&] { return start; }).item<float>(); }},
      {kFirst + 6, "log gives -infinity", [&] { logOf(zero).item<float>(); }},
      {__LINE__, "log gives -infinity", [&] { sum(checkpoint([](Tensor x) { return log(x); })(zero)).item<float>(); }},
  });
}

struct Network : nn::Module {
  nn::Sequential head = add("head", nn::Sequential(nn::Linear(2, 2), nn::ReLU()));
  Tensor operator()(const Operand &x) const { return head(x); }
};

TEST(NonFinite, NamesLayersAndSources) {
  Network net;
  for (auto &[name, parameter] : net.namedParameters()) parameter.set(full(parameter.shape(), 1e38f));
  EXPECT_THAT(
      messageOf([&] { sum(net(Tensor({{10.f, 2.f}}))).backward(); }),
      HasSubstr("linear (layer 'head.0') gives infinity in 1x2xf32; found in the value that is differentiated"));
  // What holds such numbers from the start is named where it is the source.
  Parameter bad = parameterOf(Tensor({1.f, NAN}), "bad");
  EXPECT_THAT(messageOf([&] { sum(bad * 2.f).backward(); }), StartsWith("parameter 'bad' holds NaN in 2xf32"));
  Tensor data({1.f, kInfinity});
  Parameter w = parameterOf(Tensor({1.f, 1.f}));
  EXPECT_THAT(messageOf([&] { sum(w * data).backward(); }), StartsWith("a tensor of the program holds infinity"));
}

// Masks of minus infinity that softmax makes zeros of are no fault, and are not blamed beside one.
TEST(NonFinite, MasksAreHarmless) {
  Tensor mask({{0.f, -kInfinity}, {0.f, 0.f}}), scores({{1.f, 2.f}, {3.f, 4.f}});
  Parameter w = parameterOf(scores);
  EXPECT_EQ(messageOf([&] {
              Tensor p = softmax(w + mask, 1);
              sum(p * p).backward();
              optim::adam({w}).update({w.grad()});
              p.toVector<float>();
              (w + mask).toVector<float>();
              Parameter kept(mask);
              kept.set(full({2, 2}, -kInfinity));
            }),
            "");
  Tensor large({{1e20f, 1.f}, {1.f, 1.f}}), zero({{0.f, 1.f}, {1.f, 1.f}}), shut = full({2, 2}, -kInfinity);
  Tensor p = softmax(scores + mask, 1);
  expectFound({
      {__LINE__, "log gives -infinity", [&] { sum(log(zero) + softmax(scores + mask, 1)).item<float>(); }},
      {__LINE__, "mul gives NaN", [&] { sum(p * log(p)).item<float>(); }, "log gives"},
      {__LINE__, "softmax gives NaN", [&] { sum(softmax(large * large + mask, 1)).item<float>(); }, "mul gives in"},
      {__LINE__, "softmax gives NaN", [&] { sum(softmax(scores + shut, 1)).item<float>(); }, "holds in"},
      {__LINE__, "sqrt gives NaN", [&] { sum(softmax(sqrt(-scores) + mask, 1)).item<float>(); }},
  });
  EXPECT_THAT(messageOf([&] { sum(softmax(large * large + mask, 1)).item<float>(); }), Not(HasSubstr("holds")));
}

// The scope changes no bit, ends with its block, and is of its thread.
TEST(NonFinite, KeepsBits) {
  Tensor x({{0.1f, -2.f}, {3.f, 0.7f}});
  auto step = compile([](Tensor x) {
    Tensor r = x.requireGrad();
    return grad(sum(tanh(matmul(r, r)) * exp(r)), r);
  });
  auto bitsOf = [&] { return step(x).toVector<float>(); };
  std::vector<float> compiled = bitsOf(), watched;
  {
    DetectNonFinite detect;
    EXPECT_FALSE(compilationIsOn());
    watched = bitsOf();
  }
  EXPECT_TRUE(compilationIsOn());
  EXPECT_EQ(std::memcmp(compiled.data(), watched.data(), compiled.size() * sizeof(float)), 0);
  EXPECT_TRUE(std::isinf(sum(log(Tensor({0.f}))).item<float>()));
}

} // namespace
