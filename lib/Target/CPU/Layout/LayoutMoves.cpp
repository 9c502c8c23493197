// Transposes in the layout pass: they move down, cancel, become reshapes and vanish into weights.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/StridedView.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/ReduceOrder.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "lib/Target/CPU/Layout/LayoutPatterns.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

static SmallVector<int64_t> permuted(ArrayRef<int64_t> values, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result;
  for (int64_t d : permutation) result.push_back(values[d]);
  return result;
}

namespace {

struct ComposeTransposes : OpRewritePattern<ir::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::TransposeOp op, PatternRewriter &b) const override {
    ArrayRef<int64_t> permutation = op.getPermutation();
    Value operand = op.getOperand();
    if (auto inner = operand.getDefiningOp<ir::TransposeOp>()) {
      b.replaceOp(op, transposed(b, op.getLoc(), inner.getOperand(), permuted(inner.getPermutation(), permutation)));
      return success();
    }
    ArrayRef<int64_t> shape = tensorOf(operand).getShape();
    bool constant = operand.getDefiningOp<ir::ConstantOp>();
    if (!ir::keepsOrder(shape, permutation) && !constant) return failure();
    b.replaceOp(op, transposed(b, op.getLoc(), operand, permutation));
    return success();
  }
};

/// The shape of a value with leading dimensions of size 1, so that it has as many as a permutation.
SmallVector<int64_t> paddedShape(Value value, size_t rank) {
  ArrayRef<int64_t> shape = tensorOf(value).getShape();
  SmallVector<int64_t> padded(rank - shape.size(), 1);
  llvm::append_range(padded, shape);
  return padded;
}

bool isTransposeBy(Value value, ArrayRef<int64_t> permutation) {
  auto transpose = value.getDefiningOp<ir::TransposeOp>();
  return transpose && transpose.getPermutation() == permutation;
}

/// A value for one reader, computed element by element of what has few dimensions, as a product of two vectors has.
Operation *broadcastingOp(Value value) {
  Operation *op = value.getDefiningOp();
  return op && value.hasOneUse() && op->getNumResults() == 1 && isa<ElementwiseOpInterface>(op) ? op : nullptr;
}

/// Whether an operand can be had in the order before `permutation` without moving elements at run time.
bool canUntranspose(Value value, ArrayRef<int64_t> permutation) {
  if (tensorOf(value).getRank() > static_cast<int64_t>(permutation.size())) return false;
  if (auto broadcast = value.getDefiningOp<ir::BroadcastOp>())
    if (ir::keepsOrder(paddedShape(broadcast.getOperand(), permutation.size()), inverse(permutation))) return true;
  if (Operation *op = broadcastingOp(value);
      op && llvm::all_of(op->getOperands(), [&](Value operand) {
        return ir::keepsOrder(paddedShape(operand, permutation.size()), inverse(permutation));
      }))
    return true;
  return isTransposeBy(value, permutation) || value.getDefiningOp<ir::ConstantOp>() ||
         ir::keepsOrder(paddedShape(value, permutation.size()), inverse(permutation));
}

/// The operand in the order before `permutation`; canUntranspose holds.
Value untransposed(PatternRewriter &b, Location loc, Value value, ArrayRef<int64_t> permutation) {
  if (isTransposeBy(value, permutation)) return value.getDefiningOp<ir::TransposeOp>().getOperand();
  SmallVector<int64_t> shape = paddedShape(value, permutation.size()), back = inverse(permutation);
  if (ir::keepsOrder(shape, back)) return reshaped(b, loc, value, permuted(shape, back));
  if (auto broadcast = value.getDefiningOp<ir::BroadcastOp>()) { // what is repeated moves, if no element of it does
    SmallVector<int64_t> own = paddedShape(broadcast.getOperand(), permutation.size());
    if (ir::keepsOrder(own, back))
      return ir::BroadcastOp::create(b, loc, tensorOf(value).clone(permuted(shape, back)),
                                     reshaped(b, loc, broadcast.getOperand(), permuted(own, back)));
  }
  if (Operation *op = broadcastingOp(value)) { // computed again, of what stands in order
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      SmallVector<int64_t> own = paddedShape(operand, permutation.size());
      operands.push_back(reshaped(b, loc, operand, permuted(own, back)));
    }
    Operation *moved = b.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(tensorOf(value).clone(permuted(shape, back)));
    return moved->getResult(0);
  }
  return transposed(b, loc, reshaped(b, loc, value, shape), back);
}

