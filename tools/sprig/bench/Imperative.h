// What the experiments of the imperative mode share: clocks, rounds in turn, bits of results.
// For BenchAsync*.cpp and BenchHybridize*.cpp, which live in the half of the command line that has the compiler.
#pragma once
#include "sprig/function.h"
#include "sprig/ops.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/Timing.h"
#include <functional>

namespace sprig::cli {

/// The least seconds of each candidate. They run in turn, so that a slow moment of the machine hits all of them; a
/// candidate's work is over when it returns.
std::vector<double> leastSeconds(int rounds, const std::vector<std::function<void()>> &candidates);

/// Whether two tensors have the same type and the same bits. Waits for both.
bool sameBits(const Tensor &a, const Tensor &b);

// Parts of `sprig bench async`, one experiment each.
RunExperiment benchProducts, benchTimeline, benchBlocking, benchFlood, benchShares;

/// Three ways to run one computation: each operation by itself, as it is written (segments that come again are
/// compiled behind the scenes), and within compile().
struct ThreeWays {
  double opByOp = 0, imperative = 0, compiled = 0;     ///< least seconds of a call
  bool opByOpAgrees = false, imperativeAgrees = false; ///< with compiled, in all bits
};
/// `f` takes what it needs from around it and gives one tensor. `calls` are timed together, each read before the next.
ThreeWays timeThreeWays(const std::function<Tensor(const Tensor &)> &f, const Tensor &input, int calls, int rounds);

// Parts of `sprig bench hybridize`. `slower` is by which share compiled may take longer than operation by operation; 0:
// it must be quicker.
inline constexpr double kMayTakeLonger = 0.03; ///< of networks whose arithmetic takes nearly all of the time
void startThreeWays(ExperimentReport &report);
void addThreeWays(const std::string &name, const ThreeWays &times, double slower, ExperimentReport &report);
RunExperiment benchHybridModel;

} // namespace sprig::cli
