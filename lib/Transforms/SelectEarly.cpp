// The select-early pass: computes of what is read at one element along an axis that element alone.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNDialect.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/Select.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace sprig {
#define GEN_PASS_DEF_SELECTEARLY
#include "lib/Transforms/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;
using namespace sprig::ir;

namespace {
/// Of each operand the axis along which one element is enough for one element of the result along `axis`; none: all of
/// it is needed.
using OperandAxes = SmallVector<std::optional<int64_t>>;

/// The axis of an operand that broadcasts to the result from the right.
std::optional<int64_t> broadcastAxis(Value operand, Value result, int64_t axis) {
  int64_t own = axis - (tensorOf(result).getRank() - tensorOf(operand).getRank());
  return own >= 0 && tensorOf(operand).getDimSize(own) > 1 ? std::optional(own) : std::nullopt;
}

std::optional<OperandAxes> axesOfOperands(Operation *op, int64_t axis) {
  Value result = op->getResult(0);
  auto broadcast = [&] {
    return llvm::map_to_vector(op->getOperands(), [&](Value operand) { return broadcastAxis(operand, result, axis); });
  };
  OperandAxes first(op->getNumOperands());
  if (!first.empty()) first[0] = axis;
  if (auto product = dyn_cast<MatmulOp>(op)) {
    int64_t rank = tensorOf(result).getRank(), left = tensorOf(product.getLhs()).getRank(),
            right = tensorOf(product.getRhs()).getRank();
    if (axis < rank - 2) return broadcast();
    if (axis == rank - 2) return OperandAxes{product.getTransposeLhs() ? left - 1 : left - 2, std::nullopt};
    return OperandAxes{std::nullopt, product.getTransposeRhs() ? right - 2 : right - 1};
  }
  if (isa<LinearOp>(op)) return axis < tensorOf(result).getRank() - 1 ? std::optional(first) : std::nullopt;
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return int64_t(softmax.getAxis()) != axis ? std::optional(first) : std::nullopt;
  if (auto norm = dyn_cast<LayerNormOp>(op))
    return axis < int64_t(norm.getAxis()) ? std::optional(broadcast()) : std::nullopt;
  if (auto norm = dyn_cast<RmsNormOp>(op))
    return axis < int64_t(norm.getAxis()) ? std::optional(broadcast()) : std::nullopt;
  if (auto joined = dyn_cast<ConcatOp>(op))
    return int64_t(joined.getAxis()) != axis ? std::optional(OperandAxes(op->getNumOperands(), axis)) : std::nullopt;
  if (isa<GeluOp, SiluOp, MishOp, SoftplusOp, SoftsignOp, HardSwishOp, EluOp, CeluOp, SeluOp, LeakyReluOp,
          HardSigmoidOp>(op))
    return first;
  // What is checked at run time is checked everywhere.
  bool isElementwise = isa<ElementwiseOpInterface, BroadcastOp>(op) && isPure(op) && !isCheckedAtRunTime(op);
  return isElementwise ? std::optional(broadcast()) : std::nullopt;
}

/// One element of what is computed, which nothing else reads.
struct SelectOfComputed : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    Value whole = op.getOperand();
    Operation *origin = whole.getDefiningOp();
    std::optional<int64_t> axis = selectedAxis(op);
    if (!origin || !axis || origin->getNumResults() != 1) return failure();
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

private:
  static Value ofElements(PatternRewriter &rewriter, Operation *origin, int64_t axis, int64_t index) {
    std::optional<OperandAxes> axes = axesOfOperands(origin, axis);
    if (!axes) return {};
    SmallVector<Value> operands;
    for (auto [operand, own] : llvm::zip_equal(origin->getOperands(), *axes))
      operands.push_back(own ? select(rewriter, origin->getLoc(), operand, *own, index) : operand);
    Operation *one = rewriter.clone(*origin);
    RankedTensorType type = tensorOf(origin->getResult(0));
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = 1;
    rewriter.modifyOpInPlace(one, [&] {
      one->setOperands(operands);
      one->getResult(0).setType(type.clone(shape));
    });
    return one->getResult(0);
  }

  /// Of what is joined along the axis, the operand that has the element.
  static Value ofConcat(PatternRewriter &rewriter, Operation *origin, int64_t axis, int64_t index) {
    auto joined = dyn_cast<ConcatOp>(origin);
    if (!joined || int64_t(joined.getAxis()) != axis) return {};
    for (Value operand : joined.getOperands()) {
      int64_t size = tensorOf(operand).getDimSize(axis);
      if (index < size) return size == 1 ? operand : select(rewriter, origin->getLoc(), operand, axis, index);
      index -= size;
    }
    return {};
  }

  /// Of a slice that takes several elements. (Two selections may stay in either order.)
  static Value ofPart(PatternRewriter &rewriter, Operation *origin, int64_t axis, int64_t index) {
    auto part = dyn_cast<SliceOp>(origin);
    if (!part || selectedAxis(part)) return {};
    Value one = select(rewriter, origin->getLoc(), part.getOperand(), axis,
                       part.getStarts()[axis] + index * part.getSteps()[axis]);
    SmallVector<int64_t> starts(part.getStarts()), sizes(part.getSizes()), steps(part.getSteps());
    starts[axis] = 0, sizes[axis] = 1, steps[axis] = 1;
    return SliceOp::create(rewriter, origin->getLoc(), one, starts, sizes, steps);
  }
};

struct SelectEarly : sprig::impl::SelectEarlyBase<SelectEarly> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SelectOfComputed>(&getContext());
    SliceOp::getCanonicalizationPatterns(patterns, &getContext());
    // Each rewrite moves a slice up; one may have to wait for another's.
    GreedyRewriteConfig config;
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) signalPassFailure();
  }
};
} // namespace