bool canUntransposeAll(Operation *op, ArrayRef<int64_t> permutation) {
  return llvm::all_of(op->getOperands(), [&](Value operand) { return canUntranspose(operand, permutation); });
}

/// The permutation of the first operand that is a transpose of the given rank.
std::optional<SmallVector<int64_t>> operandPermutation(Operation *op, int64_t rank) {
  for (Value operand : op->getOperands())
    if (auto transpose = operand.getDefiningOp<ir::TransposeOp>();
        transpose && static_cast<int64_t>(transpose.getPermutation().size()) == rank)
      return SmallVector<int64_t>(transpose.getPermutation());
  return std::nullopt;
}

struct SinkThroughElementwise : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOpInterface op, PatternRewriter &b) const override {
    if (op->getNumResults() != 1) return failure();
    RankedTensorType type = tensorOf(op->getResult(0));
    auto permutation = operandPermutation(op, type.getRank());
    if (!permutation || !canUntransposeAll(op, *permutation)) return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) operands.push_back(untransposed(b, op.getLoc(), operand, *permutation));
    Operation *moved = b.clone(*op.getOperation());
    moved->setOperands(operands);
    moved->getResult(0).setType(
        RankedTensorType::get(permuted(type.getShape(), inverse(*permutation)), type.getElementType()));
    b.replaceOp(op, transposed(b, op.getLoc(), moved->getResult(0), *permutation));
    return success();
  }
};

/// f(reshape(transpose x)) is reshape(f(transpose x)) for f of one operand: the transpose can then pass f.
struct HoistUnaryAboveReshape : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOpInterface op, PatternRewriter &b) const override {
    if (op->getNumOperands() != 1 || op->getNumResults() != 1) return failure();
    auto reshape = op->getOperand(0).getDefiningOp<ir::ReshapeOp>();
    if (!reshape || !reshape.getOperand().getDefiningOp<ir::TransposeOp>()) return failure();
    RankedTensorType type = tensorOf(op->getResult(0));
    Operation *moved = b.clone(*op.getOperation());
    moved->setOperand(0, reshape.getOperand());
    moved->getResult(0).setType(
        RankedTensorType::get(tensorOf(reshape.getOperand()).getShape(), type.getElementType()));
    b.replaceOp(op, reshaped(b, op.getLoc(), moved->getResult(0), type.getShape()));
    return success();
  }
};

/// So that what is computed again is computed in the layout, and with that in the order, of the first time.
struct SinkThroughAfter : OpRewritePattern<ir::AfterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::AfterOp op, PatternRewriter &b) const override {
    auto transpose = op.getOperand().getDefiningOp<ir::TransposeOp>();
    if (!transpose) return failure();
    Value after = ir::AfterOp::create(b, op.getLoc(), transpose.getOperand(), op.getDependencies());
    b.replaceOp(op, transposed(b, op.getLoc(), after, transpose.getPermutation()));
    return success();
  }
};

struct SinkThroughConcat : OpRewritePattern<ir::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::ConcatOp op, PatternRewriter &b) const override {
    RankedTensorType type = tensorOf(op.getResult());
    auto permutation = operandPermutation(op, type.getRank());
    if (!permutation || !canUntransposeAll(op, *permutation)) return failure();
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) operands.push_back(untransposed(b, op.getLoc(), operand, *permutation));
    int64_t axis = op.getAxis() < 0 ? op.getAxis() + type.getRank() : op.getAxis();
    Value moved = ir::ConcatOp::create(b, op.getLoc(), operands, (*permutation)[axis]);
    b.replaceOp(op, transposed(b, op.getLoc(), moved, *permutation));
    return success();
  }
};

struct SinkThroughPad : OpRewritePattern<ir::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::PadOp op, PatternRewriter &b) const override {
    auto transpose = op.getOperand().getDefiningOp<ir::TransposeOp>();
    if (!transpose) return failure();
    SmallVector<int64_t> back = inverse(transpose.getPermutation());
    Value moved = ir::PadOp::create(b, op.getLoc(), op.getMode(), transpose.getOperand(), op.getValue(),
                                    permuted(op.getLow(), back), permuted(op.getHigh(), back));
    b.replaceOp(op, transposed(b, op.getLoc(), moved, transpose.getPermutation()));
    return success();
  }
};

struct SinkThroughSlice : OpRewritePattern<ir::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::SliceOp op, PatternRewriter &b) const override {
    auto transpose = op.getOperand().getDefiningOp<ir::TransposeOp>();
    if (!transpose) return failure();
    SmallVector<int64_t> back = inverse(transpose.getPermutation());
    Value moved = ir::SliceOp::create(b, op.getLoc(), transpose.getOperand(), permuted(op.getStarts(), back),
                                      permuted(op.getSizes(), back), permuted(op.getSteps(), back));
    b.replaceOp(op, transposed(b, op.getLoc(), moved, transpose.getPermutation()));
    return success();
  }
};

