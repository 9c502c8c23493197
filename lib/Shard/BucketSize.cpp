#include "lib/Shard/BucketSize.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "dialects/Dist/Dist.h"

using namespace mlir;

namespace sprig {
namespace {

namespace dist = ir::dist;

constexpr int64_t kLeastBytes = int64_t(64) << 10;
// What differs by less is a matter of the model.
constexpr double kSame = 1.01;

int64_t bytesOf(Operation *op) {
  int64_t bytes = 0;
  for (Value value : op->getOperands()) {
    auto type = cast<RankedTensorType>(value.getType());
    bytes += type.getNumElements() * int64_t(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  }
  return bytes;
}

/// A gradient: when the backward pass has made it.
struct Made {
  double at;
  int64_t bytes;
};

struct BackwardPass {
  std::vector<Made> gradients; // in the order in which they leave
  double end = 0;              // of all that waits for none of them
};

/// Operations are taken to follow one another as they stand, and those that share a kernel to move what they do alone:
/// it is the order and the proportion that count.
BackwardPass timesOf(func::FuncOp step, OperationSeconds seconds) {
  BackwardPass pass;
  Block &block = step.getBody().front();
  SmallVector<Operation *> collectives = dist::collectivesOf(block);
  bool isMarked = llvm::any_of(collectives, [](Operation *op) { return op->hasAttr(dist::kLateAttr); });
  llvm::DenseSet<Operation *> needed = dist::neededCollectives(block), waits;
  llvm::DenseMap<Operation *, double> ends;
  for (Operation &op : block.without_terminator()) {
    if (dist::collectiveUse(&op)) {
      bool isLate = isa<dist::AllReduceOp>(op) && (isMarked ? op.hasAttr(dist::kLateAttr) : !needed.contains(&op));
      if (!isLate) continue;
      Made made{0, bytesOf(&op)};
      dist::visitRead(&op, [&](Operation *def) { made.at = std::max(made.at, ends.lookup(def)); });
      pass.gradients.push_back(made);
      waits.insert(&op);
      continue;
    }
    bool isLater = false;
    dist::visitRead(&op, [&](Operation *def) { isLater |= waits.contains(def); });
    if (isLater) {
      waits.insert(&op);
      continue;
    }
    if (auto cost = dyn_cast<CostOpInterface>(op))
      pass.end += seconds(double(cost.getFlops()), double(cost.getBytes()));
    ends[&op] = pass.end;
  }
  return pass;
}

BucketExpectation expect(const BackwardPass &pass, int64_t bytes, const CollectiveRate &rate) {
  BucketExpectation found;
  found.bytes = bytes;
  double free = 0; // from when on the lane is
  for (size_t i = 0; i < pass.gradients.size();) {
    int64_t size = 0;
    double made = 0;
    do {
      size += pass.gradients[i].bytes;
      made = std::max(made, pass.gradients[i].at);
    } while (++i < pass.gradients.size() && size + pass.gradients[i].bytes <= bytes);
    double own = rate.seconds(size);
    free = std::max(free, made) + own;
    found.collective += own;
    found.total += size;
    ++found.count;
  }
  found.exposed = std::max(free - pass.end, 0.0);
  return found;
}

} // namespace

BucketExpectation expectBuckets(func::FuncOp step, int64_t bytes, const CollectiveRate &rate,
                                OperationSeconds seconds) {
  return expect(timesOf(step, seconds), bytes, rate);
}

BucketExpectation chooseBuckets(func::FuncOp step, const CollectiveRate &rate, OperationSeconds seconds) {
  BackwardPass pass = timesOf(step, seconds);
  BucketExpectation best = expect(pass, INT64_MAX, rate);
  best.bytes = std::max(best.total, kLeastBytes);
  int64_t size = kLeastBytes;
  while (size <= best.total / 2) size *= 2;
  for (int64_t total = best.total; size >= kLeastBytes && total > 0; size /= 2) {
    BucketExpectation found = expect(pass, size, rate);
    if ((pass.end + found.exposed) * kSame < pass.end + best.exposed) best = found;
  }
  return best;
}

} // namespace sprig
