// The bucket-collectives pass: few long messages in place of many short ones, each as soon as it can go.
#define GEN_PASS_DEF_BUCKETCOLLECTIVES
#include "lib/Shard/Passes.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "lib/Shard/Buckets.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

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
    UnitAttr said = UnitAttr::get(block.getParentOp()->getContext());
    for (Bucket &bucket : prompt)
      for (Operation *op : bucket.members) op->removeAttr(dist::kLateAttr);
    for (Bucket &bucket : late)
      for (Operation *op : bucket.members) op->setAttr(dist::kLateAttr, said);
    for (Operation &op : block) op.removeAttr(dist::kOrderAttr);
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

// Between two prompt buckets what stands there and no late one is needed for, in front of it and behind it the late
// buckets that can go; what needs these comes in the end, in their order, and in between the late ones that need it.
void Buckets::order() {
  if (late.empty() && llvm::all_of(prompt, [](const Bucket &bucket) { return bucket.members.size() == 1; })) return;
  llvm::DenseMap<Operation *, unsigned> waitsFor; // the last late bucket that an operation needs, counted from 1
  for (auto [index, bucket] : llvm::enumerate(late))
    for (Operation *op : bucket.members) {
      waitsFor[op] = unsigned(index + 1);
      if (!bucket.follows) pullUp(op, bucket.place - bucket.isFirst);
    }
  SmallVector<SmallVector<Operation *>> between(prompt.size() + 1), after(late.size());
  for (Operation &op : block.without_terminator()) {
    if (dist::meetsRanks(&op)) continue;
    unsigned last = 0;
    dist::visitRead(&op, [&](Operation *def) { last = std::max(last, waitsFor.lookup(def)); });
    if (last) waitsFor[&op] = last;
    (last ? after[last - 1] : between[plan.behind[&op]]).push_back(&op);
  }
  auto append = [&](ArrayRef<Operation *> ops) {
    for (Operation *op : ops) op->moveBefore(block.getTerminator());
  };
  unsigned next = 0;
  auto go = [&](unsigned place, bool isFirst) {
    auto goes = [&](const Bucket &bucket) {
      return bucket.place == place && bucket.isFirst == isFirst && !bucket.follows;
    };
    for (; next < late.size() && goes(late[next]); ++next) append(late[next].members);
  };
  for (unsigned place = 0; place <= prompt.size(); ++place) {
    if (place) append(prompt[place - 1].members);
    go(place, true);
    append(between[place]);
    go(place, false);
  }
  for (auto [index, ops] : llvm::enumerate(after)) {
    append(ops);
    for (; next < late.size() && late[next].follows <= index + 1; ++next) append(late[next].members);
  }
}

void Buckets::join(Bucket &bucket) {
  if (bucket.members.size() == 1) return;
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (Operation *member : bucket.members) {
    llvm::append_range(operands, member->getOperands());
    llvm::append_range(types, member->getResultTypes());
    locations.append(member->getNumOperands(), member->getLoc());
  }
  Operation *last = bucket.members.back();
  OpBuilder b(last);
  Operation *joined = b.create(
      OperationState(FusedLoc::get(b.getContext(), locations), last->getName(), operands, types, last->getAttrs()));
  unsigned next = 0;
  for (Operation *member : bucket.members) {
    for (Value result : member->getResults()) result.replaceAllUsesWith(joined->getResult(next++));
    member->erase();
  }
}

/// "3 of 120, 80 and 4 bytes"
std::string textOf(ArrayRef<int64_t> sizes) {
  std::string text = std::to_string(sizes.size()) + " of ";
  constexpr size_t shown = 8;
  for (size_t i = 0; i < std::min(shown, sizes.size()); ++i)
    text += (i == 0 ? "" : i + 1 == sizes.size() ? " and " : ", ") + std::to_string(sizes[i]);
  if (sizes.size() > shown) text += " and more";
  return text + " bytes";
}

/// "7 all-reduces go as 3 of 120, 80 and 4 bytes, 2 all-gathers go as 1 of 64 bytes", in front of `run`.
std::string Buckets::text() const {
  SmallVector<std::string> parts;
  for (auto [kind, names] : {std::pair(dist::AllReduceOp::getOperationName(), "all-reduces"),
                             std::pair(dist::ReduceScatterOp::getOperationName(), "reduce-scatters"),
                             std::pair(dist::AllGatherOp::getOperationName(), "all-gathers")}) {
    size_t before = 0;
    SmallVector<int64_t> sizes;
    for (const SmallVector<Bucket> *list : {&prompt, &late})
      for (const Bucket &bucket : *list) {
        if (bucket.members.front()->getName().getStringRef() != kind) continue;
        before += bucket.members.size();
        sizes.push_back(bucket.bytes);
      }
    if (before) parts.push_back(std::to_string(before) + " " + names + " go as " + textOf(sizes));
  }
  return llvm::join(parts, ", ");
}

struct BucketCollectives : sprig::impl::BucketCollectivesBase<BucketCollectives> {
  using BucketCollectivesBase::BucketCollectivesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock()) return;
    Block &block = function.getBody().front();
    if (llvm::none_of(block, [](Operation &op) { return dist::mayBeLate(&op); })) return;
    Buckets buckets(block, bytes, function->hasAttr(dist::kRankAttr));
    std::string text = buckets.text();
    buckets.run();
    remark::analysis(function.getLoc(), remark::RemarkOpts::name("buckets").category("schedule"))
        << "'" + function.getSymName().str() + "': " + text;
  }
};

} // namespace
