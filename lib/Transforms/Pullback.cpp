#include "lib/Transforms/Pullback.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/Kernel/KernelDialect.h"
#include "dialects/NN/GradientMarks.h"
#include "dialects/NN/LocationMarks.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/VjpExpression.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace sprig;

static bool isZero(Value value) {
  DenseElementsAttr splat = ir::splatOf(value);
  return splat && isa<FloatType>(splat.getElementType()) && splat.getSplatValue<APFloat>().isZero();
}

namespace {
class Differentiation {
public:
  Differentiation(OpBuilder &b, ValueRange outputs, ValueRange cotangents, ValueRange targets)
      : b(b), outputs(outputs), seeds(cotangents), targets(targets) {}

  FailureOr<SmallVector<Value>> run();

private:
  LogicalResult decomposeOnTheWay();
  void findDependents();
  LogicalResult visit(Operation *op);
  LogicalResult visitActivation(Operation *op, Value x);
  bool dependsOnTargets(Operation *op) const {
    return !op->hasTrait<NoGradient>() &&
           llvm::any_of(op->getOperands(), [&](Value v) { return dependents.contains(v); });
  }
  Value zeros(Value like) { return ir::createSplat(b, like.getLoc(), like.getType(), 0); }
  bool isActivation(Operation *composite, ValueRange values, Operation *before);
  /// The sum of what has come to a value, in the order of coming; null if nothing has.
  Value cotangentOf(Value value);

  OpBuilder &b;
  SmallVector<Value> outputs, seeds, targets;
  llvm::DenseSet<Value> dependents; // real values that depend on a target, and the targets
  SmallVector<Operation *> way;     // operations that give some of them, in program order
  llvm::DenseMap<Value, SmallVector<Value>> contributions;
  // Decomposed functions of one value, element by element: the operation that gives the result, and the value.
  llvm::DenseMap<Operation *, Value> activations;
  llvm::DenseSet<Operation *> insideActivations;
};
} // namespace

void Differentiation::findDependents() {
  dependents.clear();
  way.clear();
  for (Value target : targets) dependents.insert(target);
  Block *block = b.getInsertionBlock();
  for (auto it = block->begin(); it != b.getInsertionPoint(); ++it) {
    if (!dependsOnTargets(&*it)) continue;
    for (Value result : it->getResults())
      if (isReal(result)) dependents.insert(result);
    way.push_back(&*it);
  }
}

// Composites without a product of their own, until none is left on the way from targets to outputs.
LogicalResult Differentiation::decomposeOnTheWay() {
  for (bool changed = true; changed;) {
    changed = false;
    findDependents();
    llvm::DenseSet<Operation *> needed;
    SmallVector<Value> open(outputs);
    while (!open.empty()) {
      Operation *op = open.pop_back_val().getDefiningOp();
      if (op && needed.insert(op).second) llvm::append_range(open, op->getOperands());
    }
    llvm::erase_if(way, [&](Operation *op) { return !needed.contains(op); });
    for (Operation *op : way) {
      auto composite = dyn_cast<DecomposableOpInterface>(op);
      if (!composite || isa<DifferentiableOpInterface>(op)) continue;
      OpBuilder at(op);
      Operation *before = op->getPrevNode();
      op->setAttr(ir::kMarkedAttr, at.getUnitAttr());
      auto values = composite.decompose(at);
      if (failed(values)) return op->emitOpError("does not decompose");
      if (isActivation(op, *values, before)) activations[values->front().getDefiningOp()] = op->getOperand(0);
      for (SmallVector<Value> *list : {&outputs, &seeds, &targets})
        for (Value &value : *list)
          if (value.getDefiningOp() == op) value = (*values)[cast<OpResult>(value).getResultNumber()];
      op->replaceAllUsesWith(*values);
      op->erase();
      changed = true;
    }
  }
  return success();
}

// A function of one value, element by element, is differentiated as a whole: its derivative is an expression of forward
// values alone, computed with the function itself and kept as one value, where the steps of the chain rule would keep
// several.
bool Differentiation::isActivation(Operation *composite, ValueRange values, Operation *before) {
  if (composite->getNumOperands() != 1 || values.size() != 1 || values[0].getType() != composite->getOperandTypes()[0])
    return false;
  SmallVector<Operation *> parts;
  for (Operation *op = composite->getPrevNode(); op != before; op = op->getPrevNode()) {
    if (!isa<ElementwiseOpInterface, ir::ConstantOp, ir::StopGradientOp, ir::CustomGradientOp>(op)) return false;
    parts.push_back(op);
  }
  if (parts.empty() || values[0].getDefiningOp() != parts.front()) return false;
  insideActivations.insert(parts.begin() + 1, parts.end());
  return true;
}

