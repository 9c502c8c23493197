// Branches and loops on values: the same results imperatively, compiled and step by step in C++; both branches.
#include "sprig/control.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/ops.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace sprig;

namespace {

TEST(Control, CondTakesEitherBranch) {
  auto f = [](Tensor x) { return cond(sum(x) > 0, [&] { return exp(x) * 2; }, [&] { return x - 1; }); };
  auto compiled = compile(f);
  Tensor up({1.f, 2.f, -0.5f}), down({-1.f, -2.f, 0.5f});
  expectSameBits(f(up), exp(up) * 2);
  expectSameBits(f(down), down - 1);
  expectSameBits(compiled(up), exp(up) * 2);
  expectSameBits(compiled(down), down - 1);
  EXPECT_EQ(compiled.recordings().size(), 1u);
}

TEST(Control, CondHasTheGradientOfTheBranchThatWasTaken) {
  auto f = [](Tensor x) { return cond(sum(x) > 0, [&] { return sum(x * x); }, [&] { return sum(exp(x)); }); };
  Tensor up({1.f, 2.f}), down({-1.f, -2.f});
  expectSameBits(grad(f)(up), up * 2);
  expectSameBits(grad(f)(down), exp(down));
  expectSameBits(compile(grad(f))(up), up * 2);
}

TEST(Control, WhileLoopRunsAsLongAsItsConditionHolds) {
  auto f = [](Tensor x, Tensor limit) {
    return whileLoop([&](Tensor v) { return sum(v) < limit; }, [](Tensor v) { return v * 2; }, x);
  };
  Tensor x({1.f, 0.5f});
  for (float limit : {1.f, 10.f, 1000.f}) {
    Tensor expected = x;
    while (sum(expected).item<float>() < limit) expected = expected * 2;
    expectSameBits(f(x, Tensor(limit)), expected);
    expectSameBits(compile(f)(x, Tensor(limit)), expected);
  }
  auto [v, n] = whileLoop([](Tensor a, Tensor) { return sum(a) < 1e9; },
                          [](Tensor a, Tensor k) { return std::pair(a + 1, k + 1); },
                          std::pair(Tensor({0.f}), Tensor(int64_t(0))), {.maxSteps = 7});
  EXPECT_EQ(n.item<int64_t>(), 7);
  EXPECT_EQ(v.item<float>(), 7.f);
}

TEST(Control, ScanEqualsALoop) {
  Parameter w(Tensor({{0.5f, -0.25f}, {0.125f, 0.75f}}));
  Tensor xs({{1.f, 2.f}, {-1.f, 0.5f}, {0.25f, -2.f}}), h0 = zeros({1, 2});
  auto step = [&](Tensor h, Tensor x) {
    Tensor next = tanh(unsqueeze(x, 0) + matmul(h, w));
    return std::pair(next, next);
  };
  auto whole = [&] { return scan(step, h0, xs); };
  Tensor h = h0;
  for (int t = 0; t < 3; ++t) h = step(h, xs[t]).first;
  auto [last, all] = whole();
  expectSameBits(last, h);
  EXPECT_EQ(all.shape(), (Shape{3, 1, 2}));
  expectSameBits(reshape(all[2], {1, 2}), h);
  // Gradients: of a scan are a scan, of the loop those of its steps; sums may be in another order.
  std::vector<float> a = grad(sum(last), std::vector{w})[0].toVector<float>();
  std::vector<float> b = grad(sum(h), std::vector{w})[0].toVector<float>();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6f);
  auto compiled = compile([&] { return scan(step, h0, xs).first; });
  expectSameBits(compiled(), h);
}

TEST(Control, AScanWithoutSlicesCarriesWhatItGot) {
  Parameter w(Tensor({2.f, 3.f}));
  auto f = [&](Tensor h, Tensor xs) {
    return scan([&](Tensor h, Tensor x) { return std::pair(h * w + x, unsqueeze(h, 1)); }, h, xs);
  };
  Tensor h0({0.5f, -1.f}), none = zeros({0, 2});
  auto [last, all] = f(h0, none);
  expectSameBits(last, h0);
  EXPECT_EQ(all.shape(), (Shape{0, 2, 1}));
  expectSameBits(compile([&](Tensor h, Tensor xs) { return f(h, xs).first; })(h0, none), h0);
  EXPECT_EQ(grad(sum(last * w), std::vector{w})[0].toVector<float>(), (std::vector{0.5f, -1.f}));
}

TEST(Control, ValuesAreUsedBeforeWithinAndBehindRegions) {
  Parameter w(Tensor({0.5f, -0.25f}));
  Tensor xs({{1.f, 2.f}, {-1.f, 0.5f}}), outside({3.f, 4.f});
  auto inner = [&](Tensor h) {
    Tensor first = h * w + outside;
    Tensor second = cond(sum(h) > 0, [&] { return h * w * outside; }, [&] { return first - h; });
    return second + h * w + outside;
  };
  auto f = [&](Tensor h0) {
    Tensor before = w * h0;
    auto [last, all] = scan(
        [&](Tensor h, Tensor x) {
          Tensor next = inner(h) * 0.25 + x;
          return std::pair(next, next);
        },
        h0, xs);
    return last + w * before + h0;
  };
  Tensor h0({0.25f, 0.5f}), h = h0;
  for (int t = 0; t < 2; ++t) {
    Tensor first = h * w + outside;
    Tensor second = sum(h).item<float>() > 0 ? h * w * outside : first - h;
    h = (second + h * w + outside) * 0.25 + xs[t];
  }
  Tensor expected = h + w * (w * h0) + h0;
  expectSameBits(f(h0), expected);
  expectSameBits(compile(f)(h0), expected);
}

TEST(Control, ErrorsNameTheLineAndBothFacts) {
  Tensor x({1.f, 2.f});
  int line = __LINE__ + 1;
  std::string text = errorOf([&] { cond(sum(x) > 0, [&] { return x; }, [&] { return sum(x); }); });
  EXPECT_NE(text.find("ControlTest.cpp:" + std::to_string(line)), std::string::npos) << text;
  EXPECT_NE(text.find("gives f32 at place 0, the first 2xf32"), std::string::npos) << text;
  EXPECT_NE(errorOf([&] { cond(x > 0, [&] { return x; }, [&] { return x; }); }).find("2xi1, expected a boolean scalar"),
            std::string::npos);
  EXPECT_NE(errorOf([&] {
              whileLoop([](Tensor v) { return sum(v) < 1; }, [](Tensor v) { return sum(v); }, x);
            }).find("the body gives f32 at place 0, the loop carries 2xf32"),
            std::string::npos);
  Parameter w(x);
  EXPECT_NE(errorOf([&] {
              cond(sum(x) > 0, [&] { return w.set(x * 2), x; }, [&] { return x; });
            }).find("state is set outside of regions"),
            std::string::npos);
  // No number of steps is known, so there is no reverse mode.
  EXPECT_NE(errorOf([&] {
              grad([](Tensor v) {
                return sum(whileLoop([](Tensor u) { return sum(u) < 9; }, [](Tensor u) { return u * 2; }, v));
              })(x)
                  .wait();
            }).find("scan"),
            std::string::npos);
}

} // namespace