/// A reduction keeps the order of its elements; one that would lose it stays where it is, but where that may change.
struct SinkThroughReduce : OpRewritePattern<ir::ReduceOp> {
  SinkThroughReduce(MLIRContext *context, bool strict) : OpRewritePattern(context), strict(strict) {}
  bool strict;

  LogicalResult matchAndRewrite(ir::ReduceOp op, PatternRewriter &b) const override {
    auto transpose = op.getOperand().getDefiningOp<ir::TransposeOp>();
    if (!transpose) return failure();
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    int64_t rank = permutation.size();
    SmallVector<int64_t> axes(op.getAxes());
    llvm::sort(axes);
    for (int64_t &axis : axes) axis = permutation[axis];
    bool partials = !axes.empty() && ir::hasPartials(op), free = axes.empty() || ir::isOrderFree(op);
    bool keepsOrder = free || (llvm::is_sorted(axes) && (partials || axes.back() != rank - 1));
    if (!keepsOrder && strict) return failure();
    // Of one element: all in the first accumulator, which is one chain.
    partials &=
        !free && keepsOrder && axes.back() != rank - 1 && tensorOf(transpose.getOperand()).getDimSize(axes.back()) > 1;
    llvm::sort(axes);
    auto moved = ir::ReduceOp::create(b, op.getLoc(), op.getKind(), transpose.getOperand(), axes, op.getKeepDims());
    if (partials) moved->setAttr(ir::kPartialsAttr, b.getUnitAttr());
    SmallVector<int64_t> order(permutation);
    if (!op.getKeepDims()) { // the dimensions that stay, counted among themselves
      order.clear();
      SmallVector<int64_t> place(rank, -1);
      for (int64_t d = 0, next = 0; d < rank; ++d)
        if (!llvm::is_contained(axes, d)) place[d] = next++;
      for (int64_t d : permutation)
        if (place[d] >= 0) order.push_back(place[d]);
    }
    b.replaceOp(op, transposed(b, op.getLoc(), moved, order));
    return success();
  }
};

/// A matrix product of flattened features takes them in the order in which they lie: the rows of its constant weight
/// move instead.
struct AbsorbFlatten : OpRewritePattern<ir::MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::MatmulOp op, PatternRewriter &b) const override {
    auto reshape = op.getLhs().getDefiningOp<ir::ReshapeOp>();
    auto transpose = reshape ? reshape.getOperand().getDefiningOp<ir::TransposeOp>() : ir::TransposeOp();
    if (!transpose || !op.getRhs().getDefiningOp<ir::ConstantOp>() || op.getTransposeLhs()) return failure();
    ArrayRef<int64_t> flat = tensorOf(reshape.getResult()).getShape(),
                      shape = tensorOf(transpose.getResult()).getShape();
    ArrayRef<int64_t> permutation = transpose.getPermutation(), weight = tensorOf(op.getRhs()).getShape();
    if (flat.size() != 2 || weight.size() != 2 || permutation.empty() || permutation[0] != 0 || flat[0] != shape[0])
      return failure();
    Location loc = op.getLoc();
    ArrayRef<int64_t> features = shape.drop_front();
    SmallVector<int64_t> order, back = inverse(permutation);
    for (int64_t d : ArrayRef<int64_t>(back).drop_front()) order.push_back(d - 1);
    SmallVector<int64_t> split(features);
    if (op.getTransposeRhs()) {
      split.insert(split.begin(), weight[0]);
      for (int64_t &d : order) ++d;
      order.insert(order.begin(), 0);
    } else {
      split.push_back(weight[1]);
      order.push_back(order.size());
    }
    Value rhs = reshaped(b, loc, transposed(b, loc, reshaped(b, loc, op.getRhs(), split), order), weight);
    Value lhs = reshaped(b, loc, transpose.getOperand(), flat);
    b.replaceOpWithNewOp<ir::MatmulOp>(op, lhs, rhs, /*transpose_lhs=*/false, op.getTransposeRhs(),
                                       op.getAccumulatorAttr());
    return success();
  }
};

