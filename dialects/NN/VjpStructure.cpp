// Vector-Jacobian products of operations that hold functions: parts with a gradient of their own, parts that are
// computed again, decompositions. Scans: VjpScan.cpp.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNGradient.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sprig::ir {

LogicalResult VjpExpression::giveByDecomposition(DecomposableOpInterface op, ArrayRef<unsigned> operands) {
  auto copy = cast<DecomposableOpInterface>(b.clone(*op));
  SmallVector<Value> targets;
  for (unsigned i : operands) {
    targets.push_back(AfterOp::create(b, loc, op->getOperand(i), cotangent()));
    copy->setOperand(i, targets.back());
  }
  Values values = copy.decompose(b);
  if (failed(values)) return op.emitOpError("does not decompose");
  copy->erase();
  auto found = pullback(b, *values, cotangents, targets);
  if (failed(found)) return failure();
  for (auto [i, gradient] : llvm::zip_equal(operands, *found))
    if (needs(i)) give(i, gradient);
  return success();
}

LogicalResult AfterOp::buildVjp(VjpExpression &e) {
  if (e.needs(0)) e.give(0, e.cotangent());
  return success();
}

/// The values that a block yields, with its arguments in place of the given values.
static SmallVector<Value> inlined(OpBuilder &b, Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator()) b.clone(op, mapping);
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

LogicalResult CustomGradientOp::buildVjp(VjpExpression &e) {
  SmallVector<Value> arguments(getOperands());
  llvm::append_range(arguments, getResults());
  // Results that are no floats have no cotangents; the region gets zeros.
  for (unsigned i = 0; i < getNumResults(); ++i)
    arguments.push_back(e.cotangent(i) ? e.cotangent(i) : e.zeros(getResult(i).getType()));
  for (auto [i, gradient] : llvm::enumerate(inlined(e.b, getBackward().front(), arguments)))
    if (e.needs(i)) e.give(i, gradient);
  return success();
}

// The region runs again, after the cotangents: else it would be merged with its first run and nothing be saved.
LogicalResult CheckpointOp::buildVjp(VjpExpression &e) {
  SmallVector<Value> cotangents, arguments, targets, outputs;
  for (auto [i, result] : llvm::enumerate(getResults()))
    if (isReal(result) && e.isReached(i)) cotangents.push_back(e.cotangent(i));
  for (Value operand : getOperands()) arguments.push_back(AfterOp::create(e.b, e.loc, operand, cotangents));
  SmallVector<Value> values = inlined(e.b, getBody().front(), arguments);
  for (auto [i, value] : llvm::enumerate(values))
    if (isReal(value) && e.isReached(i)) outputs.push_back(value);
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (e.needs(i)) targets.push_back(argument);
  auto gradients = e.pullback(e.b, outputs, cotangents, targets);
  if (failed(gradients)) return failure();
  e.giveNeeded(*gradients);
  return success();
}

} // namespace sprig::ir
