#include "lib/Shard/BucketSize.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "lib/Shard/Buckets.h"

using namespace mlir;

namespace sprig {
namespace {

namespace dist = ir::dist;
using rt::collective::Kind;

constexpr int64_t kLeastBytes = int64_t(64) << 10;
// What differs by less is a matter of the model.
constexpr double kSame = 1.01;

/// When the backward pass has made what each operation gives, and all that waits for no late collective.
struct BackwardPass {
  llvm::DenseMap<Operation *, double> ends;
  llvm::DenseSet<Operation *> waits; ///< all others
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
  llvm::DenseSet<Operation *> &waits = pass.waits;
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

/// When what operations give is there, as buckets come back. What waits for one is done behind the backward pass.
class Arrivals {
public:
  explicit Arrivals(const BackwardPass &pass) : pass(pass) {}

  void comesBack(const Bucket &bucket, double end) {
    for (Operation *member : bucket.members) ends[member] = end;
  }
  double of(Operation *op) {
    if (!pass.waits.contains(op)) return pass.ends.lookup(op);
    if (auto found = ends.find(op); found != ends.end()) return found->second;
    double end = std::max(pass.end, operandsOf(op));
    return ends[op] = end;
  }
  double operandsOf(Operation *op) {
    double end = 0;
    dist::visitRead(op, [&](Operation *def) { end = std::max(end, of(def)); });
    return end;
  }

private:
  const BackwardPass &pass;
  llvm::DenseMap<Operation *, double> ends;
};

BucketExpectation expect(func::FuncOp step, const BackwardPass &pass, int64_t bytes, CollectiveSeconds seconds) {
  BucketExpectation found;
  found.bytes = bytes;
  Arrivals arrivals(pass);
  double free = 0; // from when on the lane is
  for (const Bucket &bucket : lateOf(step, bytes)) {
    double made = 0;
    for (Operation *member : bucket.members) made = std::max(made, arrivals.operandsOf(member));
    Kind kind = kindOf(bucket.members.front());
    double own = seconds(kind, bucket.bytes);
    free = std::max(free, made) + own;
    arrivals.comesBack(bucket, free);
    found.collective += own;
    bool isGather = kind == Kind::allGather;
    ++(isGather ? found.gathers : found.sums);
    (isGather ? found.gathered : found.summed) += bucket.bytes;
    found.isInHalves |= kind != Kind::allReduce;
  }
  found.exposed = std::max(free - pass.end, 0.0);
  return found;
}

} // namespace

Kind kindOf(Operation *collective) {
  if (isa<dist::ReduceScatterOp>(collective)) return Kind::reduceScatter;
  return isa<dist::AllGatherOp>(collective) ? Kind::allGather : Kind::allReduce;
}

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
