// The table of docs/async.md: which calls wait for work in flight and which return before it is there. A long chain of
// products is in flight; whether its result was there when a call returned tells, not the clock.
#include "lib/Frontend/Engine/Engine.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/ops.h"
#include "sprig/timer.h"
#include <chrono>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <sstream>

using namespace sprig;

namespace {

/// About a tenth of a second of products of 0.5 times the unit matrix, whose result is known exactly.
class Slow {
public:
  static Slow &instance() {
    static Slow slow;
    return slow;
  }
  Tensor issue() const {
    Tensor x = start;
    for (int i = 0; i < length; ++i) x = matmul(x, factor);
    return x;
  }
  float expected() const { return std::ldexp(1.0f, -length); }

private:
  Slow() {
    factor = mul(eye(768), 0.5f);
    start = ones({768, 768});
    matmul(start, factor).wait();
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
      auto from = std::chrono::steady_clock::now();
      matmul(start, factor).wait();
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
    }
    length = std::clamp(int(std::ceil(0.1 / least)), 2, maxInFlight() - 8);
  }
  Tensor factor, start;
  int length;
};

/// What waits must have the result when it returns.
void expectWaits(const char *what, const std::function<void(const Tensor &)> &call) {
  synchronize();
  Tensor slow = Slow::instance().issue();
  call(slow);
  EXPECT_TRUE(slow.ready()) << what << " returned before the work was done";
}

/// What does not wait returns before. A machine that is busy elsewhere may keep this thread off its core for as long as
/// the product takes, so that there are several tries.
void expectReturnsAtOnce(const char *what, const std::function<void(const Tensor &)> &call) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    synchronize();
    Tensor slow = Slow::instance().issue();
    call(slow);
    if (!slow.ready()) return;
  }
  ADD_FAILURE() << what << " never returned before the work in flight was done";
}

} // namespace

TEST(Blocking, ReadingWaitsAndIsRight) {
  float expected = Slow::instance().expected();
  expectWaits("item", [&](const Tensor &x) { EXPECT_EQ(x[3][5].item<float>(), expected); });
  expectWaits("toVector", [&](const Tensor &x) { EXPECT_EQ(x.toVector<float>().back(), expected); });
  expectWaits("data", [&](const Tensor &x) { EXPECT_EQ(x.data<float>()[7], expected); });
  expectWaits("bytes", [&](const Tensor &x) { EXPECT_EQ(static_cast<const float *>(x.bytes())[9], expected); });
  expectWaits("text", [&](const Tensor &x) { EXPECT_FALSE(x.text().empty()); });
  expectWaits("operator<<", [&](const Tensor &x) {
    std::ostringstream out;
    out << x;
    EXPECT_EQ(out.str(), x.text());
  });
  expectWaits("wait", [](const Tensor &x) { x.wait(); });
}

TEST(Blocking, StopsWaitForEverything) {
  expectWaits("synchronize", [](const Tensor &) { synchronize(); });
  expectWaits("Timer::start", [](const Tensor &) { Timer timer; });
  expectWaits("Event::synchronize", [](const Tensor &) {
    Event event;
    event.record();
    event.synchronize();
  });
  Event before;
  before.record();
  expectWaits("Event::elapsed", [&](const Tensor &) {
    Event after;
    after.record();
    EXPECT_GT(before.elapsed(after), 0);
  });
}

TEST(Blocking, RecordingReturnsAtOnce) {
  Tensor other = full({768, 768}, 2.0);
  Parameter weight(full({768}, 1.0));
  auto compiled = compile([](const Tensor &x) { return x + 1; }, {.name = "add one"});
  compiled(other).wait();
  std::vector<float> host(1000, 1.0f);
  expectReturnsAtOnce("matmul", [&](const Tensor &x) { matmul(x, other); });
  expectReturnsAtOnce("+", [](const Tensor &x) { x + 1; });
  expectReturnsAtOnce("reshape and []", [](const Tensor &x) { x.reshape({-1})[2]; });
  expectReturnsAtOnce("a compiled function", [&](const Tensor &x) { compiled(x); });
  expectReturnsAtOnce("grad", [&](const Tensor &x) { grad(sum(x * weight), weight.value()); });
  expectReturnsAtOnce("Parameter::set", [&](const Tensor &x) { weight.set(sum(x, 0)); });
  expectReturnsAtOnce("Tensor::from", [&](const Tensor &) { Tensor::from(host, {1000}); });
  expectReturnsAtOnce("Event::record", [](const Tensor &) {
    Event event;
    event.record();
  });
}

TEST(Blocking, WhatIsKnownOfATensorReturnsAtOnce) {
  Tensor early = full({2, 2}, 3.0)[1][1];
  early.wait();
  expectReturnsAtOnce("shape", [](const Tensor &x) { EXPECT_EQ(x.shape(), Shape({768, 768})); });
  expectReturnsAtOnce("size", [](const Tensor &x) { EXPECT_EQ(x.size(-1), 768); });
  expectReturnsAtOnce("numel", [](const Tensor &x) { EXPECT_EQ(x.numel(), 768 * 768); });
  expectReturnsAtOnce("dtype", [](const Tensor &x) { EXPECT_EQ(x.dtype(), DType::f32); });
  expectReturnsAtOnce("rank", [](const Tensor &x) { EXPECT_EQ(x.rank(), 2); });
  expectReturnsAtOnce("ready", [](const Tensor &x) { (void)x.ready(); });
  expectReturnsAtOnce("item of an earlier value", [&](const Tensor &) { EXPECT_EQ(early.item<float>(), 3); });
}

TEST(Blocking, QueueHoldsNoMoreThanItsBound) {
  Tensor x = ones({64, 64});
  auto step = compile([](const Tensor &a) { return tanh(matmul(a, a)); }, {.name = "step"});
  step(x).wait();
  int before = maxInFlight(), most = 0;
  setMaxInFlight(3);
  for (int i = 0; i < 500; ++i) {
    step(x);
    most = std::max(most, frontend::Engine::instance().inFlight());
  }
  synchronize();
  setMaxInFlight(before);
  EXPECT_LE(most, 3);
  EXPECT_GE(most, 1);
}
