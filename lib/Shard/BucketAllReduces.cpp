// The bucket-all-reduces pass: few long messages in place of many short ones, each as soon as it can go.
#include "dialects/Dist/CollectiveOrder.h"
#include "lib/Shard/Buckets.h"
#include "lib/Shard/Passes.h"
#include "mlir/IR/Remarks.h"

namespace sprig {
#define GEN_PASS_DEF_BUCKETALLREDUCES
#include "lib/Shard/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;
namespace dist = ir::dist;

namespace {

/// Makes of a plan what it says: collectives that go together become one, where its last member stands.
class Buckets {
public:
  Buckets(Block &block, int64_t most, bool isOfOneRank)
      : block(block), plan(planBuckets(block, most, isOfOneRank)), prompt(plan.prompt), late(plan.late) {}

  void run() {
    order();
    for (Bucket &bucket : prompt) join(bucket);
    for (Bucket &bucket : late) join(bucket);
  }
  std::string text() const;

private:
  void pullUp(Operation *op, unsigned place);
  void order();
  void join(Bucket &bucket);

  Block &block;
  BucketPlan plan;
  SmallVector<Bucket> &prompt, &late;
};

/// What a bucket needs comes before it; no prompt collective behind it is among that.
void Buckets::pullUp(Operation *op, unsigned place) {
  SmallVector<Operation *> open{op};
  while (!open.empty())
    dist::visitRead(open.pop_back_val(), [&](Operation *def) {
      if (def->getBlock() != &block || plan.behind[def] <= place) return;
      plan.behind[def] = place;
      open.push_back(def);
    });
}

// Between two prompt buckets what stands there and no late one is needed for, then the late buckets that can go; what
// needs these comes in the end, in their order.
void Buckets::order() {
  if (late.empty() && llvm::all_of(prompt, [](const Bucket &bucket) { return bucket.members.size() == 1; })) return;
  for (Bucket &bucket : late)
    for (Operation *op : bucket.members) pullUp(op, bucket.place);
  llvm::DenseMap<Operation *, unsigned> waitsFor; // the last late bucket that an operation needs, counted from 1
  for (auto [index, bucket] : llvm::enumerate(late))
    for (Operation *op : bucket.members) waitsFor[op] = unsigned(index + 1);
  SmallVector<SmallVector<Operation *>> between(prompt.size() + 1), after(late.size());
  for (Operation &op : block.without_terminator()) {
    if (dist::collectiveUse(&op)) continue;
    unsigned last = 0;
    dist::visitRead(&op, [&](Operation *def) { last = std::max(last, waitsFor.lookup(def)); });
    if (last) waitsFor[&op] = last;
    (last ? after[last - 1] : between[plan.behind[&op]]).push_back(&op);
  }
  auto append = [&](ArrayRef<Operation *> ops) {
    for (Operation *op : ops) op->moveBefore(block.getTerminator());
  };
  unsigned next = 0;
  for (unsigned place = 0; place <= prompt.size(); ++place) {
    if (place) append(prompt[place - 1].members);
    append(between[place]);
    for (; next < late.size() && late[next].place == place; ++next) append(late[next].members);
  }
  for (ArrayRef<Operation *> ops : after) append(ops);
}

void Buckets::join(Bucket &bucket) {
  for (Operation *op : bucket.members) op->removeAttr(dist::kLateAttr);
  if (bucket.members.size() == 1) return;
  SmallVector<Value> operands;
  SmallVector<Location> locations;
  for (Operation *member : bucket.members) {
    llvm::append_range(operands, member->getOperands());
    locations.append(member->getNumOperands(), member->getLoc());
  }
  auto last = cast<dist::AllReduceOp>(bucket.members.back());
  OpBuilder b(last);
  auto joined =
      dist::AllReduceOp::create(b, FusedLoc::get(b.getContext(), locations), operands, last.getReductionAttr(),
                                last.getMeshAttr(), last.getAxesAttr(), last.getAlgorithmAttr());
  unsigned next = 0;
  for (Operation *member : bucket.members) {
    for (Value result : member->getResults()) result.replaceAllUsesWith(joined.getResult(next++));
    member->erase();
  }
}

/// "3 of 120, 80 and 4 bytes"
std::string Buckets::text() const {
  SmallVector<int64_t> sizes;
  for (const SmallVector<Bucket> *list : {&prompt, &late})
    for (const Bucket &bucket : *list)
      if (bucket.bytes) sizes.push_back(bucket.bytes);
  std::string text = std::to_string(sizes.size()) + " of ";
  constexpr size_t shown = 8;
  for (size_t i = 0; i < std::min(shown, sizes.size()); ++i)
    text += (i == 0 ? "" : i + 1 == sizes.size() ? " and " : ", ") + std::to_string(sizes[i]);
  if (sizes.size() > shown) text += " and more";
  return text + " bytes";
}

struct BucketAllReduces : sprig::impl::BucketAllReducesBase<BucketAllReduces> {
  using BucketAllReducesBase::BucketAllReducesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock()) return;
    Block &block = function.getBody().front();
    size_t before = llvm::range_size(block.getOps<dist::AllReduceOp>());
    if (!before) return;
    Buckets buckets(block, bytes, function->hasAttr(dist::kRankAttr));
    buckets.run();
    remark::analysis(function.getLoc(), remark::RemarkOpts::name("buckets").category("schedule"))
        << "'" + function.getSymName().str() + "': " + std::to_string(before) + " all-reduces go as " + buckets.text();
  }
};

} // namespace
