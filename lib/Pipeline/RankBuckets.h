// How gradients of a training step of several ranks should go together, and in which order those of calls of several
// steps, by what operations and collectives are expected to take.
// For whoever compiles such a step: the command line and the front-end. The choice changes no bit; all ranks have to
// make the same one, so the first one's is every rank's.
#pragma once
#include "dialects/Dist/Dist.h"
#include "lib/Machine/ExpectedLink.h"
#include "lib/Shard/StepsInACall.h"
#include "sprig/options.h"
#include <functional>
#include <optional>

namespace sprig {

/// Most bytes of a bucket where nothing hides it: what comes in one piece stays in caches.
inline constexpr int64_t kPlainBucket = int64_t(1) << 20;

struct BucketRequest {
  int ranks = 1;
  machine::ExpectedLink link;
  int64_t bytes = 0; ///< most of a bucket; 0: chosen
  int64_t stepsPerCall = 1;
  std::optional<int64_t> turn = {}; ///< of calls of several steps (nn.repeat_turn); nothing: chosen
  /// Where each rank compiles for itself: what was chosen here, to what all take.
  std::function<int64_t(int64_t bytes)> agreeOnBucket = {};
  std::function<int64_t(int64_t turn)> agreeOnTurn = {};
};

struct BucketChoice {
  StepsExpectation expected;
  int64_t bytes = 0;
  bool isChosen = false;            ///< bytes were not given
  std::optional<int64_t> turn = {}; ///< of calls of several steps
};

/// What passes are told of a link.
inline CompileOptions::Link linkOf(const machine::ExpectedLink &link) {
  using Beside = CompileOptions::Link::Beside;
  return {link.latency, link.bytesPerSecond, link.isApart ? Beside::wherePays : Beside::never};
}

/// Of a step with the collectives that the phase `shard` joins (divideForRanks); it stays as it is. `options`: of whose
/// machine.
BucketChoice chooseRankBuckets(mlir::func::FuncOp step, const BucketRequest &request, const CompileOptions &options);

} // namespace sprig
