// How many bytes of gradients should go together: few messages wait seldom, early ones hide behind the backward pass.
// For whoever compiles a training step of several ranks. What is chosen depends on how fast a machine is taken to be,
// so one rank chooses for all.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/collective/Collective.h"
#include <algorithm>

namespace sprig {

/// What a collective is expected to take whose wholes have so many bytes, and an operation of so many flops and bytes.
using CollectiveSeconds = llvm::function_ref<double(rt::collective::Kind kind, int64_t bytes)>;
using OperationSeconds = llvm::function_ref<double(double flops, double bytes)>;

/// Late collectives in one size of buckets: what they are expected to take.
struct BucketExpectation {
  int64_t bytes = 0;                 ///< most of a bucket
  int64_t sums = 0, summed = 0;      ///< buckets of sums, and the bytes of all of them
  int64_t gathers = 0, gathered = 0; ///< buckets of gathers
  bool isInHalves = false;           ///< some are reduce-scatters or all-gathers
  double collective = 0;             ///< seconds that the lane for them is busy
  double exposed = 0;                ///< seconds that others wait for them: prompt collectives, and the step's end

  int64_t largest() const { return std::max(summed, gathered); }
};

/// What the late collectives of a step (Buckets.h) are expected to take in buckets of so many bytes. Those that need
/// others' results go behind the last operation that waits for none.
BucketExpectation expectBuckets(mlir::func::FuncOp step, int64_t bytes, CollectiveSeconds collective,
                                OperationSeconds operation);

/// The best of the powers of two from 64 KiB on, and one bucket of all; of those that are within a hundredth of each
/// other the largest.
BucketExpectation chooseBuckets(mlir::func::FuncOp step, CollectiveSeconds collective, OperationSeconds operation);

} // namespace sprig
