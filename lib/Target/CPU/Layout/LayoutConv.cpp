// Convolutions and pools in the layout pass: channels last, and transposed convolutions by plain ones.
#include "dialects/Interfaces/TensorTypes.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CPU/Layout/LayoutPatterns.h"
#include "dialects/NN/Constants.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

SmallVector<int64_t> sprig::cpu::channelsToLast(int64_t rank) {
  SmallVector<int64_t> permutation{0};
  for (int64_t d = 2; d < rank; ++d) permutation.push_back(d);
  permutation.push_back(1);
  return permutation;
}

SmallVector<int64_t> sprig::cpu::channelsToSecond(int64_t rank) {
  SmallVector<int64_t> permutation{0, rank - 1};
  for (int64_t d = 1; d < rank - 1; ++d) permutation.push_back(d);
  return permutation;
}

SmallVector<int64_t> sprig::cpu::inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation)) result[from] = to;
  return result;
}

namespace {

struct ConvChannelsLast : OpRewritePattern<ir::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::ConvOp op, PatternRewriter &b) const override {
    if (op.getChannelsLast()) return failure();
    int64_t rank = tensorOf(op.getInput()).getRank();
    Value input = transposed(b, op.getLoc(), op.getInput(), channelsToLast(rank));
    Value result =
        ir::ConvOp::create(b, op.getLoc(), input, op.getFilter(), op.getStridesAttr(), op.getDilationsAttr(),
                           op.getPaddingAttr(), op.getGroupsAttr(), b.getUnitAttr(), op.getAccumulatorAttr());
    b.replaceOp(op, transposed(b, op.getLoc(), result, channelsToSecond(rank)));
    return success();
  }
};

/// Zeros around the spatial dimensions of an input are the convolution's own padding.
struct PadIntoConv : OpRewritePattern<ir::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::ConvOp op, PatternRewriter &b) const override {
    auto pad = op.getInput().getDefiningOp<ir::PadOp>();
    if (!pad || pad.getMode() != ir::PadMode::constant || !isZero(pad.getValue())) return failure();
    int64_t rank = tensorOf(op.getInput()).getRank(), spatial = rank - 2, first = op.getChannelsLast() ? 1 : 2;
    SmallVector<int64_t> padding(op.getPadding());
    for (int64_t d = 0; d < rank; ++d) {
      int64_t low = pad.getLow()[d], high = pad.getHigh()[d];
      bool isSpatial = d >= first && d < first + spatial;
      if (!isSpatial && (low || high)) return failure();
      if (!isSpatial) continue;
      padding[d - first] += low;
      padding[d - first + spatial] += high;
    }
    b.replaceOpWithNewOp<ir::ConvOp>(op, pad.getOperand(), op.getFilter(), op.getStridesAttr(), op.getDilationsAttr(),
                                     b.getDenseI64ArrayAttr(padding), op.getGroupsAttr(), op.getChannelsLastAttr(),
                                     op.getAccumulatorAttr());
    return success();
  }

private:
  static bool isZero(Value value) {
    auto constant = value.getDefiningOp<ir::ConstantOp>();
    std::string reason;
    if (!constant || !ir::isReadableConstant(constant.getValue(), reason)) return false;
    return ir::ConstantView(constant.getValue()).asDouble(0) == 0;
  }
};

struct PoolChannelsLast : OpRewritePattern<ir::PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::PoolOp op, PatternRewriter &b) const override {
    int64_t rank = tensorOf(op.getOperand()).getRank();
    if (op.getChannelsLast() || rank < 3) return failure();
    Value operand = transposed(b, op.getLoc(), op.getOperand(), channelsToLast(rank));
    Value result = ir::PoolOp::create(b, op.getLoc(), op.getKindAttr(), operand, op.getWindowAttr(),
                                      op.getStridesAttr(), op.getDilationsAttr(), op.getPaddingAttr(), b.getUnitAttr());
    b.replaceOp(op, transposed(b, op.getLoc(), result, channelsToSecond(rank)));
    return success();
  }
};

struct FilterGradChannelsLast : OpRewritePattern<ir::ConvFilterGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::ConvFilterGradOp op, PatternRewriter &b) const override {
    if (op.getChannelsLast()) return failure();
    SmallVector<int64_t> order = channelsToLast(tensorOf(op.getInput()).getRank());
    Value input = transposed(b, op.getLoc(), op.getInput(), order);
    Value cotangent = transposed(b, op.getLoc(), op.getCotangent(), order);
    b.replaceOpWithNewOp<ir::ConvFilterGradOp>(op, input, cotangent, op.getWindowAttr(), op.getStridesAttr(),
                                               op.getDilationsAttr(), op.getPaddingAttr(), op.getGroupsAttr(),
                                               b.getUnitAttr());
    return success();
  }
};

struct PoolGradChannelsLast : OpRewritePattern<ir::PoolGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::PoolGradOp op, PatternRewriter &b) const override {
    int64_t rank = tensorOf(op.getOperand()).getRank();
    if (op.getChannelsLast() || rank < 3) return failure();
    Value operand = transposed(b, op.getLoc(), op.getOperand(), channelsToLast(rank));
    Value cotangent = transposed(b, op.getLoc(), op.getCotangent(), channelsToLast(rank));
    Value result =
        ir::PoolGradOp::create(b, op.getLoc(), op.getKindAttr(), operand, cotangent, op.getWindowAttr(),
                               op.getStridesAttr(), op.getDilationsAttr(), op.getPaddingAttr(), b.getUnitAttr());
    b.replaceOp(op, transposed(b, op.getLoc(), result, channelsToSecond(rank)));
    return success();
  }
};

