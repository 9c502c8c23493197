// Convolutions: for each sample and group, a filter matrix times the matrix of the windows' elements.
#include "lib/Interpreter/Evaluation.h"
#include "dialects/Kernel/Panels.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/NN/NNContraction.h"
#include "lib/Interpreter/Gemm.h"
#include "lib/Interpreter/Numbers.h"
#include "lib/Interpreter/Window.h"
#include <cmath>
#include <limits>

namespace sprig::interp {
namespace {

// A convolution's sizes, and how far apart elements lie in input and output.
struct Convolution {
  Window window;
  int64_t samples, groups, channels, filters; // channels and filters of one group
  bool channelsLast;

  int64_t depth() const { return window.taps() * channels; }
  // Offset of channel `c` of group `g` in sample `s` for a tensor of `positions` with `perGroup` channels a group.
  int64_t plane(int64_t s, int64_t g, int64_t c, int64_t positions, int64_t perGroup) const {
    int64_t channel = g * perGroup + c, all = groups * perGroup;
    return channelsLast ? s * positions * all + channel : (s * all + channel) * positions;
  }
  int64_t inputStride() const { return channelsLast ? groups * channels : 1; }
  int64_t outputStride() const { return channelsLast ? groups * filters : 1; }
};

template <typename OpT>
Convolution describeConvolution(OpT op, llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output,
                                llvm::ArrayRef<int64_t> window, int64_t groups, bool channelsLast) {
  int64_t channels = channelsLast ? input.back() : input[1], filters = channelsLast ? output.back() : output[1];
  Window own = windowOf(op, input, output, window, channelsLast);
  return {own, input[0], groups, channels / groups, filters / groups, channelsLast};
}

template <typename T> bool isFinite(const std::vector<T> &values) {
  if constexpr (std::is_same_v<T, double>)
    return llvm::all_of(values, [](double value) { return std::isfinite(value); });
  return true;
}

// The plain definition; skips taps in the padding even where the filter is infinite.
template <typename T>
void convolveDirectly(const Convolution &c, const std::vector<T> &filter, const Elements<T> &in, int64_t s, int64_t g,
                      std::vector<T> &out) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, uint64_t>;
  for (int64_t f = 0; f < c.filters; ++f) {
    int64_t to = c.plane(s, g, f, c.window.positions(), c.filters);
    c.window.forEachTap([&](int64_t position, int64_t tap, int64_t offset) {
      T &sum = out[to + position * c.outputStride()];
      for (int64_t ch = 0; ch < c.channels; ++ch)
        sum = T(Wide(sum) + Wide(filter[f * c.depth() + tap * c.channels + ch]) *
                                Wide(in[c.plane(s, g, ch, c.window.inputs(), c.channels) + offset * c.inputStride()]));
    });
  }
}

// By a matrix of window elements, a block of positions at a time; taps in the padding are zeros there.
template <typename T>
void convolveByMatrix(const Convolution &c, const std::vector<T> &filter, const Elements<T> &in, int64_t s, int64_t g,
                      std::vector<T> &out) {
  const Window &w = c.window;
  int64_t positions = w.positions(), step = c.channelsLast ? 1 : w.inputs();
  constexpr int64_t kBlock = 1024;
  std::vector<T> columns, sums;
  for (int64_t first = 0; first < positions; first += kBlock) {
    int64_t width = std::min(kBlock, positions - first);
    columns.assign(c.depth() * width, T());
    w.forEachTap(first, width, [&](int64_t position, int64_t tap, int64_t offset) {
      int64_t from = c.plane(s, g, 0, w.inputs(), c.channels) + offset * c.inputStride();
      T *column = columns.data() + tap * c.channels * width + position - first;
      for (int64_t ch = 0; ch < c.channels; ++ch) column[ch * width] = in[from + ch * step];
    });
    sums.assign(c.filters * width, T());
    multiplyAdd(c.filters, width, c.depth(), filter.data(), c.depth(), columns.data(), width, sums.data(), width);
    for (int64_t f = 0; f < c.filters; ++f)
      for (int64_t p = 0; p < width; ++p)
        out[c.plane(s, g, f, positions, c.filters) + (first + p) * c.outputStride()] = sums[f * width + p];
  }
}

// `filter(g)` gives a group's filters as [filters][taps][channels].
template <typename T, typename Filter>
mlir::LogicalResult convolve(Evaluation &e, const Convolution &c, Filter filter) {
  Elements<T> in = e.operands[0].elements<T>();
  std::vector<T> out(e.resultType().getNumElements());
  for (int64_t g = 0; g < c.groups; ++g) {
    std::vector<T> weights = filter(g);
    bool finite = isFinite(weights);
    for (int64_t s = 0; s < c.samples; ++s)
      if (finite)
        convolveByMatrix(c, weights, in, s, g, out);
      else
        convolveDirectly(c, weights, in, s, g, out);
  }
  wrapAll(out, e.resultType().getElementType());
  return e.give(Tensor::of<T>(e.resultType(), std::move(out)));
}

mlir::LogicalResult evaluateConv(ir::ConvOp op, Evaluation &e) {
  const Tensor &filter = e.operands[1];
  Convolution c = describeConvolution(op, e.operands[0].shape(), e.resultType().getShape(),
                                      filter.shape().drop_front(2), op.getGroups(), op.getChannelsLast());
  return byClass(e.operands[0], [&](auto zero) {
    using T = decltype(zero);
    return convolve<T>(e, c, [&](int64_t g) {
      int64_t size = c.filters * c.depth(), taps = c.window.taps();
      std::vector<T> model(size), result(size);
      filter.load(g * size, size, model.data());
      for (int64_t f = 0; f < c.filters; ++f)
        for (int64_t ch = 0; ch < c.channels; ++ch)
          for (int64_t t = 0; t < taps; ++t)
            result[(f * taps + t) * c.channels + ch] = model[(f * c.channels + ch) * taps + t];
      return result;
    });
  });
}

mlir::LogicalResult evaluateConvPacked(kernel::ConvPackedOp op, Evaluation &e) {
  const Tensor &panels = e.operands[1];
  Convolution c = describeConvolution(op, e.operands[0].shape(), e.resultType().getShape(), op.getWindow(),
                                      op.getGroups(), /*channelsLast=*/true);
  int64_t interleave = kernel::interleaveIn(panels.shape());
  int64_t run =
      interleave > 1 ? kernel::runLength(c.groups * c.channels, c.groups, op.getWindow(), op.getDilations()) : 1;
  kernel::PanelPlaces places{c.depth(), std::max<int64_t>(run, 1), interleave};
  return byClass(e.operands[0], [&](auto zero) {
    using T = decltype(zero);
    return convolve<T>(e, c, [&](int64_t g) {
      int64_t depth = c.depth(), perGroup = panels.shape()[0] / c.groups;
      std::vector<T> packed(perGroup * places.size()), result(c.filters * depth);
      panels.load(g * packed.size(), packed.size(), packed.data());
      for (int64_t f = 0; f < c.filters; ++f)
        for (int64_t k = 0; k < depth; ++k)
          result[f * depth + k] = packed[f / kPanelWidth * places.size() + places.at(k, f % kPanelWidth)];
      return result;
    });
  });
}

mlir::LogicalResult evaluateConvDepthwise(kernel::ConvDepthwiseOp op, Evaluation &e) {
  const Tensor &filter = e.operands[1];
  int64_t groups = filter.shape().back();
  Convolution c = describeConvolution(op, e.operands[0].shape(), e.resultType().getShape(), filter.shape().drop_back(),
                                      groups, /*channelsLast=*/true);
  return byClass(e.operands[0], [&](auto zero) {
    using T = decltype(zero);
    return convolve<T>(e, c, [&](int64_t g) {
      std::vector<T> result(c.window.taps());
      for (size_t t = 0; t < result.size(); ++t) filter.load(t * groups + g, 1, &result[t]);
      return result;
    });
  });
}

// Positions in the padding count as numbers of their own, so that no product is left out.
mlir::LogicalResult evaluateConvDepthwiseDot(kernel::ConvDepthwiseDotOp op, Evaluation &e) {
  int64_t channels = e.resultType().getShape().back();
  Convolution c = describeConvolution(op, e.operands[0].shape(), e.resultType().getShape(), op.getWindow(), channels,
                                      /*channelsLast=*/true);
  auto places = kernel::DepthwisePlaces::get(op.getWindow(), channels);
  Elements<int64_t> in = e.operands[0].integers(), filter = e.operands[1].integers();
  int64_t fill = op.getFill(), positions = c.window.positions(), taps = c.window.taps();
  std::vector<int64_t> out(e.resultType().getNumElements()), whole(channels);
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t ch = 0; ch < channels; ++ch)
      whole[ch] += fill * filter[places.at(tap / places.width, tap % places.width, ch)];
  for (int64_t i = 0; i < int64_t(out.size()); ++i) out[i] = whole[i % channels];
  for (int64_t s = 0; s < c.samples; ++s)
    c.window.forEachTap([&](int64_t position, int64_t tap, int64_t offset) {
      for (int64_t ch = 0; ch < channels; ++ch) {
        int64_t x = in[(s * c.window.inputs() + offset) * channels + ch] - fill;
        out[(s * positions + position) * channels + ch] +=
            x * filter[places.at(tap / places.width, tap % places.width, ch)];
      }
    });
  wrapAll(out, e.resultType().getElementType());
  return e.give(Tensor::of<int64_t>(e.resultType(), std::move(out)));
}