/// Whether a permutation swaps the last two dimensions and leaves the rest.
bool swapsMatrix(ArrayRef<int64_t> permutation) {
  int64_t rank = permutation.size();
  if (rank < 2 || permutation[rank - 1] != rank - 2 || permutation[rank - 2] != rank - 1) return false;
  return llvm::equal(permutation.drop_back(2), llvm::seq<int64_t>(rank - 2));
}

bool isConstantMatrix(Value value) { return value.getDefiningOp<ir::ConstantOp>() && tensorOf(value).getRank() == 2; }

struct AbsorbMatrixTranspose : OpRewritePattern<ir::MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::MatmulOp op, PatternRewriter &b) const override {
    auto source = [](Value value) -> Value {
      auto transpose = value.getDefiningOp<ir::TransposeOp>();
      return transpose && swapsMatrix(transpose.getPermutation()) ? transpose.getOperand() : Value();
    };
    Value lhs = source(op.getLhs()), rhs = source(op.getRhs());
    if (lhs && isInvariant(op.getRhs())) lhs = {}; // packed products read rows
    if (!lhs && !rhs) return failure();
    b.replaceOpWithNewOp<ir::MatmulOp>(op, lhs ? lhs : op.getLhs(), rhs ? rhs : op.getRhs(),
                                       op.getTransposeLhs() != static_cast<bool>(lhs),
                                       op.getTransposeRhs() != static_cast<bool>(rhs), op.getAccumulatorAttr());
    return success();
  }
};

/// Whether all that a value goes into ends, through elementwise operations with constants and products with constant
/// matrices, in transposes that swap the last two dimensions.
bool leadsToSwaps(Value value) {
  constexpr size_t kMost = 64;
  SetVector<Value> region;
  region.insert(value);
  for (size_t i = 0; i < region.size(); ++i) {
    if (region.size() > kMost || region[i].use_empty()) return false;
    for (OpOperand &use : region[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto transpose = dyn_cast<ir::TransposeOp>(user); transpose && swapsMatrix(transpose.getPermutation()))
        continue;
      if (auto product = dyn_cast<ir::MatmulOp>(user)) {
        if (use.getOperandNumber() != 0 || product.getTransposeLhs() || !isConstantMatrix(product.getRhs()))
          return false;
      } else if (!isa<ElementwiseOpInterface>(user) || user->getNumResults() != 1 ||
                 tensorOf(user->getResult(0)).getRank() != tensorOf(value).getRank()) {
        return false;
      }
      region.insert(user->getResult(0));
    }
  }
  auto fits = [&](Value operand) { return region.contains(operand) || operand.getDefiningOp<ir::ConstantOp>(); };
  return llvm::all_of(region, [&](Value member) {
    return member == value || llvm::all_of(member.getDefiningOp()->getOperands(), fits);
  });
}

/// A product along the other dimension (a mixer's tokens): transpose(x) W is transpose(W' x), which needs no copy of x,
/// where the transpose then meets its inverse.
struct SwapProduct : OpRewritePattern<ir::MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::MatmulOp op, PatternRewriter &b) const override {
    auto transpose = op.getLhs().getDefiningOp<ir::TransposeOp>();
    if (!transpose || !swapsMatrix(transpose.getPermutation()) || op.getTransposeLhs()) return failure();
    if (op.getAccumulator()) return failure(); // the sides are of different types
    constexpr int64_t kFewestColumns = 8;      // narrower rows leave most of a vector empty
    if (!isConstantMatrix(op.getRhs()) || tensorOf(transpose.getOperand()).getShape().back() < kFewestColumns ||
        !leadsToSwaps(op.getResult()))
      return failure();
    Value weight = op.getRhs();
    if (!op.getTransposeRhs()) weight = transposed(b, op.getLoc(), weight, {1, 0});
    Value product = ir::MatmulOp::create(b, op.getLoc(), weight, transpose.getOperand(), /*transpose_lhs=*/false,
                                         /*transpose_rhs=*/false);
    b.replaceOp(op, transposed(b, op.getLoc(), product, transpose.getPermutation()));
    return success();
  }
};

} // namespace

void sprig::cpu::populateTransposeMovePatterns(RewritePatternSet &patterns, bool strict) {
  patterns.add<ComposeTransposes, SinkThroughElementwise, SinkThroughAfter, HoistUnaryAboveReshape, SinkThroughConcat,
               SinkThroughPad, SinkThroughSlice, AbsorbMatrixTranspose, SwapProduct>(patterns.getContext());
  patterns.add<SinkThroughReduce>(patterns.getContext(), strict);
}

void sprig::cpu::populateFlattenPatterns(RewritePatternSet &patterns) {
  patterns.add<AbsorbFlatten>(patterns.getContext());
}
