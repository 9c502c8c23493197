#include "lib/Shard/Buckets.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "lib/Shard/Mesh.h"

using namespace mlir;

namespace sprig {

namespace dist = ir::dist;

namespace {

bool isOfOneKind(Operation *a, Operation *b) {
  if (a->getName() != b->getName()) return false;
  dist::CollectiveUse one = *dist::collectiveUse(a), other = *dist::collectiveUse(b);
  return one.reduction == other.reduction && one.mesh == other.mesh && one.axes == other.axes &&
         one.algorithm == other.algorithm &&
         getElementTypeOrSelf(a->getOperand(0)) == getElementTypeOrSelf(b->getOperand(0));
}

// Those that say a place in the order (dist.order) take the places of each other by it.
void orderBySaid(SmallVectorImpl<Operation *> &ops) {
  auto orderOf = [](Operation *op) { return op->getAttrOfType<IntegerAttr>(dist::kOrderAttr); };
  SmallVector<Operation *> said;
  llvm::copy_if(ops, std::back_inserter(said), orderOf);
  llvm::stable_sort(said, [&](Operation *a, Operation *b) { return orderOf(a).getInt() < orderOf(b).getInt(); });
  auto next = said.begin();
  for (Operation *&op : ops)
    if (orderOf(op)) op = *next++;
}

class Planner {
public:
  Planner(Block &block, int64_t most, bool isOfOneRank)
      : block(block), most(most), isLate(dist::lateCollectives(block, isOfOneRank)) {}

  BucketPlan run() {
    joinPrompt();
    findPlaces();
    SmallVector<Operations> levels = findLevels();
    for (auto [level, ops] : llvm::enumerate(levels))
      if (level)
        joinFollowing(ops);
      else
        joinFirst(ops);
    return std::move(plan);
  }

private:
  using Operations = SmallVector<Operation *>;
  using Keys = llvm::DenseMap<Operation *, unsigned>;

  void joinPrompt();
  void findPlaces();
  SmallVector<Operations> findLevels() const;
  void joinFirst(Operations &ops);
  void joinFollowing(Operations &ops);
  void joinLate(ArrayRef<Operation *> ops, llvm::function_ref<bool(Operation *, Operation *)> areApart,
                llvm::function_ref<void(Bucket &)> finish);
  bool takes(const Bucket &bucket, Operation *op) const {
    return isOfOneKind(bucket.members.front(), op) && bucket.bytes + shard::wholeBytesOf(op) <= most;
  }
  static void add(Bucket &bucket, Operation *op) {
    bucket.members.push_back(op);
    if (dist::mayBeLate(op)) bucket.bytes += shard::wholeBytesOf(op);
  }
  // How many fences are in front of what stands behind so many prompt buckets.
  unsigned fencesOf(unsigned place) const { return unsigned(llvm::upper_bound(fences, place) - fences.begin()); }

