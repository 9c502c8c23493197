#include "lib/Transforms/Pushforward.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNYield.h"
#include "lib/Transforms/Pullback.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace sprig;

/// The operations of a block in front of `end` whose real results depend on one of `active`, which grows by these.
static SmallVector<Operation *> dependents(Block &block, Block::iterator end, llvm::DenseSet<Value> &active) {
  SmallVector<Operation *> way;
  for (Operation &op : llvm::make_range(block.begin(), end)) {
    if (op.hasTrait<NoGradient>() || op.hasTrait<OpTrait::IsTerminator>()) continue;
    if (llvm::none_of(op.getOperands(), [&](Value operand) { return active.contains(operand); })) continue;
    for (Value result : op.getResults())
      if (isReal(result)) active.insert(result);
    way.push_back(&op);
  }
  return way;
}

bool sprig::passesLoop(OpBuilder &b, ValueRange outputs, ValueRange targets) {
  llvm::DenseSet<Value> active(targets.begin(), targets.end());
  SmallVector<Operation *> way = dependents(*b.getInsertionBlock(), b.getInsertionPoint(), active);
  llvm::DenseSet<Operation *> needed;
  SmallVector<Value> open(outputs);
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && needed.insert(op).second) llvm::append_range(open, op->getOperands());
  }
  return llvm::any_of(way, [&](Operation *op) { return isa<ir::WhileOp>(op) && needed.contains(op); });
}

namespace {
class Pushforward {
public:
  Pushforward(OpBuilder &b, ValueRange targets, ValueRange tangents) : b(b) {
    for (auto [target, tangent] : llvm::zip_equal(targets, tangents)) tangentOf[target] = tangent;
  }

  LogicalResult run() {
    llvm::DenseSet<Value> active;
    for (auto &[target, tangent] : tangentOf) active.insert(target);
    for (Operation *op : dependents(*b.getInsertionBlock(), b.getInsertionPoint(), active)) {
      auto loop = dyn_cast<ir::WhileOp>(op);
      if (failed(loop ? visitLoop(loop) : visit(op))) return failure();
    }
    return success();
  }

  Value tangent(Value value) {
    Value known = tangentOf.lookup(value);
    return known ? known : ir::createSplat(b, value.getLoc(), value.getType(), 0);
  }

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(ir::WhileOp loop);

  OpBuilder &b;
  llvm::DenseMap<Value, Value> tangentOf;
};
} // namespace

// The derivative by its cotangent of the operation's own vector-Jacobian product. Its operands get other names for
// that, so that nothing else lies between them and its results.
LogicalResult Pushforward::visit(Operation *op) {
  IRMapping mapping;
  SmallVector<Value> names, tangents, results, cotangents;
  for (Value operand : op->getOperands()) {
    if (!isReal(operand) || !tangentOf.count(operand) || mapping.contains(operand)) continue;
    Value name = ir::StopGradientOp::create(b, op->getLoc(), operand);
    mapping.map(operand, name);
    names.push_back(name);
    tangents.push_back(tangentOf[operand]);
  }
  if (names.empty()) return success();
  Operation *clone = b.clone(*op, mapping);
  SmallVector<unsigned> numbers;
  for (OpResult result : clone->getResults()) {
    if (!isReal(result)) continue;
    numbers.push_back(result.getResultNumber());
    results.push_back(result);
    cotangents.push_back(ir::createSplat(b, op->getLoc(), result.getType(), 0));
  }
  auto products = pullback(b, results, cotangents, names);
  if (failed(products)) return failure();
  auto derivatives = pullback(b, *products, tangents, cotangents);
  if (failed(derivatives)) return failure();
  for (auto [number, derivative] : llvm::zip_equal(numbers, *derivatives))
    tangentOf[op->getResult(number)] = derivative;
  for (Value name : names) {
    auto alias = name.getDefiningOp<ir::StopGradientOp>();
    alias.getResult().replaceAllUsesWith(alias.getOperand());
    alias.erase();
  }
  return success();
}

// A loop that carries tangents beside values: those of what depends on a target in some step.
LogicalResult Pushforward::visitLoop(ir::WhileOp loop) {
  unsigned carried = loop.getNumCarried(), count = loop->getNumOperands();
  Block &step = loop.getStep();
  llvm::DenseSet<Value> active;
  for (unsigned i = 0; i < count; ++i)
    if (tangentOf.count(loop->getOperand(i))) active.insert(step.getArgument(i));
  for (size_t before = 0; before != active.size();) {
    before = active.size();
    dependents(step, step.end(), active);
    for (unsigned i = 0; i < carried; ++i)
      if (active.contains(step.getTerminator()->getOperand(i))) active.insert(step.getArgument(i));
  }
  SmallVector<unsigned> order; // of the loop's operands that have a tangent
  SmallVector<Value> initial(loop.getInitial()), invariants(loop.getInvariants());
  for (unsigned i = 0; i < count; ++i)
    if (active.contains(step.getArgument(i))) {
      order.push_back(i);
      (i < carried ? initial : invariants).push_back(tangent(loop->getOperand(i)));
    }
  unsigned moved = initial.size() - carried; // tangents among what is carried
  Location loc = loop.getLoc();
  auto wide = ir::WhileOp::create(b, loc, ValueRange(initial).getTypes(), initial, invariants, loop.getMaxStepsAttr());
  for (unsigned index = 0; index < 2; ++index) {
    OpBuilder::InsertionGuard guard(b);
    Block &from = loop->getRegion(index).front();
    Block *to = b.createBlock(&wide->getRegion(index));
    for (Type type : wide->getOperandTypes()) to->addArgument(type, loc);
    IRMapping mapping;
    for (unsigned i = 0; i < count; ++i) mapping.map(from.getArgument(i), to->getArgument(i < carried ? i : i + moved));
    for (Operation &op : from.without_terminator()) b.clone(op, mapping);
    SmallVector<Value> yielded =
        llvm::map_to_vector(from.getTerminator()->getOperands(), [&](Value value) { return mapping.lookup(value); });
    if (index == 1) {
      SmallVector<Value> targets, tangents;
      for (auto [k, i] : llvm::enumerate(order)) {
        targets.push_back(mapping.lookup(from.getArgument(i)));
        tangents.push_back(to->getArgument(k < moved ? carried + k : count + k));
      }
      Pushforward inner(b, targets, tangents);
      if (failed(inner.run())) return failure();
      for (unsigned i : ArrayRef(order).take_front(moved)) yielded.push_back(inner.tangent(yielded[i]));
    }
    ir::YieldOp::create(b, loc, yielded);
  }
  for (unsigned k = 0; k < moved; ++k) tangentOf[loop.getResult(order[k])] = wide.getResult(carried + k);
  return success();
}

FailureOr<SmallVector<Value>> sprig::pushforward(OpBuilder &b, ValueRange outputs, ValueRange targets,
                                                 ValueRange tangents) {
  Pushforward way(b, targets, tangents);
  if (failed(way.run())) return failure();
  return llvm::map_to_vector(outputs, [&](Value output) { return way.tangent(output); });
}
