// Transposed convolutions with strides in the layout pass: result positions that are equal modulo the strides are a
// phase, which is a plain convolution of stride 1 with those taps that reach it. No product with a zero is left.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "lib/Target/CPU/Layout/LayoutPatterns.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {

/// One dimension of a phase: the taps first, first + step, ... of the window, seen from the last one on.
struct PhaseDim {
  int64_t first = 0, step = 1, taps = 0; // no taps: nothing reaches the phase
  int64_t dilation = 1, low = 0, high = 0;

  PhaseDim(int64_t phase, int64_t stride, int64_t tapDilation, int64_t window, int64_t padding, int64_t inputs,
           int64_t outputs) {
    int64_t common = std::gcd(tapDilation, stride);
    step = stride / common;
    dilation = tapDilation / common;
    // result = stride * m + phase = stride * input + tap * dilation - padding
    while (first < step && (first * tapDilation - phase - padding) % stride != 0) ++first;
    if (first == step || first >= window) return;
    taps = (window - first + step - 1) / step;
    int64_t shift = (phase + padding - first * tapDilation) / stride; // input = m + shift - i * dilation for tap i
    low = (taps - 1) * dilation - shift;
    high = outputs - inputs - low + (taps - 1) * dilation;
  }
};

struct ConvTransposeToPhases : OpRewritePattern<ir::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ir::ConvTransposeOp op, PatternRewriter &b) const override {
    constexpr int64_t kMostPhases = 16;
    ArrayRef<int64_t> strides = op.getStrides(), shape = tensorOf(op.getResult()).getShape();
    int64_t phases = 1, rank = shape.size(), spatial = rank - 2;
    for (int64_t stride : strides) phases *= stride;
    if (phases == 1 || phases > kMostPhases || tensorOf(op.getInput()).getNumElements() == 0 ||
        tensorOf(op.getResult()).getNumElements() == 0 || tensorOf(op.getFilter()).getNumElements() == 0)
      return failure();
    SmallVector<int64_t> sizes; // of a phase; those with fewer positions are cut in the end
    for (int64_t d = 0; d < spatial; ++d) sizes.push_back(llvm::divideCeil(shape[2 + d], strides[d]));
    Location loc = op.getLoc();
    Value input = transposed(b, loc, op.getInput(), channelsToLast(rank));
    SmallVector<Value> parts;
    for (int64_t phase = 0; phase < phases; ++phase) {
      SmallVector<PhaseDim> dims;
      int64_t rest = phase;
      for (int64_t d = spatial - 1; d >= 0; --d) {
        dims.insert(dims.begin(), describe(op, d, rest % strides[d], sizes[d]));
        rest /= strides[d];
      }
      parts.push_back(convolve(b, op, input, dims, sizes));
    }
    Value result = interleaved(b, loc, parts, strides);
    SmallVector<int64_t> wanted{shape[0]};
    llvm::append_range(wanted, shape.drop_front(2));
    wanted.push_back(shape[1]);
    if (tensorOf(result).getShape() != ArrayRef<int64_t>(wanted))
      result =
          ir::SliceOp::create(b, loc, result, SmallVector<int64_t>(rank, 0), wanted, SmallVector<int64_t>(rank, 1));
    b.replaceOp(op, transposed(b, loc, result, channelsToSecond(rank)));
    return success();
  }

