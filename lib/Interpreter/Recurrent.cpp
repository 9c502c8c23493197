// Recurrent layers by their equations, one row of the batch after the other.
#include "dialects/NN/Recurrent.h"
#include "dialects/NN/NNRecurrent.h"
#include "lib/Interpreter/Elementwise.h"

namespace sprig::interp {
namespace {

using Row = std::vector<double>;
using ir::RecurrentFunction;

double apply(const ir::RecurrentActivation &a, double x) {
  auto unit = [](double y) { return larger(0, smaller(1, y)); };
  switch (a.function) {
  case RecurrentFunction::sigmoid: return 1 / (1 + std::exp(-x));
  case RecurrentFunction::tanh: return std::tanh(x);
  case RecurrentFunction::relu: return larger(x, 0);
  case RecurrentFunction::affine: return a.alpha * x + a.beta;
  case RecurrentFunction::leakyRelu: return x >= 0 ? x : a.alpha * x;
  case RecurrentFunction::elu: return x > 0 ? x : a.alpha * std::expm1(x);
  case RecurrentFunction::hardSigmoid: return unit(a.alpha * x + a.beta);
  case RecurrentFunction::scaledTanh: return a.alpha * std::tanh(a.beta * x);
  case RecurrentFunction::softsign: return x / (1 + std::fabs(x));
  case RecurrentFunction::softplus: return larger(x, 0) + std::log1p(std::exp(-std::fabs(x)));
  case RecurrentFunction::thresholdedRelu: return x > a.alpha ? x : 0;
  }
  return x;
}

/// A layer's operands and sizes; `gate` numbers gates in the dialect's order.
template <typename OpT> struct Layer {
  Layer(OpT op, Evaluation &e, llvm::ArrayRef<RecurrentFunction> defaults)
      : op(op), e(e), input(read(op.getInput())), weight(read(op.getWeight())), recurrence(read(op.getRecurrence())),
        activations(ir::recurrentActivations(op, defaults)) {
    auto shape = op.getInput().getType().getShape();
    steps = shape[0], batch = shape[1], features = shape[2];
    hidden = op.getInitialH().getType().getDimSize(1);
    width = *llvm::max_element(op.getRecurrence().getType().getShape());
    bias = op.getBias() ? read(op.getBias()) : Row(2 * width, 0);
    if (op.getLengths()) lengths = read(op.getLengths());
  }

  Row read(mlir::Value operand) {
    for (auto [i, each] : llvm::enumerate(op->getOperands()))
      if (each == operand) {
        Elements<double> values = e.operands[i].doubles();
        Row row(e.operands[i].count());
        for (size_t k = 0; k < row.size(); ++k) row[k] = values[k];
        return row;
      }
    return {};
  }

  /// Of the weights, whose blocks of H rows are gates.
  int64_t rowOf(int64_t gate, int64_t unit) {
    if constexpr (!std::is_same_v<OpT, ir::RnnOp>) gate = ir::gateBlock(op, gate);
    return gate * hidden + unit;
  }
  /// x W^T + Wb of one unit of a gate.
  double fromInput(int64_t gate, int64_t unit) {
    int64_t row = rowOf(gate, unit);
    double sum = bias[row];
    for (int64_t i = 0; i < features; ++i)
      sum += input[(step * batch + sample) * features + i] * weight[row * features + i];
    return sum;
  }
  /// h R^T + Rb of one unit of a gate.
  double fromState(int64_t gate, int64_t unit, const double *state) {
    int64_t row = rowOf(gate, unit);
    double sum = bias[width + row];
    for (int64_t i = 0; i < hidden; ++i) sum += state[i] * recurrence[row * hidden + i];
    return sum;
  }
  double clipped(double x) {
    if (!op.getClip()) return x;
    double clip = op.getClip()->convertToDouble();
    return smaller(larger(x, -clip), clip);
  }
  double activated(unsigned function, double x) { return apply(activations[function], clipped(x)); }

  /// `cell` computes the next states of a row (each H long, one after the other); the first is the output.
  template <typename Cell> mlir::LogicalResult run(llvm::ArrayRef<mlir::Value> initial, Cell cell) {
    Row outputs(steps * batch * hidden, 0);
    std::vector<Row> last(initial.size());
    for (auto [k, value] : llvm::enumerate(initial)) last[k] = read(value);
    for (sample = 0; sample < batch; ++sample) {
      Row state;
      for (const Row &each : last)
        state.insert(state.end(), each.begin() + sample * hidden, each.begin() + (sample + 1) * hidden);
      for (int64_t i = 0; i < steps; ++i) {
        step = op.getReverse() ? steps - 1 - i : i;
        if (!lengths.empty() && step >= lengths[sample]) continue;
        Row next(state.size());
        cell(state, next);
        state = std::move(next);
        std::copy_n(state.begin(), hidden, outputs.begin() + (step * batch + sample) * hidden);
      }
      for (auto [k, each] : llvm::enumerate(last))
        std::copy_n(state.begin() + k * hidden, hidden, each.begin() + sample * hidden);
    }
    (void)e.give(Tensor::ofFloats(e.resultType(0), std::move(outputs)));
    for (auto [k, each] : llvm::enumerate(last)) (void)e.give(Tensor::ofFloats(e.resultType(k + 1), std::move(each)));
    return mlir::success();
  }

  OpT op;
  Evaluation &e;
  Row input, weight, recurrence, bias, lengths;
  llvm::SmallVector<ir::RecurrentActivation> activations;
  int64_t steps, batch, features, hidden, width, step = 0, sample = 0;
};

mlir::LogicalResult evaluateRnn(ir::RnnOp op, Evaluation &e) {
  Layer layer(op, e, {RecurrentFunction::tanh});
  return layer.run({op.getInitialH()}, [&](const Row &state, Row &next) {
    for (int64_t u = 0; u < layer.hidden; ++u)
      next[u] = layer.activated(0, layer.fromInput(0, u) + layer.fromState(0, u, state.data()));
  });
}

mlir::LogicalResult evaluateGru(ir::GruOp op, Evaluation &e) {
  Layer layer(op, e, {RecurrentFunction::sigmoid, RecurrentFunction::tanh});
  return layer.run({op.getInitialH()}, [&](const Row &state, Row &next) {
    Row reset(layer.hidden), seen(layer.hidden);
    for (int64_t u = 0; u < layer.hidden; ++u) {
      reset[u] = layer.activated(0, layer.fromInput(1, u) + layer.fromState(1, u, state.data()));
      seen[u] = reset[u] * state[u];
    }
    for (int64_t u = 0; u < layer.hidden; ++u) {
      double update = layer.activated(0, layer.fromInput(0, u) + layer.fromState(0, u, state.data()));
      double recurrent = op.getLinearBeforeReset() ? reset[u] * layer.fromState(2, u, state.data())
                                                   : layer.fromState(2, u, seen.data());
      next[u] = (1 - update) * layer.activated(1, layer.fromInput(2, u) + recurrent) + update * state[u];
    }
  });
}

mlir::LogicalResult evaluateLstm(ir::LstmOp op, Evaluation &e) {
  Layer layer(op, e, {RecurrentFunction::sigmoid, RecurrentFunction::tanh, RecurrentFunction::tanh});
  int64_t h = layer.hidden;
  Row peephole = op.getPeephole() ? layer.read(op.getPeephole()) : Row(3 * h, 0);
  return layer.run({op.getInitialH(), op.getInitialC()}, [&](const Row &state, Row &next) {
    for (int64_t u = 0; u < h; ++u) {
      auto sum = [&](int64_t gate) { return layer.fromInput(gate, u) + layer.fromState(gate, u, state.data()); };
      double before = state[h + u];
      double input = layer.activated(0, sum(0) + peephole[u] * before);
      double forget = op.getInputForget() ? 1 - input : layer.activated(0, sum(2) + peephole[2 * h + u] * before);
      double cell = forget * before + input * layer.activated(1, sum(3));
      double output = layer.activated(0, sum(1) + peephole[h + u] * cell);
      next[u] = output * apply(layer.activations[2], cell);
      next[h + u] = cell;
    }
  });
}

/// Rows of f32 as integers from 0 to 255 less their zero point, by the extremes of all and 0 (docs/numerics.md).
struct RoundedRows {
  Row numbers;
  double scale;

