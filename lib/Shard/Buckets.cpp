#include "lib/Shard/Buckets.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "lib/Shard/Mesh.h"

using namespace mlir;

namespace sprig {

namespace dist = ir::dist;

namespace {

int64_t bytesOf(Operation *collective) {
  int64_t bytes = 0;
  for (Value value : collective->getOperands()) bytes += shard::bytesOf(value);
  return bytes;
}

Type elementOf(dist::AllReduceOp op) { return getElementTypeOrSelf(op.getOperands()[0]); }

bool isOfOneKind(dist::AllReduceOp a, dist::AllReduceOp b) {
  return a.getReduction() == b.getReduction() && a.getMeshAttr() == b.getMeshAttr() && a.getAxes() == b.getAxes() &&
         a.getAlgorithmAttr() == b.getAlgorithmAttr() && elementOf(a) == elementOf(b);
}

class Planner {
public:
  Planner(Block &block, int64_t most, bool isOfOneRank) : block(block), most(most) { findLate(isOfOneRank); }

  BucketPlan run() {
    joinPrompt();
    findPlaces();
    joinLate();
    return std::move(plan);
  }

private:
  void findLate(bool isOfOneRank);
  void joinPrompt();
  void findPlaces();
  void joinLate();
  bool takes(const Bucket &bucket, dist::AllReduceOp op) const {
    auto first = dyn_cast<dist::AllReduceOp>(bucket.members.front());
    return first && isOfOneKind(first, op) && bucket.bytes + bytesOf(op) <= most;
  }
  static void add(Bucket &bucket, Operation *op) {
    bucket.members.push_back(op);
    if (isa<dist::AllReduceOp>(op)) bucket.bytes += bytesOf(op);
  }

  Block &block;
  int64_t most;
  llvm::DenseSet<Operation *> isLate;
  BucketPlan plan;
  llvm::DenseMap<Operation *, unsigned> needs; // the last prompt bucket that an operation needs, counted from 1
  SmallVector<unsigned> fences;                // prompt buckets that nothing passes
};

// Where ranks have programs of their own, what is late has to be said: it decides the order of collectives.
void Planner::findLate(bool isOfOneRank) {
  SmallVector<Operation *> collectives = dist::collectivesOf(block);
  bool isMarked = llvm::any_of(collectives, [](Operation *op) { return op->hasAttr(dist::kLateAttr); });
  if (isOfOneRank && !isMarked) return;
  llvm::DenseSet<Operation *> needed = dist::neededCollectives(block);
  for (Operation *op : collectives)
    if (isa<dist::AllReduceOp>(op) && !needed.contains(op) && (!isMarked || op->hasAttr(dist::kLateAttr)))
      isLate.insert(op);
}

void Planner::joinPrompt() {
  llvm::DenseSet<Operation *> open; // members of the last bucket, which may take more
  for (Operation &op : block) {
    bool isRead = false;
    dist::visitRead(&op, [&](Operation *def) { isRead |= open.contains(def); });
    if (isRead) open.clear();
    if (!dist::collectiveUse(&op) || isLate.contains(&op)) continue;
    auto reduce = dyn_cast<dist::AllReduceOp>(op);
    if (!reduce || open.empty() || !takes(plan.prompt.back(), reduce)) {
      open.clear();
      plan.prompt.emplace_back();
    }
    add(plan.prompt.back(), &op);
    if (reduce) open.insert(&op);
  }
}

void Planner::findPlaces() {
  llvm::DenseMap<Operation *, unsigned> numberOf;
  llvm::DenseSet<Operation *> last;
  for (auto [index, bucket] : llvm::enumerate(plan.prompt)) {
    for (Operation *op : bucket.members) numberOf[op] = unsigned(index + 1);
    last.insert(bucket.members.back());
    if (bucket.members.back()->getNumResults() == 0) fences.push_back(unsigned(index + 1));
  }
  unsigned ended = 0;
  for (Operation &op : block) {
    unsigned &own = needs[&op];
    plan.behind[&op] = ended;
    dist::visitRead(&op, [&](Operation *def) {
      if (def->getBlock() == &block) own = std::max(own, std::max(needs.lookup(def), numberOf.lookup(def)));
    });
    ended += last.contains(&op);
  }
}

void Planner::joinLate() {
  auto fenceOf = [&](unsigned place) {
    return unsigned(llvm::upper_bound(fences, place) - fences.begin()); // how many are passed
  };
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (isLate.contains(&op)) {
      // What stands behind a fence stays there.
      if (unsigned passed = fenceOf(plan.behind[&op])) needs[&op] = std::max(needs[&op], fences[passed - 1]);
      ops.push_back(&op);
    }
  llvm::stable_sort(ops, [&](Operation *a, Operation *b) { return needs[a] < needs[b]; });
  SmallVector<Bucket> open;
  auto close = [&](Bucket *bucket) {
    plan.late.push_back(std::move(*bucket));
    open.erase(bucket);
  };
  for (Operation *op : ops) {
    auto reduce = cast<dist::AllReduceOp>(op);
    while (!open.empty() && fenceOf(open.front().place) != fenceOf(needs[op])) close(&open.front());
    Bucket *own = llvm::find_if(
        open, [&](Bucket &bucket) { return isOfOneKind(cast<dist::AllReduceOp>(bucket.members.front()), reduce); });
    if (own != open.end() && !takes(*own, reduce)) {
      close(own);
      own = open.end();
    }
    if (own == open.end()) own = &open.emplace_back();
    add(*own, op);
    own->place = needs[op];
  }
  while (!open.empty()) close(&open.front());
  // As their last members come.
  llvm::DenseMap<Operation *, size_t> rank;
  for (auto [index, op] : llvm::enumerate(ops)) rank[op] = index;
  llvm::sort(plan.late,
             [&](const Bucket &a, const Bucket &b) { return rank[a.members.back()] < rank[b.members.back()]; });
}

} // namespace

BucketPlan planBuckets(Block &block, int64_t most, bool isOfOneRank) { return Planner(block, most, isOfOneRank).run(); }

} // namespace sprig