private:
  static PhaseDim describe(ir::ConvTransposeOp op, int64_t d, int64_t phase, int64_t outputs) {
    return PhaseDim(phase, op.getStrides()[d], op.getDilations()[d], tensorOf(op.getFilter()).getDimSize(2 + d),
                    op.getPadding()[d], tensorOf(op.getInput()).getDimSize(2 + d), outputs);
  }

  static Value convolve(PatternRewriter &b, ir::ConvTransposeOp op, Value input, ArrayRef<PhaseDim> dims,
                        ArrayRef<int64_t> sizes) {
    Location loc = op.getLoc();
    int64_t outputs = tensorOf(op.getResult()).getDimSize(1), spatial = dims.size();
    SmallVector<int64_t> result{tensorOf(input).getDimSize(0)};
    llvm::append_range(result, sizes);
    result.push_back(outputs);
    auto zeros = [&]() -> Value {
      auto type = RankedTensorType::get(result, tensorOf(input).getElementType());
      return ir::ConstantOp::create(b, loc, type, ir::makeSplat(type, 0));
    };
    // Where a window starts after the input's first element, or ends before its last, the input is cut.
    SmallVector<int64_t> starts(spatial + 2, 0), cut(tensorOf(input).getShape()), low, high, dilations;
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (dim.taps == 0) return zeros();
      low.push_back(std::max<int64_t>(dim.low, 0));
      high.push_back(std::max<int64_t>(dim.high, 0));
      dilations.push_back(dim.dilation);
      starts[1 + d] = low[d] - dim.low;
      cut[1 + d] -= starts[1 + d] + high[d] - dim.high;
      if (cut[1 + d] < 1) return zeros();
    }
    if (ArrayRef<int64_t>(cut) != tensorOf(input).getShape())
      input = ir::SliceOp::create(b, loc, input, starts, cut, SmallVector<int64_t>(cut.size(), 1));
    low.append(high);
    SmallVector<int64_t> ones(spatial, 1);
    return ir::ConvOp::create(b, loc, input, filterOf(b, op, dims), b.getDenseI64ArrayAttr(ones),
                              b.getDenseI64ArrayAttr(dilations), b.getDenseI64ArrayAttr(low), op.getGroupsAttr(),
                              b.getUnitAttr(), TypeAttr());
  }

  /// [C, O/groups, window...] to [O, C/groups, taps...], the phase's taps turned round.
  static Value filterOf(PatternRewriter &b, ir::ConvTransposeOp op, ArrayRef<PhaseDim> dims) {
    Location loc = op.getLoc();
    ArrayRef<int64_t> shape = tensorOf(op.getFilter()).getShape();
    int64_t groups = op.getGroups(), inputs = shape[0] / groups, outputs = shape[1];
    SmallVector<int64_t> grouped{groups, inputs, outputs}, order{0, 2, 1}, joined{groups * outputs, inputs};
    SmallVector<int64_t> starts{0, 0}, sizes{groups * outputs, inputs}, steps{1, 1};
    for (auto [d, dim] : llvm::enumerate(dims)) {
      grouped.push_back(shape[2 + d]);
      joined.push_back(shape[2 + d]);
      order.push_back(3 + d);
      starts.push_back(dim.first + (dim.taps - 1) * dim.step);
      sizes.push_back(dim.taps);
      steps.push_back(-dim.step);
    }
    Value filter = reshaped(b, loc, op.getFilter(), grouped);
    filter = reshaped(b, loc, transposed(b, loc, filter, order), joined);
    return ir::SliceOp::create(b, loc, filter, starts, sizes, steps);
  }

  /// Phases in row-major order, channels last, as one tensor.
  static Value interleaved(PatternRewriter &b, Location loc, ArrayRef<Value> phases, ArrayRef<int64_t> strides) {
    SmallVector<Value> parts(phases);
    for (int64_t d = static_cast<int64_t>(strides.size()) - 1; d >= 0; --d) {
      if (strides[d] == 1) continue;
      SmallVector<Value> joined;
      for (size_t first = 0; first < parts.size(); first += strides[d]) {
        SmallVector<Value> neighbours;
        SmallVector<int64_t> shape(tensorOf(parts[first]).getShape()), split(shape);
        split.insert(split.begin() + d + 2, 1);
        for (int64_t i = 0; i < strides[d]; ++i) neighbours.push_back(reshaped(b, loc, parts[first + i], split));
        shape[1 + d] *= strides[d];
        joined.push_back(reshaped(b, loc, ir::ConcatOp::create(b, loc, neighbours, d + 2), shape));
      }
      parts = joined;
    }
    return parts.front();
  }
};

} // namespace

void sprig::cpu::populateConvTransposePhasePatterns(RewritePatternSet &patterns) {
  patterns.add<ConvTransposeToPhases>(patterns.getContext(), /*benefit=*/2); // before zeros are put in between
}