// Parts of a tensor that were sliced from it side by side come back as parts with zeros around them: joined instead of
// added, where they fill it.
static Value joined(OpBuilder &b, Location loc, ArrayRef<Value> parts) {
  SmallVector<std::pair<int64_t, Value>> places;
  int64_t axis = -1, filled = 0;
  auto type = cast<RankedTensorType>(parts.front().getType());
  for (Value part : parts) {
    auto pad = part.getDefiningOp<ir::PadOp>();
    if (!pad || pad.getMode() != ir::PadMode::constant || !isZero(pad.getValue())) return {};
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (pad.getLow()[d] == 0 && pad.getHigh()[d] == 0) continue;
      if (axis >= 0 && axis != d) return {};
      axis = d;
    }
    if (axis < 0) return {};
    places.push_back({pad.getLow()[axis], pad.getOperand()});
  }
  llvm::sort(places, [](auto &x, auto &y) { return x.first < y.first; });
  SmallVector<Value> pieces;
  for (auto [start, piece] : places) {
    if (start != filled) return {};
    filled += cast<RankedTensorType>(piece.getType()).getDimSize(axis);
    pieces.push_back(piece);
  }
  return filled == type.getDimSize(axis) ? ir::ConcatOp::create(b, loc, pieces, axis).getResult() : Value();
}

Value Differentiation::cotangentOf(Value value) {
  auto found = contributions.find(value);
  if (found == contributions.end()) return {};
  SmallVector<Value> &parts = found->second;
  Operation *forward = value.getDefiningOp();
  Location loc = forward ? ir::gradientLoc(forward) : value.getLoc();
  Value sum = parts.size() > 1 ? joined(b, loc, parts) : Value();
  if (sum) {
    parts.assign({sum});
    return sum;
  }
  sum = parts.front();
  for (Value part : ArrayRef<Value>(parts).drop_front()) sum = ir::AddOp::create(b, loc, sum, part);
  parts.assign({sum});
  return sum;
}

LogicalResult Differentiation::visitActivation(Operation *op, Value x) {
  Value y = op->getResult(0), cotangent = cotangentOf(y);
  if (!cotangent) return success();
  Value one = ir::createSplat(b, op->getLoc(), y.getType(), 1);
  auto derivative = pullback(b, y, one, x);
  if (failed(derivative)) return failure();
  contributions[x].push_back(ir::MulOp::create(b, ir::gradientLoc(op), cotangent, derivative->front()));
  return success();
}

LogicalResult Differentiation::visit(Operation *op) {
  if (insideActivations.contains(op)) return success();
  if (auto found = activations.find(op); found != activations.end()) return visitActivation(op, found->second);
  SmallVector<Value> cotangents;
  SmallVector<bool> reached, needed;
  for (Value result : op->getResults()) {
    Value cotangent = isReal(result) ? cotangentOf(result) : Value();
    reached.push_back(bool(cotangent));
    cotangents.push_back(cotangent);
  }
  if (!llvm::is_contained(reached, true)) return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitOpError(isa_and_nonnull<kernel::KernelDialect>(op->getDialect())
                               ? "cannot be differentiated: it is made by rewrites that come after differentiation"
                               : "has no gradient");
  for (auto [cotangent, result] : llvm::zip_equal(cotangents, op->getResults()))
    if (!cotangent && isReal(result)) cotangent = zeros(result);
  for (Value operand : op->getOperands()) needed.push_back(dependents.contains(operand));
  ir::VjpExpression vjp(b, op, cotangents, reached, needed, pullback);
  if (failed(differentiable.buildVjp(vjp))) return failure();
  for (auto [operand, gradient] : llvm::zip_equal(op->getOperands(), vjp.given())) {
    if (!gradient || !dependents.contains(operand)) continue;
    assert(gradient.getType() == operand.getType() && "a cotangent has the type of what it belongs to");
    contributions[operand].push_back(gradient);
  }
  return success();
}

FailureOr<SmallVector<Value>> Differentiation::run() {
  if (failed(decomposeOnTheWay())) return failure();
  for (auto [output, seed] : llvm::zip_equal(outputs, seeds)) contributions[output].push_back(seed);
  for (Operation *op : llvm::reverse(way))
    if (failed(visit(op))) return failure();
  SmallVector<Value> gradients;
  for (Value target : targets) {
    Value gradient = cotangentOf(target);
    gradients.push_back(gradient ? gradient : zeros(target));
  }
  return gradients;
}

FailureOr<SmallVector<Value>> sprig::pullback(OpBuilder &builder, ValueRange outputs, ValueRange cotangents,
                                              ValueRange targets) {
  return Differentiation(builder, outputs, cotangents, targets).run();
}
