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
    hidden = op.getRecurrence().getType().getDimSize(1);
    width = op.getRecurrence().getType().getDimSize(0);
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

} // namespace

void addRecurrent(EvaluatorTable &table) {
  table.add(evaluateRnn);
  table.add(evaluateGru);
  table.add(evaluateLstm);
}

} // namespace sprig::interp
