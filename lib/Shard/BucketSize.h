// How many bytes of gradients should go together: few messages wait seldom, early ones hide behind the backward pass.
// For whoever compiles a training step of several ranks. What is chosen depends on how fast a machine is taken to be,
// so one rank chooses for all.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sprig {

/// What an all-reduce of a group is expected to take.
struct CollectiveRate {
  double latency = 0;        ///< seconds of one of no bytes
  double bytesPerSecond = 0; ///< of its buffers
  double seconds(int64_t bytes) const { return latency + double(bytes) / bytesPerSecond; }
};

/// All-reduces of one size of buckets: what they are expected to take.
struct BucketExpectation {
  int64_t bytes = 0;     ///< most of a bucket
  int64_t count = 0;     ///< of buckets
  int64_t total = 0;     ///< bytes of all of them
  double collective = 0; ///< seconds that the lane for them is busy
  double exposed = 0;    ///< seconds behind the last operation that none of them is waited for
};

/// What the late all-reduces of a step (Buckets.h) are expected to take in buckets of so many bytes. `seconds` says
/// what an operation of so many flops and bytes takes.
using OperationSeconds = llvm::function_ref<double(double flops, double bytes)>;
BucketExpectation expectBuckets(mlir::func::FuncOp step, int64_t bytes, const CollectiveRate &rate,
                                OperationSeconds seconds);

/// The best of the powers of two from 64 KiB on, and one bucket of all; of those that are within a hundredth of each
/// other the largest.
BucketExpectation chooseBuckets(mlir::func::FuncOp step, const CollectiveRate &rate, OperationSeconds seconds);

} // namespace sprig
