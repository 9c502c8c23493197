// Elements picked and written by indices that are tensors.
#include "lib/Frontend/Ops/Indexing.h"

namespace sprig {

using frontend::Attr;
using frontend::Emitter;

namespace {
/// Indices of x's rank that are no larger than x in other dimensions.
void checkFits(const Emitter &r, const TensorType &indices, const TensorType &x, int axis) {
  bool fits = indices.shape.rank() == x.shape.rank();
  for (int i = 0; fits && i < x.shape.rank(); ++i) fits = i == axis || indices.shape[i] <= x.shape[i];
  if (!fits)
    r.fail("has indices " + describe(indices) + " into " + describe(x) + " along axis " + std::to_string(axis) +
           "; they have its rank and fit in its other axes");
}

Tensor vectorOf(const Emitter &r, const Operand &x) {
  Tensor indices = r.indicesOf(x);
  if (indices.type(r.at).shape.rank() != 1) r.fail("takes a vector of indices, got " + describe(indices.type(r.at)));
  return indices;
}

/// Along an axis, indices[i] for all positions of the others.
Tensor spread(const Emitter &r, const Tensor &indices, const Shape &shape, int axis) {
  Shape lifted;
  for (int i = 0; i < shape.rank(); ++i) lifted.push_back(i == axis ? indices.type(r.at).shape[0] : 1);
  return r.broadcastTo(r.reshape(indices, lifted), shape);
}
} // namespace

Tensor gather(const Operand &x, int axis, const Operand &indices) {
  Emitter r("gather", x.at);
  Tensor operand = r.tensorOf(x), picks = r.indicesOf(indices);
  int along = r.axisOf(axis, operand.type(r.at));
  checkFits(r, picks.type(r.at), operand.type(r.at), along);
  return r.gatherElements(operand, r.fromStart(picks, operand.type(r.at).shape[along]), along);
}

Tensor indexSelect(const Operand &x, int axis, const Operand &indices) {
  Emitter r("indexSelect", x.at);
  Tensor operand = r.tensorOf(x), picks = vectorOf(r, indices);
  int along = r.axisOf(axis, operand.type(r.at));
  return r.gather(operand, r.fromStart(picks, operand.type(r.at).shape[along]), along);
}

Tensor take(const Operand &x, const Operand &indices, int axis) {
  Emitter r("take", x.at);
  Tensor operand = r.tensorOf(x);
  return r.gather(operand, r.indicesOf(indices), r.axisOf(axis, operand.type(r.at)));
}

Tensor take(const Operand &x, const Operand &indices) {
  Emitter r("take", x.at);
  Tensor operand = r.tensorOf(x);
  return r.gather(r.reshape(operand, {operand.type(r.at).elements()}), r.indicesOf(indices), 0);
}

Tensor embedding(const Operand &indices, const Operand &table) {
  Emitter r("embedding", indices.at.line ? indices.at : table.at);
  Tensor rows = r.tensorOf(table, "table"), picks = r.indicesOf(indices);
  const TensorType &type = rows.type(r.at);
  if (type.shape.rank() != 2) r.fail("takes a table [rows, features], got " + describe(type));
  return r.gather(rows, r.fromStart(picks, type.shape[0]), 0);
}

Tensor scatter(const Operand &x, int axis, const Operand &indices, const Operand &source, Scatter how) {
  Emitter r("scatter", x.at);
  Tensor operand = r.tensorOf(x), picks = r.indicesOf(indices);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  checkFits(r, picks.type(r.at), type, along);
  Tensor updates;
  if (source.kind != Operand::Kind::tensor) {
    updates = r.broadcastTo(r.converted(source, type.dtype), picks.type(r.at).shape);
  } else {
    updates = r.tensorOf(source, "source");
    if (updates.type(r.at) != TensorType{type.dtype, picks.type(r.at).shape})
      r.fail("writes " + describe(updates.type(r.at)) + " at indices " + describe(picks.type(r.at)) + " into " +
             describe(type) + "; it takes " + describe(TensorType{type.dtype, picks.type(r.at).shape}));
  }
  static constexpr const char *kWords[] = {"scatter_kind none", "scatter_kind add", "scatter_kind mul",
                                           "scatter_kind max", "scatter_kind min"};
  if (type.dtype == DType::boolean && how != Scatter::none) r.fail("combines numbers, got " + describe(type));
  return r.scatterElements(kWords[int(how)], operand, r.fromStart(picks, type.shape[along]), updates, along);
}

Tensor indexAdd(const Operand &x, int axis, const Operand &indices, const Operand &source) {
  Emitter r("indexAdd", x.at);
  Tensor operand = r.tensorOf(x), picks = vectorOf(r, indices), updates = r.tensorOf(source, "source");
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  TensorType expected = type;
  expected.shape[along] = picks.type(r.at).shape[0];
  if (updates.type(r.at) != expected)
    r.fail("adds " + describe(updates.type(r.at)) + " at " + std::to_string(expected.shape[along]) +
           " positions of axis " + std::to_string(along) + " of " + describe(type) + "; it takes " +
           describe(expected));
  if (type.dtype == DType::boolean) r.fail("adds numbers, got " + describe(type));
  picks = r.fromStart(picks, type.shape[along]);
  return r.scatterElements("scatter_kind add", operand, spread(r, picks, expected.shape, along), updates, along);
}

Tensor oneHot(const Operand &indices, int64_t classes, DType type) {
  Emitter r("oneHot", indices.at);
  if (classes < 1) r.fail("has " + std::to_string(classes) + " classes");
  Tensor picks = r.indicesOf(indices);
  const TensorType &own = picks.type(r.at);
  if (own.shape.rank() == Shape::kMaxRank) r.fail("takes at most seven axes, got " + describe(own));
  picks = r.fromStart(picks, classes);
  Tensor each = r.iota({own.dtype, {classes}}, 0);
  return r.cast(r.compare("predicate eq", r.unsqueeze(picks, own.shape.rank()), each), type);
}

namespace {
/// Which elements of the last two axes lie on or below (above) a diagonal.
Tensor triangle(const char *op, const char *word, const Operand &x, int64_t diagonal) {
  Emitter r(op, x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  int rank = type.shape.rank();
  if (rank < 2) r.fail("takes matrices, got " + describe(type));
  Tensor row = r.iota({DType::i64, {type.shape[rank - 2], 1}}, 0),
         column = r.iota({DType::i64, {1, type.shape[rank - 1]}}, 1);
  Tensor keeps = r.compare(word, r.add(row, frontend::scalarInteger(diagonal, DType::i64, r.at)), column);
  return r.select(keeps, operand, r.number(0, operand));
}
} // namespace

Tensor tril(const Operand &x, int64_t diagonal) { return triangle("tril", "predicate ge", x, diagonal); }
Tensor triu(const Operand &x, int64_t diagonal) { return triangle("triu", "predicate le", x, diagonal); }

Tensor diag(const Operand &x, int64_t diagonal) {
  Emitter r("diag", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  if (diagonal < -(int64_t(1) << 30) || diagonal > int64_t(1) << 30)
    r.fail("has diagonal " + std::to_string(diagonal) + " of " + describe(type));
  int64_t above = std::max<int64_t>(diagonal, 0), below = std::max<int64_t>(-diagonal, 0);
  if (type.shape.rank() == 1) {
    int64_t n = type.shape[0] + above + below;
    // Each row has its one element; the mask keeps it on the diagonal alone.
    Tensor rows = r.unsqueeze(r.pad("pad_mode constant", operand, 0, {below}, {above}), 1);
    Tensor row = r.iota({DType::i64, {n, 1}}, 0), column = r.iota({DType::i64, {1, n}}, 1);
    Tensor isOn = r.compare("predicate eq", r.sub(column, row), frontend::scalarInteger(diagonal, DType::i64, r.at));
    return r.select(isOn, rows, r.number(0, operand));
  }
  if (type.shape.rank() != 2) r.fail("takes a vector or a matrix, got " + describe(type));
  int64_t rows = type.shape[0], columns = type.shape[1];
  int64_t count = std::max<int64_t>(0, std::min(rows - below, columns - above));
  Tensor flat = r.reshape(operand, {rows * columns});
  return r.part(flat, 0, count ? below * columns + above : 0, count, count > 1 ? columns + 1 : 1);
}

} // namespace sprig
