#include "lib/Shard/BucketSize.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "lib/Shard/Buckets.h"

using namespace mlir;

namespace sprig {
namespace {

namespace dist = ir::dist;
using rt::collective::Kind;

/// When the backward pass has made what each operation gives, and all that waits for no late collective.
struct BackwardPass {
  llvm::DenseMap<Operation *, double> ends;
  double end = 0;
};

BucketPlan planOf(func::FuncOp step, int64_t bytes) {
  return planBuckets(step.getBody().front(), bytes, step->hasAttr(dist::kRankAttr));
}

/// Operations are taken to follow one another as they stand, and those that share a kernel to move what they do alone:
/// it is the order and the proportion that count.
BackwardPass timesOf(func::FuncOp step, OperationSeconds seconds) {
  BackwardPass pass;
  llvm::DenseSet<Operation *> waits;
  for (const Bucket &bucket : planOf(step, INT64_MAX).late) waits.insert(bucket.members.begin(), bucket.members.end());
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

void count(BucketExpectation &found, const Bucket &bucket, Kind kind, double seconds) {
  found.collective += seconds;
  bool isGather = kind == Kind::allGather;
  ++(isGather ? found.gathers : found.sums);
  (isGather ? found.gathered : found.summed) += bucket.bytes;
  found.isInHalves |= kind != Kind::allReduce;
}

// A prompt collective waits for the late ones in front of it, and all that comes behind it with it.
BucketExpectation expect(func::FuncOp step, const BackwardPass &pass, int64_t bytes, CollectiveSeconds seconds) {
  BucketExpectation found;
  found.bytes = bytes;
  BucketPlan plan = planOf(step, bytes);
  double free = 0, waited = 0; // from when on the lane is; by all that stands here
  unsigned passed = 0;
  auto endOf = [&](unsigned place) { return pass.ends.lookup(plan.prompt[place - 1].members.back()); };
  auto passTo = [&](unsigned place) {
    for (; passed < place; ++passed) waited = std::max(waited, free - endOf(passed + 1));
  };
  for (const Bucket &bucket : plan.late) {
    passTo(bucket.place);
    // What needs others is made behind all that waits for none; what it needs is back before the lane is free.
    double made = bucket.follows ? pass.end : bucket.isFirst ? endOf(bucket.place) : 0;
    for (Operation *member : bucket.members)
      dist::visitRead(member, [&](Operation *def) { made = std::max(made, pass.ends.lookup(def)); });
    Kind kind = dist::kindOf(bucket.members.front());
    double own = seconds(kind, bucket.bytes);
    free = std::max(free, made + waited) + own;
    count(found, bucket, kind, own);
  }
  passTo(unsigned(plan.prompt.size()));
  found.exposed = std::max(free - pass.end, waited);
  return found;
}

} // namespace

BucketExpectation expectBuckets(func::FuncOp step, int64_t bytes, CollectiveSeconds collective,
                                OperationSeconds operation) {
  return expect(step, timesOf(step, operation), bytes, collective);
}

BucketExpectation chooseBuckets(func::FuncOp step, CollectiveSeconds collective, OperationSeconds operation) {
  BackwardPass pass = timesOf(step, operation);
  BucketExpectation best = expect(step, pass, INT64_MAX, collective);
  int64_t largest = best.largest(), size = kLeastBytes;
  best.bytes = std::max(largest, kLeastBytes);
  while (size <= largest / 2) size *= 2;
  for (; size >= kLeastBytes && largest > 0; size /= 2) {
    BucketExpectation found = expect(step, pass, size, collective);
    if ((pass.end + found.exposed) * kSame < pass.end + best.exposed) best = found;
  }
  return best;
}

} // namespace sprig
