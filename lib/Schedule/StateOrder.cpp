#include "lib/Schedule/StateOrder.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "dialects/NN/NNState.h"
#include "dialects/Kernel/InOrder.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Schedule/MemoryOrder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <queue>

using namespace mlir;
using namespace sprig;

namespace {
class StateOrder {
public:
  explicit StateOrder(Block &block) : block(block) {}
  void run();

private:
  void addEdges(ir::SetParamOp set);
  /// Everything that has to run after an operation.
  llvm::DenseSet<Operation *> reachableFrom(Operation *op) const;
  void sort();
  /// Where an update comes when it comes as early as it can: after what it reads and what must read before it.
  int64_t earliest(Operation *update, const llvm::DenseMap<Operation *, unsigned> &position) const;

  Block &block;
  llvm::SetVector<Operation *> updates;
  llvm::DenseSet<Operation *> late; // wait for other ranks
  llvm::DenseMap<Attribute, SmallVector<ir::GetParamOp>> reads;
  LaterOperations later; // edges that are no uses
};
} // namespace

/// The dispatch that computes a value; null where none does.
static Operation *producerOf(Value value) {
  Operation *op = storageOf(value).getDefiningOp();
  return isa_and_nonnull<kernel::DispatchOp>(op) ? op : nullptr;
}

/// The dispatches that read the bytes of a value, by this or another name.
static void collectReaders(Value value, SmallVectorImpl<Operation *> &readers) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<kernel::DispatchOp>(user)) readers.push_back(user);
    if (Value shared = sharedBy(use)) collectReaders(shared, readers);
  }
}

llvm::DenseSet<Operation *> StateOrder::reachableFrom(Operation *op) const {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> open{op};
  while (!open.empty()) {
    Operation *next = open.pop_back_val();
    auto visit = [&](Operation *user) {
      if (seen.insert(user).second) open.push_back(user);
    };
    for (Operation *user : next->getUsers()) visit(user);
    if (auto found = later.find(next); found != later.end())
      for (Operation *user : found->second) visit(user);
  }
  return seen;
}

void StateOrder::addEdges(ir::SetParamOp set) {
  Operation *producer = producerOf(set.getValue());
  if (!producer) return;
  updates.insert(producer);
  SmallVector<Operation *> readers;
  for (ir::GetParamOp read : reads.lookup(set.getParamAttr())) collectReaders(read.getResult(), readers);
  llvm::DenseSet<Operation *> behind = reachableFrom(producer);
  for (Operation *reader : readers)
    if (reader != producer && !behind.contains(reader)) later[reader].push_back(producer);
}

int64_t StateOrder::earliest(Operation *update, const llvm::DenseMap<Operation *, unsigned> &position) const {
  int64_t behind = -1;
  auto see = [&](Operation *op) {
    if (auto found = position.find(op); found != position.end()) behind = std::max<int64_t>(behind, found->second);
  };
  for (Value operand : update->getOperands())
    if (Operation *op = operand.getDefiningOp()) see(op);
  for (auto &[op, followers] : later)
    if (llvm::is_contained(followers, update)) see(op);
  return behind;
}

// Of all operations that may come next, the first of the old order; updates as early as they can, so that gradients and
// activations need not wait for them, but for those that wait for other ranks.
void StateOrder::sort() {
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> position, waitsFor;
  for (Operation &op : block.without_terminator()) {
    position[&op] = ops.size();
    ops.push_back(&op);
  }
  auto forEachLater = [&](Operation *op, auto body) {
    for (Operation *user : op->getUsers())
      if (position.contains(user)) body(user);
    if (auto found = later.find(op); found != later.end()) llvm::for_each(found->second, body);
  };
  for (Operation *op : ops) forEachLater(op, [&](Operation *user) { ++waitsFor[user]; });
  // After the operation at place p is 2 p + 1; ties go by the old order.
  using Place = std::pair<int64_t, unsigned>;
  auto placeOf = [&](Operation *op) -> Place {
    unsigned own = position[op];
    return {updates.contains(op) && !late.contains(op) ? 2 * earliest(op, position) + 1 : 2 * int64_t(own), own};
  };
  std::priority_queue<Place, std::vector<Place>, std::greater<>> ready;
  for (Operation *op : ops)
    if (!waitsFor.contains(op)) ready.push(placeOf(op));
  while (!ready.empty()) {
    Operation *op = ops[ready.top().second];
    ready.pop();
    op->moveBefore(block.getTerminator());
    forEachLater(op, [&](Operation *user) {
      if (--waitsFor[user] == 0) ready.push(placeOf(user));
    });
  }
}

void StateOrder::run() {
  late = ir::dist::waitLate(block);
  // All ranks have one order of collectives, whatever else they have.
  SmallVector<Operation *> collectives = ir::dist::collectivesOf(block);
  for (size_t i = 1; i < collectives.size(); ++i) later[collectives[i - 1]].push_back(collectives[i]);
  SmallVector<ir::SetParamOp> sets(block.getOps<ir::SetParamOp>());
  if (!sets.empty()) {
    for (auto read : block.getOps<ir::GetParamOp>()) reads[read.getParamAttr()].push_back(read);
    for (ir::SetParamOp set : sets) addEdges(set);
    sort();
  }
  // Ranks with other shares of a batch would find other orders, and wait for each other: there the program's order is
  // left only for parts that are to follow each other.
  if (collectives.empty() || block.getParentOp()->hasAttr(kernel::kInOrderAttr)) orderForMemory(block, later, late);
}

void sprig::readStateBeforeUpdates(Block &block) { StateOrder(block).run(); }
