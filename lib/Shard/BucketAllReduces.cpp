// The bucket-all-reduces pass: few long messages in place of many short ones.
#include "dialects/Dist/Dist.h"
#include "lib/Shard/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseSet.h"

namespace sprig {
#define GEN_PASS_DEF_BUCKETALLREDUCES
#include "lib/Shard/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;
namespace dist = ir::dist;

namespace {

int64_t bytesOf(dist::AllReduceOp op) {
  int64_t bytes = 0;
  for (Value value : op.getOperands()) {
    auto type = cast<RankedTensorType>(value.getType());
    bytes += type.getNumElements() * int64_t(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  }
  return bytes;
}

Type elementOf(dist::AllReduceOp op) { return getElementTypeOrSelf(op.getOperands()[0]); }

/// All-reduces that become one.
class Bucket {
public:
  bool takes(dist::AllReduceOp op, int64_t most) {
    if (members.empty()) return true;
    dist::AllReduceOp first = members.front();
    return bytes + bytesOf(op) <= most && op.getReduction() == first.getReduction() &&
           op.getMeshAttr() == first.getMeshAttr() && op.getAxes() == first.getAxes() &&
           op.getAlgorithmAttr() == first.getAlgorithmAttr() && elementOf(op) == elementOf(first);
  }
  void add(dist::AllReduceOp op) {
    members.push_back(op);
    bytes += bytesOf(op);
    results.insert(op->result_begin(), op->result_end());
  }
  bool isRead(Operation &op) const {
    bool reads = false;
    op.walk([&](Operation *inner) {
      reads |= llvm::any_of(inner->getOperands(), [&](Value value) { return results.contains(value); });
    });
    return reads;
  }

  /// At the place of the last of them.
  void close() {
    if (members.size() > 1) {
      dist::AllReduceOp last = members.back();
      SmallVector<Value> operands;
      SmallVector<Location> locations;
      for (dist::AllReduceOp member : members) {
        llvm::append_range(operands, member.getOperands());
        for (unsigned i = 0; i < member.getNumOperands(); ++i) locations.push_back(member.getLoc());
      }
      OpBuilder b(last);
      auto joined =
          dist::AllReduceOp::create(b, FusedLoc::get(b.getContext(), locations), operands, last.getReductionAttr(),
                                    last.getMeshAttr(), last.getAxesAttr(), last.getAlgorithmAttr());
      unsigned next = 0;
      for (dist::AllReduceOp member : members) {
        for (Value result : member.getResults()) result.replaceAllUsesWith(joined.getResult(next++));
        member.erase();
      }
    }
    *this = Bucket();
  }

private:
  SmallVector<dist::AllReduceOp> members;
  llvm::DenseSet<Value> results;
  int64_t bytes = 0;
};

struct BucketAllReduces : sprig::impl::BucketAllReducesBase<BucketAllReduces> {
  using BucketAllReducesBase::BucketAllReducesBase;

  void runOnOperation() override {
    if (getOperation().isExternal()) return;
    unsigned before = 0, after = 0;
    for (Block &block : getOperation().getBody()) {
      Bucket bucket;
      for (Operation &op : llvm::make_early_inc_range(block)) {
        auto reduce = dyn_cast<dist::AllReduceOp>(op);
        if (bucket.isRead(op) || (!reduce && dist::collectiveUse(&op)) || (reduce && !bucket.takes(reduce, bytes)))
          bucket.close();
        if (reduce) bucket.add(reduce);
        before += bool(reduce);
      }
      bucket.close();
      after += unsigned(llvm::range_size(block.getOps<dist::AllReduceOp>()));
    }
    if (before)
      remark::analysis(getOperation().getLoc(), remark::RemarkOpts::name("buckets").category("schedule"))
          << "'" + getOperation().getSymName().str() + "': " + std::to_string(before) + " all-reduces go as " +
                 std::to_string(after);
  }
};

} // namespace
