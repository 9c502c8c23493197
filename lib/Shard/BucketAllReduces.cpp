// The bucket-all-reduces pass: few long messages in place of many short ones, each as soon as it can go.
#include "dialects/Dist/CollectiveOrder.h"
#include "dialects/Dist/Dist.h"
#include "lib/Shard/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseMap.h"
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

bool isOfOneKind(dist::AllReduceOp a, dist::AllReduceOp b) {
  return a.getReduction() == b.getReduction() && a.getMeshAttr() == b.getMeshAttr() && a.getAxes() == b.getAxes() &&
         a.getAlgorithmAttr() == b.getAlgorithmAttr() && elementOf(a) == elementOf(b);
}

/// Collectives that become one.
struct Bucket {
  SmallVector<Operation *> members;
  int64_t bytes = 0;
  unsigned place = 0; // of late ones: the prompt bucket that it comes behind, counted from 1

  bool takes(dist::AllReduceOp op, int64_t most) const {
    auto first = dyn_cast<dist::AllReduceOp>(members.front());
    return first && isOfOneKind(first, op) && bytes + bytesOf(op) <= most;
  }
  void add(Operation *op) {
    members.push_back(op);
    if (auto reduce = dyn_cast<dist::AllReduceOp>(op)) bytes += bytesOf(reduce);
  }
};

/// Which of a block's collectives go together, and in which order. Prompt ones, whose results somebody may be waiting
/// for, keep their order and join their neighbours alone; late ones come as soon as their operands may be there.
class Buckets {
public:
  Buckets(Block &block, int64_t most, bool isOfOneRank) : block(block), most(most) { findLate(isOfOneRank); }

  void run() {
    joinPrompt();
    findPlaces();
    joinLate();
    order();
    for (Bucket &bucket : prompt) join(bucket);
    for (Bucket &bucket : late) join(bucket);
  }
  std::string text() const;

private:
  void findLate(bool isOfOneRank);
  void joinPrompt();
  void findPlaces();
  void joinLate();
  void pullUp(Operation *op, unsigned place);
  void order();
  void join(Bucket &bucket);

  Block &block;
  int64_t most;
  llvm::DenseSet<Operation *> isLate;
  SmallVector<Bucket> prompt, late;
  llvm::DenseMap<Operation *, unsigned> needs;  // the last prompt bucket that an operation needs, counted from 1
  llvm::DenseMap<Operation *, unsigned> behind; // the one that it stands behind
  SmallVector<unsigned> fences;                 // prompt buckets that nothing passes
};

// Where ranks have programs of their own, what is late has to be said: it decides the order of collectives.
void Buckets::findLate(bool isOfOneRank) {
  SmallVector<Operation *> collectives = dist::collectivesOf(block);
  bool isMarked = llvm::any_of(collectives, [](Operation *op) { return op->hasAttr(dist::kLateAttr); });
  if (isOfOneRank && !isMarked) return;
  llvm::DenseSet<Operation *> needed = dist::neededCollectives(block);
  for (Operation *op : collectives)
    if (isa<dist::AllReduceOp>(op) && !needed.contains(op) && (!isMarked || op->hasAttr(dist::kLateAttr)))
      isLate.insert(op);
}

void Buckets::joinPrompt() {
  llvm::DenseSet<Operation *> open; // members of the last bucket, which may take more
  for (Operation &op : block) {
    bool isRead = false;
    dist::visitRead(&op, [&](Operation *def) { isRead |= open.contains(def); });
    if (isRead) open.clear();
    if (!dist::collectiveUse(&op) || isLate.contains(&op)) continue;
    auto reduce = dyn_cast<dist::AllReduceOp>(op);
    if (!reduce || open.empty() || !prompt.back().takes(reduce, most)) {
      open.clear();
      prompt.emplace_back();
    }
    prompt.back().add(&op);
    if (reduce) open.insert(&op);
  }
}

void Buckets::findPlaces() {
  llvm::DenseMap<Operation *, unsigned> numberOf;
  llvm::DenseSet<Operation *> last;
  for (auto [index, bucket] : llvm::enumerate(prompt)) {
    for (Operation *op : bucket.members) numberOf[op] = unsigned(index + 1);
    last.insert(bucket.members.back());
    if (bucket.members.back()->getNumResults() == 0) fences.push_back(unsigned(index + 1));
  }
  unsigned ended = 0;
  for (Operation &op : block) {
    unsigned &own = needs[&op];
    behind[&op] = ended;
    dist::visitRead(&op, [&](Operation *def) {
      if (def->getBlock() == &block) own = std::max(own, std::max(needs.lookup(def), numberOf.lookup(def)));
    });
    ended += last.contains(&op);
  }
}

void Buckets::joinLate() {
  auto fenceOf = [&](unsigned place) {
    return unsigned(llvm::upper_bound(fences, place) - fences.begin()); // how many are passed
  };
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (isLate.contains(&op)) {
      // What stands behind a fence stays there.
      if (unsigned passed = fenceOf(behind[&op])) needs[&op] = std::max(needs[&op], fences[passed - 1]);
      ops.push_back(&op);
    }
  llvm::stable_sort(ops, [&](Operation *a, Operation *b) { return needs[a] < needs[b]; });
  SmallVector<Bucket> open;
  auto close = [&](Bucket *bucket) {
    late.push_back(std::move(*bucket));
    open.erase(bucket);
  };
  for (Operation *op : ops) {
    auto reduce = cast<dist::AllReduceOp>(op);
    while (!open.empty() && fenceOf(open.front().place) != fenceOf(needs[op])) close(&open.front());
    Bucket *own = llvm::find_if(
        open, [&](Bucket &bucket) { return isOfOneKind(cast<dist::AllReduceOp>(bucket.members.front()), reduce); });
    if (own != open.end() && !own->takes(reduce, most)) {
      close(own);
      own = open.end();
    }
    if (own == open.end()) own = &open.emplace_back();
    own->add(op);
    own->place = needs[op];
  }
  while (!open.empty()) close(&open.front());
  // As their last members come.
  llvm::DenseMap<Operation *, size_t> rank;
  for (auto [index, op] : llvm::enumerate(ops)) rank[op] = index;
  llvm::sort(late, [&](const Bucket &a, const Bucket &b) { return rank[a.members.back()] < rank[b.members.back()]; });
}

/// What a bucket needs comes before it; no prompt collective behind it is among that.
void Buckets::pullUp(Operation *op, unsigned place) {
  SmallVector<Operation *> open{op};
  while (!open.empty())
    dist::visitRead(open.pop_back_val(), [&](Operation *def) {
      if (def->getBlock() != &block || behind[def] <= place) return;
      behind[def] = place;
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
    (last ? after[last - 1] : between[behind[&op]]).push_back(&op);
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
