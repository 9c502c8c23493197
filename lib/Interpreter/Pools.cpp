// Pools: reductions over sliding windows, their first maxima, and means.
#include "lib/Interpreter/Reduction.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Interpreter/Window.h"
#include <cmath>

namespace sprig::interp {
namespace {

// Where sample and channel `plane` starts, and how far its spatial positions lie apart.
struct Planes {
  int64_t count, channels;
  bool channelsLast;
  Planes(llvm::ArrayRef<int64_t> shape, bool channelsLast)
      : channels(channelsLast ? shape.back() : shape[1]), channelsLast(channelsLast) {
    count = shape[0] * channels;
  }
  int64_t start(int64_t plane, int64_t positions) const {
    return channelsLast ? plane / channels * channels * positions + plane % channels : plane * positions;
  }
  int64_t stride() const { return channelsLast ? channels : 1; }
};

mlir::LogicalResult evaluatePool(ir::PoolOp op, Evaluation &e) {
  const Tensor &operand = e.operands[0];
  Window window = windowOf(op, operand.shape(), e.resultType().getShape(), op.getWindow(), op.getChannelsLast());
  Planes planes(operand.shape(), op.getChannelsLast());
  mlir::Type element = operand.elementType();
  return giveLike(operand, e, [&]<typename T>(std::vector<T> &result) {
    Elements<T> in = operand.elements<T>();
    llvm::fill(result, reduceStart(op.getKind(), element, T()));
    for (int64_t plane = 0; plane < planes.count; ++plane) {
      int64_t from = planes.start(plane, window.inputs()), to = planes.start(plane, window.positions());
      window.forEachTap([&](int64_t position, int64_t, int64_t offset) {
        T &value = result[to + position * planes.stride()];
        value = reduceStep(op.getKind(), element, value, in[from + offset * planes.stride()]);
      });
    }
  });
}

mlir::LogicalResult evaluatePoolGrad(ir::PoolGradOp op, Evaluation &e) {
  const Tensor &operand = e.operands[0], &cotangent = e.operands[1];
  Window window = windowOf(op, operand.shape(), cotangent.shape(), op.getWindow(), op.getChannelsLast());
  Planes planes(operand.shape(), op.getChannelsLast());
  Elements<double> in = operand.floats(), g = cotangent.floats();
  std::vector<double> result(operand.count(), 0.0);
  for (int64_t plane = 0; plane < planes.count; ++plane) {
    int64_t to = planes.start(plane, window.inputs()), from = planes.start(plane, window.positions());
    auto at = [&](int64_t offset) { return to + offset * planes.stride(); };
    std::vector<int64_t> first(window.positions(), -1); // the input position that each window's cotangent goes to
    window.forEachTap([&](int64_t position, int64_t, int64_t offset) {
      if (op.getKind() == ir::ReduceKind::sum) {
        result[at(offset)] += g[from + position * planes.stride()];
        return;
      }
      int64_t &best = first[position];
      if (best < 0 || in[at(offset)] > in[at(best)] || (std::isnan(in[at(offset)]) && !std::isnan(in[at(best)])))
        best = offset;
    });
    for (size_t position = 0; position < first.size(); ++position)
      if (first[position] >= 0) result[at(first[position])] += g[from + position * planes.stride()];
  }
  return e.give(Tensor::ofFloats(e.resultType(), std::move(result)));
}

// A spatial position's index in column-major order.
int64_t columnMajor(int64_t offset, llvm::ArrayRef<int64_t> shape) {
  int64_t result = 0, stride = product(shape);
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    stride /= shape[d];
    result += offset % shape[d] * stride;
    offset /= shape[d];
  }
  return result;
}

mlir::LogicalResult evaluateArgMaxPool(ir::ArgMaxPoolOp op, Evaluation &e) {
  const Tensor &operand = e.operands[0];
  mlir::RankedTensorType type = e.resultType();
  Window window = windowOf(op, operand.shape(), type.getShape(), op.getWindow(), false);
  Planes planes(operand.shape(), false);
  mlir::Type element = operand.elementType();
  return byClass(operand, [&](auto zero) {
    using T = decltype(zero);
    Elements<T> in = operand.elements<T>();
    std::vector<int64_t> result(type.getNumElements(), 0);
    std::vector<int64_t> best(window.positions());
    for (int64_t plane = 0; plane < planes.count; ++plane) {
      int64_t from = plane * window.inputs();
      std::fill(best.begin(), best.end(), -1);
      window.forEachTap([&](int64_t position, int64_t, int64_t offset) {
        int64_t &champion = best[position];
        // A maximum that a later element does not change is kept: the first one, and the first NaN.
        if (champion < 0)
          champion = offset;
        else {
          T old = in[from + champion], joined = reduceStep(ir::ReduceKind::max, element, old, in[from + offset]);
          if (joined != old && old == old) champion = offset;
        }
      });
      for (int64_t p = 0; p < window.positions(); ++p) {
        int64_t flat = op.getColumnMajor() ? columnMajor(std::max<int64_t>(best[p], 0), window.input)
                                           : std::max<int64_t>(best[p], 0);
        result[plane * window.positions() + p] = from + flat;
      }
    }
    return e.give(Tensor::ofIntegers(type, std::move(result)));
  });
}

// Elements of a window that count in the mean, per position: those in the operand or its counted padding.
std::vector<int64_t> countedTaps(const Window &window, llvm::ArrayRef<int64_t> counted) {
  int64_t rank = window.input.size();
  std::vector<int64_t> counts;
  llvm::SmallVector<int64_t> at(rank, 0);
  for (int64_t p = 0; p < window.positions(); ++p) {
    int64_t count = 1;
    for (int64_t d = 0; d < rank; ++d) {
      int64_t inside = 0;
      for (int64_t t = 0; t < window.window[d]; ++t) {
        int64_t x = window.coordinate(d, at[d], t);
        inside += x >= -counted[d] && x < window.input[d] + counted[rank + d];
      }
      count *= inside;
    }
    counts.push_back(count);
    Window::advance(at, window.output);
  }
  return counts;
}

mlir::LogicalResult evaluateAvgPool(ir::AvgPoolOp op, Evaluation &e) {
  const Tensor &operand = e.operands[0];
  mlir::RankedTensorType type = e.resultType();
  Window window = windowOf(op, operand.shape(), type.getShape(), op.getWindow(), false);
  Planes planes(operand.shape(), false);
  Elements<double> in = operand.floats();
  std::vector<double> result(type.getNumElements(), 0);
  std::vector<int64_t> counts = countedTaps(window, op.getCountedPadding());
  for (int64_t plane = 0; plane < planes.count; ++plane) {
    double *out = result.data() + plane * window.positions();
    window.forEachTap(
        [&](int64_t position, int64_t, int64_t offset) { out[position] += in[plane * window.inputs() + offset]; });
    for (int64_t p = 0; p < window.positions(); ++p) out[p] /= double(counts[p]);
  }
  return e.give(Tensor::ofFloats(type, std::move(result)));
}

} // namespace

void addPools(EvaluatorTable &table) { table.add(evaluatePool, evaluatePoolGrad, evaluateArgMaxPool, evaluateAvgPool); }

} // namespace sprig::interp