struct ConvTransposeToConv : OpRewritePattern<ir::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Puts stride - 1 zeros between the elements of each spatial dimension.
  static Value spread(PatternRewriter &b, Location loc, Value input, ArrayRef<int64_t> strides) {
    ArrayRef<int64_t> in = tensorOf(input).getShape();
    if (llvm::all_of(strides, [](int64_t s) { return s == 1; })) return input;
    SmallVector<int64_t> split{in[0], in[1]}, padded{in[0], in[1]}, cut{in[0], in[1]}, low, high{0, 0};
    for (auto [size, stride] : llvm::zip_equal(in.drop_front(2), strides)) {
      llvm::append_values(split, size, 1);
      llvm::append_values(high, 0, stride - 1);
      padded.push_back(size * stride);
      cut.push_back((size - 1) * stride + 1);
    }
    low.assign(high.size(), 0);
    auto scalar = RankedTensorType::get({}, tensorOf(input).getElementType());
    Value zero = ir::ConstantOp::create(b, loc, scalar, ir::makeSplat(scalar, 0));
    Value value = reshaped(b, loc, input, split);
    value = ir::PadOp::create(b, loc, ir::PadMode::constant, value, zero, low, high);
    value = reshaped(b, loc, value, padded);
    return ir::SliceOp::create(b, loc, value, SmallVector<int64_t>(in.size(), 0), cut,
                               SmallVector<int64_t>(in.size(), 1));
  }

  /// [C, O/groups, window...] to [O, C/groups, window...], every window turned round.
  static Value turn(PatternRewriter &b, Location loc, Value filter, int64_t groups) {
    ArrayRef<int64_t> shape = tensorOf(filter).getShape();
    int64_t rank = shape.size(), inputs = shape[0] / groups, outputs = shape[1];
    SmallVector<int64_t> grouped{groups, inputs, outputs}, order{0, 2, 1}, joined{groups * outputs, inputs};
    SmallVector<int64_t> starts{0, 0}, steps{1, 1};
    for (int64_t d = 2; d < rank; ++d) {
      grouped.push_back(shape[d]);
      order.push_back(d + 1);
      joined.push_back(shape[d]);
      starts.push_back(shape[d] - 1);
      steps.push_back(-1);
    }
    Value value = reshaped(b, loc, transposed(b, loc, reshaped(b, loc, filter, grouped), order), joined);
    return ir::SliceOp::create(b, loc, value, starts, joined, steps);
  }

  LogicalResult matchAndRewrite(ir::ConvTransposeOp op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    ArrayRef<int64_t> window = tensorOf(op.getFilter()).getShape().drop_front(2);
    int64_t spatial = window.size();
    if (tensorOf(op.getInput()).getNumElements() == 0) return failure();
    Value input = spread(b, loc, op.getInput(), op.getStrides());
    // Where the cropping is wider than the window's reach, the input itself is cut.
    SmallVector<int64_t> padding, starts(spatial + 2, 0), sizes(tensorOf(input).getShape());
    for (int64_t side = 0; side < 2; ++side)
      for (int64_t d = 0; d < spatial; ++d) {
        int64_t reach = op.getDilations()[d] * (window[d] - 1);
        int64_t pad = reach - op.getPadding()[side * spatial + d] + (side ? op.getOutputPadding()[d] : 0);
        padding.push_back(std::max<int64_t>(pad, 0));
        if (pad >= 0) continue;
        sizes[2 + d] += pad;
        if (side == 0) starts[2 + d] = -pad;
      }
    if (llvm::any_of(sizes, [](int64_t size) { return size < 1; })) return failure();
    if (ArrayRef<int64_t>(sizes) != tensorOf(input).getShape())
      input = ir::SliceOp::create(b, loc, input, starts, sizes, SmallVector<int64_t>(sizes.size(), 1));
    Value filter = turn(b, loc, op.getFilter(), op.getGroups());
    SmallVector<int64_t> ones(spatial, 1);
    Value result = ir::ConvOp::create(b, loc, input, filter, b.getDenseI64ArrayAttr(ones), op.getDilationsAttr(),
                                      b.getDenseI64ArrayAttr(padding), op.getGroupsAttr(), UnitAttr(), TypeAttr());
    if (result.getType() != op.getType()) return failure();
    b.replaceOp(op, result);
    return success();
  }
};

} // namespace

void sprig::cpu::populateConvTransposePatterns(RewritePatternSet &patterns) {
  patterns.add<ConvTransposeToConv>(patterns.getContext());
}

void sprig::cpu::populateChannelsLastPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvChannelsLast, PoolChannelsLast, FilterGradChannelsLast, PoolGradChannelsLast>(patterns.getContext());
  patterns.add<PadIntoConv>(patterns.getContext(), /*benefit=*/2); // before a transpose comes in between
}
