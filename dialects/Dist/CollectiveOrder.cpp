#include "dialects/Dist/CollectiveOrder.h"
#include "dialects/Dist/Dist.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace sprig::ir::dist {

using Operations = llvm::DenseSet<Operation *>;

bool meetsRanks(Operation *op) { return collectiveUse(op) && !isa<PartOp>(op); }
bool mayBeLate(Operation *op) { return isa<AllReduceOp, ReduceScatterOp, AllGatherOp>(op); }

static bool isSaidLate(Operation *op) { return mayBeLate(op) && op->hasAttr(kLateAttr); }

SmallVector<Operation *> collectivesOf(Block &block) {
  SmallVector<Operation *> collectives;
  for (Operation &op : block)
    if (meetsRanks(&op)) collectives.push_back(&op);
  return collectives;
}

void visitRead(Operation *op, llvm::function_ref<void(Operation *)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *def = operand.getDefiningOp()) visit(def);
  });
}

// What needs the result of a collective that is said to be late.
static Operations followLate(Block &block) {
  Operations follow;
  for (Operation &op : block) {
    bool follows = false;
    visitRead(&op, [&](Operation *def) { follows |= isSaidLate(def) || follow.contains(def); });
    if (follows) follow.insert(&op);
  }
  return follow;
}

Operations lateCollectives(Block &block, bool isOfOneRank) {
  Operations late, feeds; // what feeds a collective that may not wait
  bool isSaid = llvm::any_of(block, [](Operation &op) { return isSaidLate(&op); });
  if (isOfOneRank && !isSaid) return late;
  Operations follow = followLate(block);
  bool isFenced = false; // what needs a late one would come behind
  for (Operation &op : llvm::reverse(block)) {
    bool feedsOne = feeds.contains(&op), isCollective = meetsRanks(&op);
    bool isCandidate = isSaid ? isSaidLate(&op) : mayBeLate(&op);
    bool isLate = isCandidate && !feedsOne && !(isFenced && follow.contains(&op));
    if (isLate) late.insert(&op);
    isFenced |= isCollective && op.getNumResults() == 0;
    bool isWaitedFor = isCollective && !(isLate && isSaid);
    if (isWaitedFor || feedsOne) visitRead(&op, [&](Operation *def) { feeds.insert(def); });
  }
  return late;
}

// Late ones at the block's end that need others: no collective behind them stays where it is.
static Operations tailOf(ArrayRef<Operation *> collectives, Block &block) {
  Operations tail, follow = followLate(block);
  for (Operation *op : llvm::reverse(collectives)) {
    if (!isSaidLate(op) || !follow.contains(op)) break;
    tail.insert(op);
  }
  return tail;
}

// The collectives that one which is not in the tail needs a result of.
static Operations neededCollectives(Block &block, const Operations &tail) {
  Operations needed, feeds;
  for (Operation &op : llvm::reverse(block)) {
    bool isCollective = meetsRanks(&op), feedsOne = feeds.contains(&op);
    if (isCollective && feedsOne) needed.insert(&op);
    if ((isCollective && !tail.contains(&op)) || feedsOne) visitRead(&op, [&](Operation *def) { feeds.insert(def); });
  }
  return needed;
}

Operations waitLate(Block &block) {
  Operations moved;
  SmallVector<Operation *> collectives = collectivesOf(block);
  if (collectives.empty()) return moved;
  Operations tail = tailOf(collectives, block), needed = neededCollectives(block, tail);
  llvm::DenseMap<Operation *, unsigned> behind; // the number of the last of these collectives that an operation needs
  SmallVector<SmallVector<Operation *>> late;
  unsigned reached = 0; // by the tail, which keeps its order
  for (Operation &op : block.without_terminator()) {
    bool isCollective = meetsRanks(&op), isOfTail = tail.contains(&op);
    unsigned last = isOfTail ? reached : 0;
    if (!isCollective || isOfTail) visitRead(&op, [&](Operation *def) { last = std::max(last, behind.lookup(def)); });
    if (isOfTail) reached = last;
    if (last) late[last - 1].push_back(&op);
    if (!isCollective) {
      if (last) behind[&op] = last;
    } else if (!needed.contains(&op)) {
      late.emplace_back();
      behind[&op] = unsigned(late.size());
    }
  }
  for (ArrayRef<Operation *> ops : late)
    for (Operation *op : ops) {
      op->moveBefore(block.getTerminator());
      moved.insert(op);
    }
  return moved;
}

SmallVector<unsigned> turnedOrder(unsigned count, llvm::function_ref<bool(unsigned)> mayTurn, uint64_t turn) {
  SmallVector<unsigned> order, tail;
  uint64_t asTheyCome = 0;
  for (unsigned index = 0; index < count; ++index)
    (mayTurn(index) && asTheyCome++ >= turn ? tail : order).push_back(index);
  order.append(tail.rbegin(), tail.rend());
  return order;
}

} // namespace sprig::ir::dist
