// Softmaxes and normalisations by their definitions.
#include "lib/Interpreter/Elementwise.h"
#include "dialects/NN/NNComposite.h"
#include <numeric>

namespace sprig::interp {
namespace {

// Softmax of a row, or its logarithm. A row of -inf alone gives NaN, as the formula does, or zeros where it is masked.
template <bool Log> mlir::LogicalResult evaluateRows(Evaluation &e, int64_t axis, bool isMasked = false) {
  llvm::ArrayRef<int64_t> shape = e.operands[0].shape();
  axis = fromFront(axis, shape.size());
  int64_t outer = product(shape.take_front(axis)), size = shape[axis], inner = product(shape.drop_front(axis + 1));
  Elements<double> in = e.operands[0].floats();
  std::vector<double> result(e.resultType().getNumElements());
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t n = 0; n < inner; ++n) {
      auto at = [&](int64_t i) { return (o * size + i) * inner + n; };
      double top = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t i = 0; i < size; ++i) top = larger(top, in[at(i)]);
      if (isMasked && top == -std::numeric_limits<double>::infinity()) continue;
      for (int64_t i = 0; i < size; ++i) sum += std::exp(in[at(i)] - top);
      for (int64_t i = 0; i < size; ++i) {
        double shifted = in[at(i)] - top;
        result[at(i)] = Log ? shifted - std::log(sum) : std::exp(shifted) / sum;
      }
    }
  return e.give(Tensor::ofFloats(e.resultType(), std::move(result)));
}
mlir::LogicalResult evaluateSoftmax(ir::SoftmaxOp op, Evaluation &e) {
  return evaluateRows<false>(e, op.getAxis(), op.getMasked());
}
mlir::LogicalResult evaluateLogSoftmax(ir::LogSoftmaxOp op, Evaluation &e) {
  return evaluateRows<true>(e, op.getAxis());
}

mlir::LogicalResult evaluateBatchNorm(ir::BatchNormOp op, Evaluation &e) {
  llvm::ArrayRef<int64_t> shape = e.operands[0].shape();
  int64_t inner = product(shape.drop_front(2));
  Elements<double> in = e.operands[0].floats(), scale = e.operands[1].floats(), shift = e.operands[2].floats();
  Elements<double> mean = e.operands[3].floats(), variance = e.operands[4].floats();
  double epsilon = op.getEpsilon().convertToDouble();
  std::vector<double> result(e.resultType().getNumElements());
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t c = i / inner % shape[1];
    result[i] = (in[i] - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + shift[c];
  }
  return e.give(Tensor::ofFloats(e.resultType(), std::move(result)));
}

// Centres (unless `raw`) and scales `size` elements to unit variance.
void normalise(double *row, int64_t size, double epsilon, bool raw) {
  double mean = raw ? 0 : std::accumulate(row, row + size, 0.0) / double(size), squares = 0;
  for (int64_t i = 0; i < size; ++i) squares += (row[i] - mean) * (row[i] - mean);
  double deviation = std::sqrt(squares / double(size) + epsilon);
  for (int64_t i = 0; i < size; ++i) row[i] = (row[i] - mean) / deviation;
}

// Normalises over the dimensions from `axis` on, then scales and shifts by operands that broadcast to the whole.
mlir::LogicalResult normaliseRows(Evaluation &e, int64_t axis, double epsilon, bool raw) {
  llvm::ArrayRef<int64_t> shape = e.operands[0].shape();
  int64_t size = product(shape.drop_front(fromFront(axis, shape.size())));
  std::vector<double> result(e.operands[0].count());
  e.operands[0].load(0, result.size(), result.data());
  for (size_t first = 0; first < result.size(); first += size) normalise(result.data() + first, size, epsilon, raw);
  for (size_t operand = 1; operand < e.operands.size(); ++operand) {
    Elements<double> values = e.operands[operand].floats();
    walk<1>(shape, {broadcastStrides(e.operands[operand].shape(), shape)},
            [&](int64_t i, const std::array<int64_t, 1> &at) {
              result[i] = operand == 1 ? result[i] * values[at[0]] : result[i] + values[at[0]];
            });
  }
  return e.give(Tensor::ofFloats(e.resultType(), std::move(result)));
}
mlir::LogicalResult evaluateLayerNorm(ir::LayerNormOp op, Evaluation &e) {
  return normaliseRows(e, op.getAxis(), op.getEpsilon().convertToDouble(), /*raw=*/false);
}
mlir::LogicalResult evaluateRmsNorm(ir::RmsNormOp op, Evaluation &e) {
  return normaliseRows(e, op.getAxis(), op.getEpsilon().convertToDouble(), /*raw=*/true);
}

mlir::LogicalResult evaluateGroupNorm(ir::GroupNormOp op, Evaluation &e) {
  llvm::ArrayRef<int64_t> shape = e.operands[0].shape();
  int64_t inner = product(shape.drop_front(2)), size = shape[1] / op.getGroups() * inner;
  std::vector<double> result(e.operands[0].count());
  e.operands[0].load(0, result.size(), result.data());
  Elements<double> scale = e.operands[1].floats(), shift = e.operands[2].floats();
  for (size_t first = 0; first < result.size(); first += size)
    normalise(result.data() + first, size, op.getEpsilon().convertToDouble(), /*raw=*/false);
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t c = i / inner % shape[1];
    result[i] = result[i] * scale[c] + shift[c];
  }
  return e.give(Tensor::ofFloats(e.resultType(), std::move(result)));
}

} // namespace

void addNorms(EvaluatorTable &table) {
  table.add(evaluateSoftmax, evaluateLogSoftmax, evaluateBatchNorm, evaluateLayerNorm, evaluateRmsNorm,
            evaluateGroupNorm);
}

} // namespace sprig::interp
