// Running sums, the largest elements, sorting.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/reductions.h"

namespace sprig {

using frontend::Attr;
using frontend::Emitter;

namespace {
Tensor running(const char *op, const char *word, const Operand &x, int axis) {
  Emitter r(op, x.at);
  Tensor operand = r.tensorOf(x);
  if (!isFloat(operand.type(r.at).dtype)) operand = r.cast(operand, DType::i64);
  int along = r.axisOf(axis, operand.type(r.at));
  return r.unary(SPRIG_OP("cumulative"), operand, {Attr::word("kind", word), Attr::of("axis", along)});
}

Sorted ordered(const Emitter &r, const Operand &x, int64_t k, int axis, bool largest, bool takesAll) {
  Tensor operand = r.tensorOf(x);
  DType own = operand.type(r.at).dtype;
  if (own == DType::boolean) operand = r.cast(operand, DType::u8);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  int64_t size = type.shape[along];
  if (takesAll) k = size;
  if (k < 0 || k > size)
    r.fail("picks " + std::to_string(k) + " of " + std::to_string(size) + " elements of axis " + std::to_string(along) +
           " of " + describe(type));
  TensorType values = type;
  values.shape[along] = k;
  const TensorType results[] = {values, {DType::i64, values.shape}};
  auto found =
      frontend::recordAll(SPRIG_OP("top_k"), std::span(&operand, 1),
                          {Attr::of("k", k), Attr::of("axis", along), Attr::of("largest", largest)}, results, r.at);
  return {r.cast(found[0], own), found[1]};
}
} // namespace

Tensor cumsum(const Operand &x, int axis) { return running("cumsum", "reduce_kind sum", x, axis); }
Tensor cumprod(const Operand &x, int axis) { return running("cumprod", "reduce_kind prod", x, axis); }

Sorted topk(const Operand &x, int64_t k, int axis, bool largest) {
  return ordered(Emitter("topk", x.at), x, k, axis, largest, false);
}
Sorted sort(const Operand &x, int axis, bool descending) {
  return ordered(Emitter("sort", x.at), x, 0, axis, descending, true);
}
Tensor argsort(const Operand &x, int axis, bool descending) {
  return ordered(Emitter("argsort", x.at), x, 0, axis, descending, true).indices;
}

} // namespace sprig
