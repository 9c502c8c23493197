#include "lib/Schedule/MemoryOrder.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Interfaces/Touch.h"
#include "dialects/NN/NNState.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <queue>

using namespace mlir;
using namespace sprig;

// Another order is taken where this one needs so many times its memory: the bytes are an estimate, which knows nothing
// of results that are written over operands.
static constexpr double kWorthyFactor = 1.5;

namespace {
/// An operation of the block, with the values that need memory: numbers of Values.
struct Node {
  Operation *op;
  SmallVector<unsigned> made, read;
  SmallVector<unsigned> before; // nodes that come first
  unsigned followers = 0;       // nodes that come later
};

struct MadeValue {
  int64_t bytes;
  SmallVector<unsigned> readers; // nodes
};

class MemoryOrder {
public:
  MemoryOrder(Block &block, const LaterOperations &later);

  int64_t peak(ArrayRef<unsigned> order) const;
  /// The nodes in an order that is found from its end: what brings back no more bytes than it makes comes as late as it
  /// can; of the rest, the last of the old order.
  SmallVector<unsigned> lateOrder(const DenseSet<Operation *> &last) const;
  void apply(ArrayRef<unsigned> order, Block &block) const {
    for (unsigned node : order) nodes[node].op->moveBefore(block.getTerminator());
  }
  size_t size() const { return nodes.size(); }

private:
  void addValues(Operation &op, Block &block);

  SmallVector<Node> nodes;
  SmallVector<MadeValue> values;
  DenseMap<Operation *, unsigned> nodeOf;
  DenseMap<Value, unsigned> valueOf;
};
} // namespace

/// Whether a value is returned or becomes a state, and so is written there, under this name or another.
static bool isKept(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    if (Value shared = sharedBy(use)) return isKept(shared);
    return isa<ir::SetParamOp>(use.getOwner()) || use.getOwner()->hasTrait<OpTrait::IsTerminator>();
  });
}

void MemoryOrder::addValues(Operation &op, Block &block) {
  if (sharesStorage(&op) || isa<ir::GetParamOp>(op) || op.hasTrait<OpTrait::ConstantLike>()) return;
  for (Value result : op.getResults()) {
    if (!isa<RankedTensorType>(result.getType()) || isKept(result)) continue;
    valueOf[result] = values.size();
    nodes[nodeOf[&op]].made.push_back(values.size());
    values.push_back({wholeOf(result.getType()).bytes, {}});
  }
}

MemoryOrder::MemoryOrder(Block &block, const LaterOperations &later) {
  for (Operation &op : block.without_terminator()) {
    nodeOf[&op] = nodes.size();
    nodes.push_back({&op, {}, {}, {}});
    addValues(op, block);
  }
  auto addEdge = [&](unsigned first, unsigned second) {
    if (first == second) return;
    nodes[second].before.push_back(first);
    ++nodes[first].followers;
  };
  for (auto [index, node] : llvm::enumerate(nodes)) {
    unsigned reader = index;
    for (Value operand : node.op->getOperands()) {
      if (auto def = nodeOf.find(operand.getDefiningOp()); def != nodeOf.end()) addEdge(def->second, reader);
      auto value = valueOf.find(storageOf(operand));
      if (sharesStorage(node.op) || value == valueOf.end()) continue;
      SmallVector<unsigned> &readers = values[value->second].readers;
      if (!readers.empty() && readers.back() == reader) continue;
      node.read.push_back(value->second);
      readers.push_back(reader);
    }
  }
  for (auto &[op, followers] : later)
    for (Operation *follower : followers) addEdge(nodeOf.lookup(op), nodeOf.lookup(follower));
}

int64_t MemoryOrder::peak(ArrayRef<unsigned> order) const {
  SmallVector<unsigned> unread =
      llvm::map_to_vector(values, [](auto &value) { return unsigned(value.readers.size()); });
  int64_t alive = 0, most = 0;
  for (unsigned index : order) {
    for (unsigned value : nodes[index].made) alive += values[value].bytes;
    most = std::max(most, alive);
    for (unsigned value : nodes[index].made)
      if (!unread[value]) alive -= values[value].bytes;
    for (unsigned value : nodes[index].read)
      if (--unread[value] == 0) alive -= values[value].bytes;
  }
  return most;
}

SmallVector<unsigned> MemoryOrder::lateOrder(const DenseSet<Operation *> &last) const {
  SmallVector<unsigned> followers = llvm::map_to_vector(nodes, [](auto &node) { return node.followers; });
  SmallVector<unsigned> order;
  llvm::BitVector isPlaced(nodes.size()), isAlive(values.size());
  std::priority_queue<unsigned> shrinking, others; // ready ones; those of the former are among the latter, too
  auto offer = [&](unsigned index) {
    const Node &node = nodes[index];
    int64_t more = 0;
    for (unsigned value : node.read) more += isAlive[value] ? 0 : values[value].bytes;
    for (unsigned value : node.made) more -= isAlive[value] ? values[value].bytes : 0;
    if (more <= 0) shrinking.push(index);
  };
  auto place = [&](unsigned index) {
    isPlaced.set(index);
    order.push_back(index);
    for (unsigned value : nodes[index].made) isAlive.reset(value);
    for (unsigned value : nodes[index].read) {
      if (isAlive[value]) continue;
      isAlive.set(value);
      for (unsigned reader : values[value].readers)
        if (!isPlaced[reader] && !followers[reader]) offer(reader);
    }
    for (unsigned earlier : nodes[index].before) {
      if (--followers[earlier]) continue;
      others.push(earlier);
      offer(earlier);
    }
  };
  for (unsigned index = unsigned(nodes.size()); index-- > 0 && last.contains(nodes[index].op);) place(index);
  for (auto [index, node] : llvm::enumerate(nodes)) {
    if (node.followers || isPlaced[index]) continue;
    others.push(index);
    offer(index);
  }
  while (order.size() < nodes.size()) {
    auto &from = shrinking.empty() ? others : shrinking;
    if (from.empty()) return {}; // a cycle, which is somebody else's to report
    unsigned index = from.top();
    from.pop();
    if (!isPlaced[index]) place(index);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

void sprig::orderForMemory(Block &block, const LaterOperations &later, const DenseSet<Operation *> &last) {
  MemoryOrder memory(block, later);
  SmallVector<unsigned> asIs = llvm::to_vector(llvm::seq<unsigned>(0, memory.size())), found = memory.lateOrder(last);
  if (found.empty()) return;
  int64_t before = memory.peak(asIs), after = memory.peak(found);
  if (double(before) <= kWorthyFactor * double(after)) return;
  memory.apply(found, block);
  remark::passed(block.getParentOp()->getLoc(), remark::RemarkOpts::name("order").category("schedule"))
      << ("operations come as late as their readers allow: " + std::to_string(after) + " bytes alive at once, not " +
          std::to_string(before));
}