  explicit RoundedRows(const Row &rows) : numbers(rows.size()) {
    double low = 0, high = 0;
    for (double x : rows) low = smaller(low, x), high = larger(high, x);
    auto single = [](double x) { return double(float(x)); };
    scale = single(single(single(high) - single(low)) / 255);
    if (scale == 0) scale = 1;
    double zero = std::min(std::nearbyint(single(-single(low) / scale)), 255.0);
    for (auto [x, number] : llvm::zip_equal(rows, numbers)) {
      double integer = std::nearbyint(single(single(x) / scale)) + zero;
      number = (integer > 0 ? std::min(integer, 255.0) : 0) - zero;
    }
  }
};

/// Columns of a weight of bytes less their zero points, with their scales.
struct ByteMatrix {
  Row elements, scale;
  int64_t columns;

  ByteMatrix(Row matrix, const Row &zeros, const Row &scales, int64_t columns)
      : elements(std::move(matrix)), scale(size_t(columns)), columns(columns) {
    for (size_t i = 0; i < elements.size(); ++i) elements[i] -= zeros[zeros.size() == 1 ? 0 : i % size_t(columns)];
    for (size_t n = 0; n < scale.size(); ++n) scale[n] = scales[scales.size() == 1 ? 0 : n];
  }
  double product(const RoundedRows &left, int64_t row, int64_t depth, int64_t column) const {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum += left.numbers[row * depth + k] * elements[k * columns + column];
    return sum * (left.scale * scale[column]);
  }
};

// All rows take a step together: they share the scale that the state is rounded with.
mlir::LogicalResult evaluateLstmInteger(ir::LstmIntegerOp op, Evaluation &e) {
  Layer layer(op, e, {RecurrentFunction::sigmoid, RecurrentFunction::tanh, RecurrentFunction::tanh});
  const int64_t h = layer.hidden, batch = layer.batch;
  auto matrix = [&](mlir::Value bytes, mlir::Value zero, mlir::Value scale) {
    return ByteMatrix(layer.read(bytes), layer.read(zero), layer.read(scale), 4 * h);
  };
  ByteMatrix weight = matrix(op.getWeight(), op.getWeightZero(), op.getWeightScale());
  ByteMatrix recurrence = matrix(op.getRecurrence(), op.getRecurrenceZero(), op.getRecurrenceScale());
  Row peephole = op.getPeephole() ? layer.read(op.getPeephole()) : Row(3 * h, 0);
  Row state = layer.read(op.getInitialH()), cell = layer.read(op.getInitialC()), input = layer.input;
  std::vector<int64_t> lengths(size_t(batch), layer.steps);
  for (auto [length, given] : llvm::zip(lengths, layer.lengths)) length = std::min(length, int64_t(given));
  int64_t longest = batch ? *llvm::max_element(lengths) : 0;
  std::fill(input.begin() + std::max<int64_t>(longest, 0) * batch * layer.features, input.end(), 0);
  RoundedRows inputs(input);
  Row outputs(layer.steps * batch * h, 0);
  for (int64_t i = 0; i < longest; ++i) {
    Row seen = state;
    for (int64_t row = 0; row < batch; ++row)
      if (i > lengths[row]) std::fill_n(seen.begin() + row * h, h, 0);
    RoundedRows states(seen);
    for (int64_t row = 0; row < batch; ++row) {
      if (i >= lengths[row]) continue;
      int64_t step = op.getReverse() ? lengths[row] - 1 - i : i;
      for (int64_t u = 0; u < h; ++u) {
        auto sum = [&](int64_t gate) {
          int64_t column = gate * h + u;
          return weight.product(inputs, step * batch + row, layer.features, column) +
                 recurrence.product(states, row, h, column) + layer.bias[column] + layer.bias[4 * h + column];
        };
        double &before = cell[row * h + u];
        double entry = layer.activated(0, sum(0) + peephole[u] * before);
        double forget = op.getInputForget() ? 1 - entry : layer.activated(0, sum(2) + peephole[2 * h + u] * before);
        before = forget * before + entry * layer.activated(1, sum(3));
        double output = layer.activated(0, sum(1) + peephole[h + u] * before);
        state[row * h + u] = output * apply(layer.activations[2], before);
        outputs[(step * batch + row) * h + u] = state[row * h + u];
      }
    }
  }
  (void)e.give(Tensor::ofFloats(e.resultType(0), std::move(outputs)));
  (void)e.give(Tensor::ofFloats(e.resultType(1), std::move(state)));
  return e.give(Tensor::ofFloats(e.resultType(2), std::move(cell)));
}

} // namespace

void addRecurrent(EvaluatorTable &table) { table.add(evaluateRnn, evaluateGru, evaluateLstm, evaluateLstmInteger); }

} // namespace sprig::interp
