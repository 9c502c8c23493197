#include "tools/sprig/bench/Imperative.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "sprig/grad.h"
#include <algorithm>

namespace sprig::cli {

std::vector<double> leastSeconds(int rounds, const std::vector<std::function<void()>> &candidates) {
  std::vector<double> least(candidates.size(), 1e300);
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < candidates.size(); ++i) {
      auto start = Clock::now();
      candidates[i]();
      least[i] = std::min(least[i], secondsSince(start));
    }
  return least;
}

bool sameBits(const Tensor &a, const Tensor &b) {
  return a.type() == b.type() && std::memcmp(a.bytes(), b.bytes(), size_t(a.type().bytes())) == 0;
}

ThreeWays timeThreeWays(const std::function<Tensor(const Tensor &)> &f, const Tensor &input, int calls, int rounds) {
  NoGrad inference;
  auto &segments = frontend::PlanCache::instance();
  auto compiled = compile(f, {.name = "model"});
  Tensor byHand, alone, whole;
  // Each result is read before the next call: what nobody reads need not be computed, and segments are the same each
  // time.
  auto repeat = [&](const auto &function, Tensor &result) {
    return [&, calls] {
      for (int i = 0; i < calls; ++i) {
        result = function(input);
        result.wait();
      }
    };
  };
  auto opByOp = [&, run = repeat(f, alone)] {
    segments.enable(false);
    run();
    segments.enable(true);
  };
  auto imperative = repeat(f, byHand);
  auto inOne = repeat(compiled, whole);
  // Warm up: kernels are compiled at the first call, segments after the second.
  constexpr int kWarmUp = 10;
  synchronize();
  segments.enable(false);
  alone = f(input);
  synchronize();
  segments.enable(true);
  for (int i = 0; i < kWarmUp; ++i) {
    byHand = f(input);
    synchronize();
    whole = compiled(input);
    synchronize();
  }
  imperative();
  segments.wait();
  std::vector<double> least = leastSeconds(rounds, {opByOp, imperative, inOne});
  ThreeWays times;
  times.opByOp = least[0] / calls;
  times.imperative = least[1] / calls;
  times.compiled = least[2] / calls;
  times.opByOpAgrees = sameBits(alone, whole);
  times.imperativeAgrees = sameBits(byHand, whole);
  return times;
}

} // namespace sprig::cli
