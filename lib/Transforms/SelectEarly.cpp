// The select-early pass: computes of what is read at one element along an axis that element alone.
#define GEN_PASS_DEF_SELECTEARLY
#include "lib/Transforms/Passes.h"
#include "dialects/Interfaces/DecomposeCopy.h"
#include "dialects/Interfaces/DimensionRule.h"
#include "dialects/Interfaces/IndexRanges.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNDialect.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/ReduceOrder.h"
#include "dialects/NN/Select.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::ir;

namespace {
/// Calls `test` on the primitives that an operation stands for; false where one fails it or there is no expression.
bool allPrimitives(Operation *op, llvm::function_ref<bool(Operation *)> test) {
  if (!isa<DecomposableOpInterface>(op)) return test(op);
  Block block;
  if (failed(decomposeCopy(op, block))) return false;
  return llvm::all_of(block, [&](Operation &each) { return allPrimitives(&each, test); });
}

/// Whether a primitive may fail on what data says, which is checked everywhere, and not only where something is read.
bool mayFail(Operation *op) {
  if (isCheckedAtRunTime(op)) return true;
  auto limited = dyn_cast<IndexRangeOpInterface>(op);
  if (!limited) return false;
  IndexRanges ranges;
  limited.narrowOperands(ranges);
  return llvm::any_of(op->getOperands(), [&](Value operand) { return !ranges.of(operand).empty(); });
}

/// Whether a primitive gives an element the same bits however many elements it computes. All sizes of a convolution
/// choose its algorithm.
bool keepsBits(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op)) return hasOrderOfAxes(reduce);
  return fusionKind(op) != FusionKind::contraction || op->hasTrait<MatrixProduct>();
}

/// Windows are computed whole: most slide over what a convolution gives, which would lose its epilogue to a slice.
bool mayBePart(Operation *primitive) {
  return isPure(primitive) && primitive->getNumRegions() == 0 && fusionKind(primitive) != FusionKind::generator &&
         !mayFail(primitive) && keepsBits(primitive);
}

/// The dimension of a value that is a factor; none where the value does not have the factor. Fails where a dimension
/// consists of more, and where several have it.
FailureOr<std::optional<size_t>> dimOf(unsigned factor, const DimensionRule::Map &map) {
  std::optional<size_t> found;
  for (auto [dim, factors] : llvm::enumerate(map)) {
    if (!llvm::is_contained(factors, factor)) continue;
    if (found || factors.size() != 1) return failure();
    found = dim;
  }
  return found;
}

Value ofElements(PatternRewriter &rewriter, Operation *origin, int64_t axis, int64_t index) {
  DimensionRule rule = dimensionRuleOf(origin);
  ArrayRef<unsigned> wanted = rule.results[0][size_t(axis)];
  if (wanted.size() != 1 || rule.factors[wanted.front()].kind != FactorKind::passes) return {};
  unsigned factor = wanted.front();
  SmallVector<std::optional<size_t>> dims;
  for (const DimensionRule::Map &map : rule.operands) {
    FailureOr<std::optional<size_t>> own = dimOf(factor, map);
    if (failed(own)) return {};
    dims.push_back(*own);
  }
  if (failed(dimOf(factor, rule.results[0])) || !allPrimitives(origin, mayBePart)) return {};
  SmallVector<Value> operands;
  for (auto [operand, dim] : llvm::zip_equal(origin->getOperands(), dims))
    operands.push_back(dim ? select(rewriter, origin->getLoc(), operand, int64_t(*dim), index) : operand);
  SmallVector<int64_t> sizes = llvm::map_to_vector(rule.factors, [](const Factor &each) { return each.size; });
  sizes[factor] = 1;
  return buildLocal(origin, rewriter, operands, sizes)->getResult(0);
}

/// Of what is joined along the axis, the operand that has the element.
Value ofConcat(PatternRewriter &rewriter, Operation *origin, int64_t axis, int64_t index) {
  auto joined = dyn_cast<ConcatOp>(origin);
  if (!joined || int64_t(joined.getAxis()) != axis) return {};
  for (Value operand : joined.getOperands()) {
    int64_t size = tensorOf(operand).getDimSize(axis);
    if (index < size) return size == 1 ? operand : select(rewriter, origin->getLoc(), operand, axis, index);
    index -= size;
  }
  return {};
}

/// Of a slice that takes several elements along the axis.
Value ofPart(PatternRewriter &rewriter, Operation *origin, int64_t axis, int64_t index) {
  auto part = dyn_cast<SliceOp>(origin);
  if (!part) return {};
  Value one = select(rewriter, origin->getLoc(), part.getOperand(), axis,
                     part.getStarts()[axis] + index * part.getSteps()[axis]);
  SmallVector<int64_t> starts(part.getStarts()), sizes(part.getSizes()), steps(part.getSteps());
  starts[axis] = 0, sizes[axis] = 1, steps[axis] = 1;
  return SliceOp::create(rewriter, origin->getLoc(), one, starts, sizes, steps);
}

/// One element of what is computed, which nothing else reads.
LogicalResult selectOfComputed(SliceOp op, PatternRewriter &rewriter) {
  Value whole = op.getOperand();
  Operation *origin = whole.getDefiningOp();
  std::optional<int64_t> axis = selectedAxis(op);
  if (!origin || !axis || origin->getNumResults() != 1) return failure();
  // Two selections may stay in either order.
  if (auto other = dyn_cast<SliceOp>(origin); other && selectedAxis(other)) return failure();
  SmallVector<Operation *> alike;
  for (Operation *user : whole.getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice.getStarts() != op.getStarts() || slice.getSizes() != op.getSizes()) return failure();
    if (!llvm::is_contained(alike, user)) alike.push_back(user);
  }
  int64_t index = op.getStarts()[*axis];
  rewriter.setInsertionPoint(origin);
  Value one = ofConcat(rewriter, origin, *axis, index);
  if (!one) one = ofPart(rewriter, origin, *axis, index);
  if (!one) one = ofElements(rewriter, origin, *axis, index);
  if (!one) return failure();
  for (Operation *user : alike) rewriter.replaceOp(user, one);
  return success();
}

struct SelectEarly : sprig::impl::SelectEarlyBase<SelectEarly> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(selectOfComputed);
    SliceOp::getCanonicalizationPatterns(patterns, &getContext());
    // Each rewrite moves a slice up; one may have to wait for another's.
    GreedyRewriteConfig config;
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) signalPassFailure();
  }
};
} // namespace
