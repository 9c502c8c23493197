#include "lib/Frontend/Ops/Elimination.h"
#include "sprig/control.h"
#include <cfloat>

namespace sprig::frontend {

namespace {

double smallest(DType type) { return type == DType::f64 ? DBL_MIN : double(FLT_MIN); }

/// A batch of matrices at a column, and masks that say where things are. Elements that a mask hides are never
/// multiplied, so that infinities stay where they are.
struct Column {
  Column(const Emitter &r, const Tensor &matrix, const Tensor &column) : r(r), column(column) {
    const Shape &shape = matrix.type(r.at).shape;
    row = r.iota({DType::i64, {1, shape[1], 1}}, 1);
    isRow = r.compare("predicate eq", row, column);
    isColumn = r.compare("predicate eq", r.iota({DType::i64, {1, 1, shape[2]}}, 2), column);
  }
  /// What the mask shows, summed along an axis of which it shows one element.
  Tensor pick(const Tensor &mask, const Tensor &x, int axis) const {
    return r.sum(r.select(mask, x, r.number(0, x)), {axis}, true);
  }

  const Emitter &r;
  Tensor column, row, isRow, isColumn;
};

struct Step {
  Tensor matrix, pivot, isSwapped;
};

Step eliminateColumn(const Emitter &r, Tensor m, const Tensor &column, bool refusesSingular) {
  Column at(r, m, column);
  const TensorType type = m.type(r.at);
  Tensor values = at.pick(at.isColumn, m, 2);
  Tensor candidates = r.select(r.compare("predicate ge", at.row, column), r.abs(values), r.number(-1, m));
  Tensor best = r.emit(SPRIG_OP("arg_reduce"), {candidates},
                       {Attr::word("kind", "reduce_kind max"), Attr::of("axis", 1), Attr::unit("keep_dims")},
                       {DType::i64, {type.shape[0], 1, 1}});
  Tensor source = r.select(at.isRow, best, r.select(r.compare("predicate eq", at.row, best), column, at.row));
  m = r.gatherElements(m, r.broadcastTo(source, type.shape), 1);
  Tensor pivotRow = at.pick(at.isRow, m, 1), pivot = at.pick(at.isColumn, pivotRow, 2), divisor;
  if (refusesSingular) {
    Tensor size = r.inRange(r.abs(pivot), smallest(type.dtype));
    divisor = r.select(r.compare("predicate lt", pivot, r.number(0, pivot)), r.neg(size), size);
  } else {
    divisor = r.select(r.compare("predicate eq", pivot, r.number(0, pivot)), r.number(1, pivot), pivot);
  }
  Tensor unit = r.div(pivotRow, divisor), factors = at.pick(at.isColumn, m, 2);
  Tensor next = r.select(at.isRow, unit, r.sub(m, r.mul(factors, unit)));
  return {next, r.reshape(pivot, {type.shape[0]}), r.reshape(r.compare("predicate ne", best, column), {type.shape[0]})};
}

} // namespace

Elimination eliminate(const Emitter &r, const Tensor &matrix, bool refusesSingular) {
  Tensor columns = r.iota({DType::i64, {matrix.type(r.at).shape[1]}}, 0);
  ScanResult result = scanAll(
      [&](std::span<const Tensor> carry, std::span<const Tensor> inputs) {
        Step step = eliminateColumn(r, carry[0], inputs[0], refusesSingular);
        return std::pair(TensorList{step.matrix}, TensorList{step.pivot, step.isSwapped});
      },
      {&matrix, 1}, {&columns, 1}, {}, r.at);
  return {result.carry[0], result.outputs[0], result.outputs[1]};
}

Tensor choleskyFactor(const Emitter &r, const Tensor &matrix) {
  const TensorType type = matrix.type(r.at);
  Tensor columns = r.iota({DType::i64, {type.shape[1]}}, 0);
  ScanResult result = scanAll(
      [&](std::span<const Tensor> carry, std::span<const Tensor> inputs) {
        const Tensor &m = carry[0];
        Column at(r, m, inputs[0]);
        Tensor values = at.pick(at.isColumn, m, 2);
        Tensor root = r.sqrt(r.inRange(at.pick(at.isRow, values, 1), smallest(type.dtype)));
        Tensor isBelow = r.compare("predicate ge", at.row, inputs[0]);
        Tensor column = r.select(isBelow, r.div(values, root), r.number(0, values)); // [B, n, 1]
        Tensor next = r.sub(m, r.mul(column, r.transpose(column, {0, 2, 1})));
        return std::pair(TensorList{next}, TensorList{r.dropAxis(column, 2)});
      },
      {&matrix, 1}, {&columns, 1}, {}, r.at);
  return r.transpose(result.outputs[0], {1, 2, 0}); // [column, B, row]
}

} // namespace sprig::frontend
