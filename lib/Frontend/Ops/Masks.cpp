// What boolean masks pick, with a bound on how much: shapes must be known before a mask has run.
// Picked elements move to the front by a running count of the mask. That there are no more than the bound is checked
// when it runs, where the values depend on it.
#include "sprig/masks.h"
#include "lib/Frontend/Ops/Indexing.h"

namespace sprig {

using frontend::Emitter;

namespace {
struct Picks {
  Tensor positions; ///< [bound] row-major, i64; from the count on some position that exists
  Tensor isPicked;  ///< [bound]: which of them count
  Tensor count;     ///< i64
};

/// `mask`: a vector of booleans, not empty.
Picks picksOf(const Emitter &r, const Tensor &mask, int64_t bound) {
  int64_t size = mask.type(r.at).shape[0];
  Tensor ones = r.cast(mask, DType::i64);
  Tensor running = r.unary(SPRIG_OP("cumulative"), ones,
                           {frontend::Attr::word("kind", "reduce_kind sum"), frontend::Attr::of("axis", int64_t(0))});
  Tensor count = r.reshape(r.part(running, 0, size - 1, 1), {});
  // Fewer than 2^48: exact in f64.
  count = r.cast(r.inRange(r.cast(count, DType::f64), 0, double(bound)), DType::i64);
  if (bound == 0) return {r.iota({DType::i64, {0}}, 0), frontend::splat(0, {DType::boolean, {0}}, r.at), count};
  // Each picked element writes its position into its slot, all others into one slot more, which is cut off.
  auto number = [&](int64_t value) { return frontend::scalarInteger(value, DType::i64, r.at); };
  Tensor slot = r.select(mask, r.min(r.sub(running, ones), number(bound)), number(bound));
  Tensor places = r.scatterElements("scatter_kind none", frontend::splat(0, {DType::i64, {bound + 1}}, r.at), slot,
                                    r.iota({DType::i64, {size}}, 0), 0);
  return {r.part(places, 0, 0, bound), r.compare("predicate lt", r.iota({DType::i64, {bound}}, 0), count), count};
}

void checkBound(const Emitter &r, int64_t bound) {
  if (bound < 0) r.fail("has room for " + std::to_string(bound) + " elements");
  r.checkShape({bound});
}

Tensor requireMask(const Emitter &r, const Operand &mask) {
  Tensor result = r.tensorOf(mask, "mask");
  if (result.type(r.at).dtype != DType::boolean)
    r.fail("takes a boolean mask, got " + describe(result.type(r.at)) + "; compare it, for instance with != 0");
  return result;
}

Tensor zeroCount(const Emitter &r) { return frontend::scalarInteger(0, DType::i64, r.at); }
} // namespace

Nonzero nonzero(const Operand &x, int64_t bound, int64_t fill) {
  Emitter r("nonzero", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType type = operand.type(r.at);
  checkBound(r, bound);
  int rank = type.shape.rank();
  if (rank == 0) r.fail("finds positions along axes, got the scalar " + describe(type));
  TensorType result{DType::i64, {bound, rank}};
  if (type.elements() == 0) return {frontend::splat(double(fill), result, r.at, r.op), zeroCount(r)};
  if (type.dtype != DType::boolean) operand = r.compare("predicate ne", operand, r.number(0, operand));
  Picks picks = picksOf(r, r.reshape(operand, {type.elements()}), bound);
  std::vector<Tensor> columns;
  int64_t stride = type.elements();
  for (int i = 0; i < rank; ++i) {
    stride /= type.shape[i];
    Tensor column = picks.positions;
    if (stride > 1) column = r.div(column, frontend::scalarInteger(stride, DType::i64, r.at));
    if (i > 0) column = r.binary(SPRIG_OP("mod"), column, frontend::scalarInteger(type.shape[i], DType::i64, r.at));
    column = r.select(picks.isPicked, column, frontend::scalarInteger(fill, DType::i64, r.at));
    columns.push_back(r.unsqueeze(column, 1));
  }
  return {r.concat(columns, 1), picks.count};
}

Selected maskedSelect(const Operand &x, const Operand &mask, int64_t bound, const Operand &fill) {
  Emitter r("maskedSelect", x.at);
  Tensor operand = r.tensorOf(x), which = requireMask(r, mask);
  const TensorType type = operand.type(r.at);
  Shape common = r.broadcast(type, which.type(r.at));
  checkBound(r, bound);
  Tensor filler = fill.kind == Operand::Kind::tensor && !fill.tensor.defined() ? r.number(0, operand)
                                                                               : r.converted(fill, type.dtype);
  if (!filler.type(r.at).shape.empty()) r.fail("fills with a scalar, got " + describe(filler.type(r.at)));
  int64_t size = common.elements();
  if (size == 0) return {r.broadcastTo(filler, {bound}), zeroCount(r)};
  Picks picks = picksOf(r, r.reshape(r.broadcastTo(which, common), {size}), bound);
  Tensor values = r.gather(r.reshape(r.broadcastTo(operand, common), {size}), picks.positions, 0);
  return {r.select(picks.isPicked, values, filler), picks.count};
}

Tensor maskedScatter(const Operand &x, const Operand &mask, const Operand &source) {
  Emitter r("maskedScatter", x.at);
  Tensor operand = r.tensorOf(x), which = requireMask(r, mask), values = r.tensorOf(source, "source");
  const TensorType type = operand.type(r.at), &from = values.type(r.at);
  if (from.dtype != type.dtype)
    r.fail("puts " + describe(from) + " into " + describe(type) + "; convert one of them with to()");
  if (r.broadcast(type, which.type(r.at)) != type.shape)
    r.fail("has mask " + describe(which.type(r.at)) + ", which does not broadcast to " + describe(type));
  int64_t size = type.elements(), given = from.elements();
  if (size == 0) return operand;
  Tensor flat = r.reshape(r.broadcastTo(which, type.shape), {size}), ones = r.cast(flat, DType::i64);
  Tensor running = r.unary(SPRIG_OP("cumulative"), ones,
                           {frontend::Attr::word("kind", "reduce_kind sum"), frontend::Attr::of("axis", int64_t(0))});
  running = r.cast(r.inRange(r.cast(running, DType::f64), 0, double(given)), DType::i64);
  if (given == 0) // the check remains: no element is picked
    return r.select(r.reshape(r.compare("predicate gt", running, zeroCount(r)), type.shape), r.number(0, operand),
                    operand);
  // Elements that are not picked take some value of the source, which the mask hides.
  Tensor place = r.max(r.sub(running, frontend::scalarInteger(1, DType::i64, r.at)), zeroCount(r));
  Tensor picked = r.gather(r.reshape(values, {given}), place, 0);
  return r.select(which, r.reshape(picked, type.shape), operand);
}

} // namespace sprig
