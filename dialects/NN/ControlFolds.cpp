// Canonical forms of nn.cond and nn.while: a known condition leaves no branch, what regions do not use is not passed
// in, constants are known inside, and a value that no step changes is not carried.
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/UnusedResults.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace sprig::ir {

/// The value of a constant flag.
static std::optional<bool> knownFlag(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  std::string reason;
  if (!constant || !isReadableConstant(constant.getValue(), reason)) return std::nullopt;
  return ConstantView(constant.getValue()).asDouble(0) != 0;
}

/// A copy of a constant at the start of a block in place of one of its arguments.
static void sink(PatternRewriter &rewriter, ConstantOp constant, BlockArgument argument) {
  if (argument.use_empty()) return;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(argument.getOwner());
  rewriter.replaceAllUsesWith(argument, rewriter.clone(*constant)->getResult(0));
}

static LogicalResult inlineKnownBranch(CondOp op, PatternRewriter &rewriter) {
  auto flag = knownFlag(op.getPredicate());
  if (!flag) return failure();
  Block &block = *flag ? op.getThen() : op.getElse();
  Operation *yield = block.getTerminator();
  rewriter.inlineBlockBefore(&block, op, op.getInputs());
  SmallVector<Value> results(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.replaceOp(op, results);
  return success();
}

/// Inputs that no region uses, that are constant, or that come twice.
static LogicalResult dropCondInputs(CondOp op, PatternRewriter &rewriter) {
  llvm::SmallDenseMap<Value, unsigned> seen;
  llvm::BitVector dropped(op.getInputs().size());
  rewriter.startOpModification(op);
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    auto [first, fresh] = seen.try_emplace(input, i);
    for (Block *block : {&op.getThen(), &op.getElse()}) {
      BlockArgument argument = block->getArgument(i);
      if (auto constant = input.getDefiningOp<ConstantOp>())
        sink(rewriter, constant, argument);
      else if (!fresh)
        rewriter.replaceAllUsesWith(argument, block->getArgument(first->second));
    }
    if (op.getThen().getArgument(i).use_empty() && op.getElse().getArgument(i).use_empty()) dropped.set(i);
  }
  if (dropped.none()) {
    rewriter.cancelOpModification(op);
    return failure();
  }
  for (Block *block : {&op.getThen(), &op.getElse()}) block->eraseArguments(dropped);
  for (unsigned i = dropped.size(); i-- > 0;)
    if (dropped.test(i)) op.getInputsMutable().erase(i);
  rewriter.finalizeOpModification(op);
  return success();
}

/// Results that nothing uses.
static LogicalResult dropCondResults(CondOp op, PatternRewriter &rewriter) {
  llvm::BitVector unused(op.getNumResults());
  for (OpResult result : op.getResults())
    if (result.use_empty()) unused.set(result.getResultNumber());
  if (unused.none() || unused.all()) return failure(); // without any use the operation itself is dead
  dropResults(rewriter, op, unused);
  return success();
}

/// A condition that is false from the start.
static LogicalResult skipLoop(WhileOp op, PatternRewriter &rewriter) {
  if (knownFlag(op.getTest().getTerminator()->getOperand(0)) != false) return failure();
  rewriter.replaceOp(op, op.getInitial());
  return success();
}

/// Invariants that no region uses or that are constant.
static LogicalResult dropInvariants(WhileOp op, PatternRewriter &rewriter) {
  unsigned carried = op.getNumCarried();
  llvm::BitVector dropped(op->getNumOperands());
  rewriter.startOpModification(op);
  for (auto [i, invariant] : llvm::enumerate(op.getInvariants())) {
    if (auto constant = invariant.getDefiningOp<ConstantOp>())
      for (Block *block : {&op.getTest(), &op.getStep()}) sink(rewriter, constant, block->getArgument(carried + i));
    if (op.getTest().getArgument(carried + i).use_empty() && op.getStep().getArgument(carried + i).use_empty())
      dropped.set(carried + i);
  }
  if (dropped.none()) {
    rewriter.cancelOpModification(op);
    return failure();
  }
  for (Block *block : {&op.getTest(), &op.getStep()}) block->eraseArguments(dropped);
  for (unsigned i = dropped.size(); i-- > carried;)
    if (dropped.test(i)) op.getInvariantsMutable().erase(i - carried);
  rewriter.finalizeOpModification(op);
  return success();
}

/// A carried value that each step yields as it is: an invariant, whose last value is its first.
static LogicalResult stopCarrying(WhileOp op, PatternRewriter &rewriter) {
  unsigned carried = op.getNumCarried();
  Operation *yield = op.getStep().getTerminator();
  llvm::BitVector unchanged(carried);
  for (unsigned i = 0; i < carried; ++i)
    if (yield->getOperand(i) == op.getStep().getArgument(i)) unchanged.set(i);
  if (unchanged.none() || unchanged.all()) return failure(); // a loop carries something
  // The new order of operands: what is still carried, the invariants, what was carried.
  SmallVector<Value> initial, invariants(op.getInvariants());
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < carried; ++i)
    if (!unchanged.test(i)) order.push_back(i), initial.push_back(op.getInitial()[i]);
  for (unsigned i = carried; i < op->getNumOperands(); ++i) order.push_back(i);
  for (unsigned i : unchanged.set_bits()) order.push_back(i), invariants.push_back(op.getInitial()[i]);
  auto smaller =
      WhileOp::create(rewriter, op.getLoc(), ValueRange(initial).getTypes(), initial, invariants, op.getMaxStepsAttr());
  for (unsigned index = 0; index < 2; ++index) {
    Block &from = op->getRegion(index).front();
    Block *to = rewriter.createBlock(&smaller->getRegion(index));
    SmallVector<Value> arguments(op->getNumOperands());
    for (unsigned i : order)
      arguments[i] = to->addArgument(from.getArgument(i).getType(), from.getArgument(i).getLoc());
    rewriter.inlineBlockBefore(&from, to, to->end(), arguments);
  }
  Operation *yields = smaller.getStep().getTerminator();
  rewriter.modifyOpInPlace(yields, [&] { yields->eraseOperands(unchanged); });
  SmallVector<Value> results;
  unsigned next = 0;
  for (unsigned i = 0; i < carried; ++i)
    results.push_back(unchanged.test(i) ? Value(op.getInitial()[i]) : Value(smaller.getResult(next++)));
  rewriter.replaceOp(op, results);
  return success();
}

void CondOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(inlineKnownBranch).add(dropCondInputs).add(dropCondResults);
}

void WhileOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(skipLoop).add(dropInvariants).add(stopCarrying);
}

} // namespace sprig::ir