// A transposed convolution scatters: the window slides over the result.
mlir::LogicalResult evaluateConvTranspose(ir::ConvTransposeOp op, Evaluation &e) {
  llvm::ArrayRef<int64_t> input = e.operands[0].shape(), output = e.resultType().getShape();
  Window window = windowOf(op, output, input, e.operands[1].shape().drop_front(2), /*channelsLast=*/false);
  int64_t groups = op.getGroups(), channels = input[1] / groups, filters = output[1] / groups;
  int64_t inputs = window.positions(), outputs = window.inputs(), taps = window.taps();
  return giveLike(e.operands[0], e, [&]<typename T>(std::vector<T> &out) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, uint64_t>;
    Elements<T> in = e.operands[0].elements<T>(), filter = e.operands[1].elements<T>();
    for (int64_t s = 0; s < input[0]; ++s)
      for (int64_t channel = 0; channel < input[1]; ++channel)
        for (int64_t f = 0; f < filters; ++f) {
          int64_t from = (s * input[1] + channel) * inputs, weights = (channel * filters + f) * taps;
          int64_t to = (s * output[1] + channel / channels * filters + f) * outputs;
          window.forEachTap([&](int64_t position, int64_t tap, int64_t offset) {
            T &sum = out[to + offset];
            sum = T(Wide(sum) + Wide(in[from + position]) * Wide(filter[weights + tap]));
          });
        }
    wrapAll(out, e.resultType().getElementType());
  });
}

