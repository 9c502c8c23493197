#include "dialects/Dist/CollectiveOrder.h"
#include "dialects/Dist/Dist.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace sprig::ir::dist {

SmallVector<Operation *> collectivesOf(Block &block) {
  SmallVector<Operation *> collectives;
  for (Operation &op : block)
    if (collectiveUse(&op)) collectives.push_back(&op);
  return collectives;
}

void visitRead(Operation *op, llvm::function_ref<void(Operation *)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *def = operand.getDefiningOp()) visit(def);
  });
}

llvm::DenseSet<Operation *> neededCollectives(Block &block) {
  llvm::DenseSet<Operation *> needed, feeds; // what feeds a collective
  for (Operation &op : llvm::reverse(block)) {
    bool isCollective = collectiveUse(&op).has_value(), feedsOne = feeds.contains(&op);
    if (isCollective && feedsOne) needed.insert(&op);
    if (isCollective || feedsOne) visitRead(&op, [&](Operation *def) { feeds.insert(def); });
  }
  return needed;
}

llvm::DenseSet<Operation *> waitLate(Block &block) {
  llvm::DenseSet<Operation *> moved;
  SmallVector<Operation *> collectives = collectivesOf(block);
  if (collectives.empty()) return moved;
  llvm::DenseSet<Operation *> needed = neededCollectives(block);
  llvm::DenseMap<Operation *, unsigned> behind; // the number of the last of these collectives that an operation needs
  SmallVector<SmallVector<Operation *>> late;
  for (Operation &op : block.without_terminator()) {
    if (collectiveUse(&op)) {
      if (needed.contains(&op)) continue;
      late.emplace_back();
      behind[&op] = unsigned(late.size());
      continue;
    }
    unsigned last = 0;
    visitRead(&op, [&](Operation *def) { last = std::max(last, behind.lookup(def)); });
    if (!last) continue;
    behind[&op] = last;
    late[last - 1].push_back(&op);
  }
  for (ArrayRef<Operation *> ops : late)
    for (Operation *op : ops) {
      op->moveBefore(block.getTerminator());
      moved.insert(op);
    }
  return moved;
}

} // namespace sprig::ir::dist
