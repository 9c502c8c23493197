#include "lib/Shard/BucketSize.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "lib/Shard/Buckets.h"

using namespace mlir;

namespace sprig {
namespace {

namespace dist = ir::dist;

constexpr int64_t kLeastBytes = int64_t(64) << 10;
// What differs by less is a matter of the model.
constexpr double kSame = 1.01;

/// When the backward pass has made what each operation gives, and all that waits for no late all-reduce.
struct BackwardPass {
  llvm::DenseMap<Operation *, double> ends;
  double end = 0;
};

/// The late buckets of at most so many bytes, as the pass makes them.
SmallVector<Bucket> lateOf(func::FuncOp step, int64_t bytes) {
  return planBuckets(step.getBody().front(), bytes, step->hasAttr(dist::kRankAttr)).late;
}

/// Operations are taken to follow one another as they stand, and those that share a kernel to move what they do alone:
/// it is the order and the proportion that count.
BackwardPass timesOf(func::FuncOp step, OperationSeconds seconds) {
  BackwardPass pass;
  llvm::DenseSet<Operation *> waits;
  for (const Bucket &bucket : lateOf(step, INT64_MAX)) waits.insert(bucket.members.begin(), bucket.members.end());
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (waits.contains(&op)) continue;
    bool isLater = false;
    dist::visitRead(&op, [&](Operation *def) { isLater |= waits.contains(def); });
    if (isLater) {
      waits.insert(&op);
      continue;
    }
    if (auto cost = dyn_cast<CostOpInterface>(op))
      pass.end += seconds(double(cost.getFlops()), double(cost.getBytes()));
    pass.ends[&op] = pass.end;
  }
  return pass;
}

BucketExpectation expect(func::FuncOp step, const BackwardPass &pass, int64_t bytes, const CollectiveRate &rate) {
  BucketExpectation found;
  found.bytes = bytes;
  double free = 0; // from when on the lane is
  for (const Bucket &bucket : lateOf(step, bytes)) {
    double made = 0;
    for (Operation *member : bucket.members)
      dist::visitRead(member, [&](Operation *def) { made = std::max(made, pass.ends.lookup(def)); });
    double own = rate.seconds(bucket.bytes);
    free = std::max(free, made) + own;
    found.collective += own;
    found.total += bucket.bytes;
    ++found.count;
  }
  found.exposed = std::max(free - pass.end, 0.0);
  return found;
}

} // namespace

BucketExpectation expectBuckets(func::FuncOp step, int64_t bytes, const CollectiveRate &rate,
                                OperationSeconds seconds) {
  return expect(step, timesOf(step, seconds), bytes, rate);
}

BucketExpectation chooseBuckets(func::FuncOp step, const CollectiveRate &rate, OperationSeconds seconds) {
  BackwardPass pass = timesOf(step, seconds);
  BucketExpectation best = expect(step, pass, INT64_MAX, rate);
  best.bytes = std::max(best.total, kLeastBytes);
  int64_t size = kLeastBytes;
  while (size <= best.total / 2) size *= 2;
  for (int64_t total = best.total; size >= kLeastBytes && total > 0; size /= 2) {
    BucketExpectation found = expect(step, pass, size, rate);
    if ((pass.end + found.exposed) * kSame < pass.end + best.exposed) best = found;
  }
  return best;
}

} // namespace sprig
