// Dropout and attention.
#include "lib/Frontend/Engine/BatchScope.h"
#include "lib/Frontend/Ops/Indexing.h"
#include "sprig/functional.h"
#include <cmath>

namespace sprig {

using frontend::Attr;
using frontend::Emitter;

namespace {
void checkProbability(const Emitter &r, double p) {
  if (!(p >= 0 && p <= 1)) r.fail("drops with probability " + frontend::realText(p) + "; expected 0 to 1");
}

Tensor dropped(const Emitter &r, const Tensor &x, double p) {
  if (p == 0) return x;
  auto words = frontend::nextRandom(r.at);
  const Tensor inputs[] = {x, words.key, words.counter};
  auto drop = [&](std::span<const Tensor> in) {
    return std::vector{r.emit(SPRIG_OP("dropout"), {in[0], in[1], in[2]}, {Attr::of("ratio", p)}, in[0].type(r.at))};
  };
  return frontend::drawForEach(inputs, drop, r.at);
}
} // namespace

Tensor dropout(const Operand &x, double p, bool training) {
  Emitter r("dropout", x.at);
  checkProbability(r, p);
  Tensor operand = r.requireFloat(x);
  return training ? dropped(r, operand, p) : operand;
}

Tensor dropoutChannels(const Operand &x, double p, bool training) {
  Emitter r("dropoutChannels", x.at);
  checkProbability(r, p);
  Tensor operand = r.requireFloat(x);
  const TensorType type = operand.type(r.at);
  if (type.shape.rank() < 2) r.fail("takes [N, C, ...], got " + describe(type));
  if (!training || p == 0) return operand;
  TensorType mask = type;
  for (int i = 2; i < type.shape.rank(); ++i) mask.shape[i] = 1;
  return r.mul(operand, dropped(r, frontend::splat(1, mask, r.at), p));
}

Tensor scaledDotProductAttention(const Operand &query, const Operand &key, const Operand &value,
                                 const AttentionOptions &options) {
  Emitter r("scaledDotProductAttention", query.at);
  checkProbability(r, options.dropout);
  Tensor q = r.requireFloat(query, "query"), k = r.requireFloat(key, "key"), v = r.requireFloat(value, "value");
  const TensorType &qt = q.type(r.at), &kt = k.type(r.at), &vt = v.type(r.at);
  bool fits = qt.dtype == kt.dtype && qt.dtype == vt.dtype && qt.shape.rank() >= 2 && kt.shape.rank() >= 2 &&
              vt.shape.rank() >= 2 && qt.shape.back() == kt.shape.back() &&
              kt.shape[kt.shape.rank() - 2] == vt.shape[vt.shape.rank() - 2];
  if (!fits)
    r.fail("takes query [..., L, E], key [..., S, E] and value [..., S, V] of one type, got " + describe(qt) + ", " +
           describe(kt) + " and " + describe(vt));
  double scale = options.scale != 0 ? options.scale : 1 / std::sqrt(double(qt.shape.back()));
  Tensor scores = r.matmul(q, k, false, true);
  scores = r.mul(scores, r.number(scale, scores));
  const TensorType type = scores.type(r.at);
  int last = type.shape.rank() - 1;
  if (options.causal) {
    Tensor row = r.iota({DType::i64, {type.shape[last - 1], 1}}, 0),
           column = r.iota({DType::i64, {1, type.shape[last]}}, 1);
    scores = r.select(r.compare("predicate ge", row, column), scores, r.number(-HUGE_VAL, scores));
  }
  if (options.mask.defined()) {
    const TensorType &mask = options.mask.type(r.at);
    Shape common;
    if (!frontend::broadcastShapes(type.shape, mask.shape, common) || common != type.shape)
      r.fail("has mask " + describe(mask) + " for scores " + describe(type));
    if (mask.dtype != DType::boolean && !isFloat(mask.dtype))
      r.fail("takes booleans or floats as mask, got " + describe(mask));
    scores = mask.dtype == DType::boolean ? r.select(options.mask, scores, r.number(-HUGE_VAL, scores))
                                          : r.add(scores, r.cast(options.mask, type.dtype));
  }
  Tensor weights = r.attentionWeights(scores, options.mask.defined());
  return r.matmul(dropped(r, weights, options.dropout), v);
}

} // namespace sprig
