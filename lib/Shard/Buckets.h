// Which collectives of a block go together, and in which order: decided once, for the pass that does it and for who
// says before what it will take. Nothing is changed here. All ranks decide alike.
#pragma once
#include "dialects/Dist/Dist.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace sprig {

// For who chooses how large buckets are: the smallest that is tried, and the ratio of two predicted times below which
// they count as the same.
inline constexpr int64_t kLeastBytes = int64_t(64) << 10;
inline constexpr double kSame = 1.01;

/// Collectives that become one.
struct Bucket {
  mlir::SmallVector<mlir::Operation *> members;
  int64_t bytes = 0;    ///< of the wholes of what may go together: of sums, and of gathers
  unsigned place = 0;   ///< of late ones: the prompt bucket that it comes behind, counted from 1
  bool isFirst = false; ///< of late ones: right behind that bucket, else behind what stands in front of the next one
  unsigned follows = 0; ///< of late ones: the last late bucket that it needs a result of, counted from 1; 0: none
};

/// Prompt ones, whose results somebody may be waiting for, keep their order and join their neighbours alone. Late ones
/// come when their operands are there, but let prompt ones pass that come before more is made for late ones: who waits
/// for these would wait for the late one, too, which may go beside what is made then. Those that need results of others
/// come behind all of these and the prompt ones. Each list is in the order in which they happen.
struct BucketPlan {
  mlir::SmallVector<Bucket> prompt, late;
  llvm::DenseMap<mlir::Operation *, unsigned> behind; ///< the prompt bucket that an operation stands behind, from 1
};

/// Buckets of at most so many bytes. `isOfOneRank`: the block is one rank's program alone, so what is late has to be
/// said (dist.late); it decides the order.
BucketPlan planBuckets(mlir::Block &block, int64_t most, bool isOfOneRank);

} // namespace sprig