  Block &block;
  int64_t most;
  llvm::DenseSet<Operation *> isLate;
  BucketPlan plan;
  Keys needs;                   // the last prompt bucket that an operation needs, counted from 1
  SmallVector<unsigned> fences; // prompt buckets that nothing passes
};

void Planner::joinPrompt() {
  llvm::DenseSet<Operation *> open; // members of the last bucket, which may take more
  for (Operation &op : block) {
    bool isRead = false;
    dist::visitRead(&op, [&](Operation *def) { isRead |= open.contains(def); });
    if (isRead) open.clear();
    if (!dist::meetsRanks(&op) || isLate.contains(&op)) continue;
    bool mayJoin = dist::mayBeLate(&op);
    if (!mayJoin || open.empty() || !takes(plan.prompt.back(), &op)) {
      open.clear();
      plan.prompt.emplace_back();
    }
    add(plan.prompt.back(), &op);
    if (mayJoin) open.insert(&op);
  }
}

void Planner::findPlaces() {
  Keys numberOf;
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

// Late ones by how many others they need, one after the other.
SmallVector<Planner::Operations> Planner::findLevels() const {
  SmallVector<Operations> levels;
  Keys depth;
  for (Operation &op : block) {
    unsigned own = 0;
    dist::visitRead(&op, [&](Operation *def) { own = std::max(own, depth.lookup(def) + isLate.contains(def)); });
    if (own) depth[&op] = own;
    if (!isLate.contains(&op)) continue;
    if (levels.size() <= own) levels.resize(own + 1);
    levels[own].push_back(&op);
  }
  return levels;
}

void Planner::joinFirst(Operations &ops) {
  orderBySaid(ops);
  // What stands behind a fence stays there.
  for (Operation *op : ops)
    if (unsigned passed = fencesOf(plan.behind[op])) needs[op] = std::max(needs[op], fences[passed - 1]);
  llvm::stable_sort(ops, [&](Operation *a, Operation *b) { return needs[a] < needs[b]; });
  joinLate(
      ops, [&](Operation *a, Operation *b) { return fencesOf(needs[a]) != fencesOf(needs[b]); },
      [&](Bucket &bucket) {
        unsigned own = bucket.place = needs[bucket.members.back()];
        auto next = llvm::find_if(ops, [&](Operation *op) { return needs[op] > own; });
        if (next == ops.end() || fencesOf(needs[*next]) != fencesOf(own)) return;
        bucket.place = needs[*next];
        bucket.isFirst = true;
      });
}

// What is gathered of a bucket goes when that one's updates are made, whatever comes behind.
void Planner::joinFollowing(Operations &ops) {
  Keys numberOf, follows;
  for (auto [index, bucket] : llvm::enumerate(plan.late))
    for (Operation *op : bucket.members) numberOf[op] = unsigned(index + 1);
  for (Operation &op : block) {
    unsigned own = 0;
    dist::visitRead(&op, [&](Operation *def) { own = std::max({own, follows.lookup(def), numberOf.lookup(def)}); });
    if (own) follows[&op] = own;
  }
  llvm::stable_sort(ops, [&](Operation *a, Operation *b) { return follows[a] < follows[b]; });
  joinLate(
      ops, [&](Operation *a, Operation *b) { return follows[a] != follows[b]; },
      [&](Bucket &bucket) {
        bucket.place = unsigned(plan.prompt.size());
        bucket.follows = follows[bucket.members.back()];
      });
}

void Planner::joinLate(ArrayRef<Operation *> ops, llvm::function_ref<bool(Operation *, Operation *)> areApart,
                       llvm::function_ref<void(Bucket &)> finish) {
  SmallVector<Bucket> open, closed;
  auto close = [&](Bucket *bucket) {
    finish(*bucket);
    closed.push_back(std::move(*bucket));
    open.erase(bucket);
  };
  for (Operation *op : ops) {
    while (!open.empty() && areApart(open.front().members.back(), op)) close(&open.front());
    Bucket *own = llvm::find_if(open, [&](Bucket &bucket) { return isOfOneKind(bucket.members.front(), op); });
    if (own != open.end() && !takes(*own, op)) {
      close(own);
      own = open.end();
    }
    if (own == open.end()) own = &open.emplace_back();
    add(*own, op);
  }
  while (!open.empty()) close(&open.front());
  // As their last members come.
  llvm::DenseMap<Operation *, size_t> rank;
  for (auto [index, op] : llvm::enumerate(ops)) rank[op] = index;
  llvm::sort(closed, [&](const Bucket &a, const Bucket &b) { return rank[a.members.back()] < rank[b.members.back()]; });
  for (Bucket &bucket : closed) plan.late.push_back(std::move(bucket));
}

} // namespace

BucketPlan planBuckets(Block &block, int64_t most, bool isOfOneRank) { return Planner(block, most, isOfOneRank).run(); }

} // namespace sprig
