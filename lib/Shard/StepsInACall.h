// How gradients of several steps in one call should go together, and in which order: what the next step reads first is
// made last.
// For whoever compiles such calls (lib/Schedule/RepeatPrograms.cpp). What is chosen depends on how fast a machine is
// taken to be, so one rank chooses for all.
#pragma once
#include "lib/Shard/BucketSize.h"

namespace sprig {

/// Late collectives of a step (Buckets.h) in buckets of one size, of a call of several steps.
struct StepsExpectation {
  BucketExpectation step; ///< of one; exposed is the mean of the steps
  int64_t turn = 0;       ///< so many of a step's sums go as they come, the rest in the reverse order
};

/// With buckets of at most so many bytes, the best turn for calls of so many steps.
StepsExpectation expectSteps(mlir::func::FuncOp step, int64_t bytes, int64_t times, CollectiveSeconds collective,
                             OperationSeconds operation);

/// The best of the powers of two from 64 KiB on, and one bucket of all; of those that are within a hundredth of each
/// other the largest.
StepsExpectation chooseForSteps(mlir::func::FuncOp step, int64_t times, CollectiveSeconds collective,
                                OperationSeconds operation);

/// With this turn.
StepsExpectation expectSteps(mlir::func::FuncOp step, int64_t bytes, int64_t times, int64_t turn,
                             CollectiveSeconds collective, OperationSeconds operation);

} // namespace sprig