// The definition: for each tap, the sum over samples and positions, of all of them or of each `pieceLength` in a row.
mlir::LogicalResult filterGradient(Evaluation &e, const Convolution &c, int64_t pieceLength) {
  return giveLike(e.operands[0], e, [&]<typename T>(std::vector<T> &out) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, uint64_t>;
    Elements<T> in = e.operands[0].elements<T>(), g = e.operands[1].elements<T>();
    int64_t taps = c.window.taps(), piece = c.groups * c.filters * c.channels * taps, positions = c.window.positions();
    for (int64_t s = 0; s < c.samples; ++s)
      for (int64_t filter = 0; filter < c.groups * c.filters; ++filter)
        for (int64_t ch = 0; ch < c.channels; ++ch) {
          int64_t group = filter / c.filters;
          int64_t from = c.plane(s, group, ch, c.window.inputs(), c.channels);
          int64_t weight = c.plane(s, group, filter % c.filters, positions, c.filters);
          int64_t to = (filter * c.channels + ch) * taps;
          c.window.forEachTap([&](int64_t position, int64_t tap, int64_t offset) {
            T &sum = out[(s * positions + position) / pieceLength * piece + to + tap];
            sum = T(Wide(sum) +
                    Wide(in[from + offset * c.inputStride()]) * Wide(g[weight + position * c.outputStride()]));
          });
        }
    wrapAll(out, e.resultType().getElementType());
  });
}

mlir::LogicalResult evaluateConvFilterGrad(ir::ConvFilterGradOp op, Evaluation &e) {
  Convolution c = describeConvolution(op, e.operands[0].shape(), e.operands[1].shape(), op.getWindow(), op.getGroups(),
                                      op.getChannelsLast());
  return filterGradient(e, c, std::numeric_limits<int64_t>::max());
}

mlir::LogicalResult evaluateConvFilterGradParts(kernel::ConvFilterGradPartsOp op, Evaluation &e) {
  Convolution c = describeConvolution(op, e.operands[0].shape(), e.operands[1].shape(), op.getWindow(), op.getGroups(),
                                      !op.getChannelsFirst());
  return filterGradient(e, c, kChainPart);
}

mlir::LogicalResult evaluateSumParts(kernel::SumPartsOp, Evaluation &e) {
  return giveLike(e.operands[0], e, [&]<typename T>(std::vector<T> &out) {
    Elements<T> parts = e.operands[0].elements<T>();
    for (int64_t i = 0; i < e.operands[0].shape()[0] * int64_t(out.size()); ++i) out[i % out.size()] += parts[i];
  });
}

} // namespace

void addConvolutions(EvaluatorTable &table) {
  table.add(evaluateConv, evaluateConvPacked, evaluateConvDepthwise, evaluateConvDepthwiseDot, evaluateConvTranspose,
            evaluateConvFilterGrad, evaluateConvFilterGradParts, evaluateSumParts);
}

} // namespace sprig::interp
