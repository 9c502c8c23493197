// Vector-Jacobian products of nn.cond and nn.while. That of a cond is a cond on the same predicate: each region
// computes its own part again and then its gradient, so that nothing but operands is kept from the forward pass.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNYield.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sprig::ir {

LogicalResult CondOp::buildVjp(VjpExpression &e) {
  // Inputs of the gradient: those of the cond, then the cotangents of the results that something depends on.
  SmallVector<Value> inputs(getInputs());
  SmallVector<unsigned> reached, wanted;
  for (auto [i, result] : llvm::enumerate(getResults()))
    if (isReal(result) && e.isReached(i)) {
      reached.push_back(i);
      inputs.push_back(e.cotangent(i));
    }
  SmallVector<Type> types;
  for (auto [i, input] : llvm::enumerate(getInputs()))
    if (isReal(input) && e.needs(i + 1)) {
      wanted.push_back(i);
      types.push_back(input.getType());
    }
  if (wanted.empty()) return success();
  auto gradient = CondOp::create(e.b, e.loc, types, getPredicate(), inputs);
  for (unsigned index = 0; index < 2; ++index) {
    Block &from = (*this)->getRegion(index).front();
    OpBuilder::InsertionGuard guard(e.b);
    Block *block = e.b.createBlock(&gradient->getRegion(index));
    for (Value input : inputs) block->addArgument(input.getType(), e.loc);
    IRMapping mapping;
    mapping.map(from.getArguments(), block->getArguments().take_front(getInputs().size()));
    for (Operation &op : from.without_terminator()) e.b.clone(op, mapping);
    SmallVector<Value> outputs, targets;
    for (unsigned i : reached) outputs.push_back(mapping.lookup(from.getTerminator()->getOperand(i)));
    for (unsigned i : wanted) targets.push_back(block->getArgument(i));
    auto gradients = e.pullback(e.b, outputs, block->getArguments().drop_front(getInputs().size()), targets);
    if (failed(gradients)) return failure();
    YieldOp::create(e.b, e.loc, *gradients);
  }
  for (auto [i, value] : llvm::zip_equal(wanted, gradient.getResults())) e.give(i + 1, value);
  return success();
}

LogicalResult WhileOp::buildVjp(VjpExpression &) {
  return emitOpError(
      "has no gradient in reverse mode, since only its run tells the number of its steps; nn.scan, which "
      "runs a fixed number of steps, has one");
}

} // namespace sprig::ir
