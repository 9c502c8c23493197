#include "lib/Frontend/Layers/LayerText.h"
#include "sprig/nn/attention.h"
#include "sprig/nn/containers.h"
#include "sprig/ops.h"

namespace sprig::nn {

namespace {

MultiheadAttention attentionOf(int64_t features, int64_t heads, const TransformerOptions &o, Source at) {
  return MultiheadAttention(features, heads, {.dropout = o.dropout, .bias = o.bias, .batchFirst = o.batchFirst}, at);
}
LayerNorm normOf(int64_t features, const TransformerOptions &o, Source at) {
  return LayerNorm(features, {.epsilon = o.epsilon, .bias = o.bias}, at);
}

/// linear2(dropout(activation(linear1(x))))
Tensor feedForward(const Operand &x, const Linear &first, const Dropout &dropout, const Linear &second,
                   TransformerActivation activation) {
  Operand wide = with(first(x), x);
  Tensor active = activation == TransformerActivation::relu ? relu(wide) : gelu(wide);
  return second(with(dropout(with(active, x)), x));
}

/// The sum of x and f(x), with the norm before f or after the sum.
template <typename F>
Tensor residual(const Tensor &x, const LayerNorm &norm, const Dropout &dropout, bool normFirst, const Operand &caller,
                F f) {
  auto as = [&](const Tensor &tensor) { return with(tensor, caller); };
  if (normFirst) return add(as(x), as(dropout(as(f(as(norm(as(x))))))));
  return norm(as(add(as(x), as(dropout(as(f(as(x))))))));
}

} // namespace

TransformerEncoderLayer::TransformerEncoderLayer(int64_t features, int64_t heads, const TransformerOptions &options,
                                                 Source at)
    : options(options) {
  selfAttention = add("self_attn", attentionOf(features, heads, options, at), at);
  linear1 = add("linear1", Linear(features, options.feedForward, {.bias = options.bias}, at), at);
  dropout = add("dropout", Dropout(options.dropout, at), at);
  linear2 = add("linear2", Linear(options.feedForward, features, {.bias = options.bias}, at), at);
  norm1 = add("norm1", normOf(features, options, at), at);
  norm2 = add("norm2", normOf(features, options, at), at);
  dropout1 = add("dropout1", Dropout(options.dropout, at), at);
  dropout2 = add("dropout2", Dropout(options.dropout, at), at);
}

Tensor TransformerEncoderLayer::operator()(const Operand &x, const AttentionMask &mask) const {
  InLayer in(scope());
  Tensor y = residual(x.tensor, norm1, dropout1, options.normFirst, x,
                      [&](const Operand &z) { return selfAttention(z, z, z, mask); });
  return hooked(x, residual(y, norm2, dropout2, options.normFirst, x, [&](const Operand &z) {
                  return feedForward(z, linear1, dropout, linear2, options.activation);
                }));
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t features, int64_t heads, const TransformerOptions &options,
                                                 Source at)
    : options(options) {
  selfAttention = add("self_attn", attentionOf(features, heads, options, at), at);
  crossAttention = add("multihead_attn", attentionOf(features, heads, options, at), at);
  linear1 = add("linear1", Linear(features, options.feedForward, {.bias = options.bias}, at), at);
  dropout = add("dropout", Dropout(options.dropout, at), at);
  linear2 = add("linear2", Linear(options.feedForward, features, {.bias = options.bias}, at), at);
  norm1 = add("norm1", normOf(features, options, at), at);
  norm2 = add("norm2", normOf(features, options, at), at);
  norm3 = add("norm3", normOf(features, options, at), at);
  dropout1 = add("dropout1", Dropout(options.dropout, at), at);
  dropout2 = add("dropout2", Dropout(options.dropout, at), at);
  dropout3 = add("dropout3", Dropout(options.dropout, at), at);
}

Tensor TransformerDecoderLayer::operator()(const Operand &x, const Operand &memory, const AttentionMask &mask,
                                           const AttentionMask &memoryMask) const {
  InLayer in(scope());
  Tensor y = residual(x.tensor, norm1, dropout1, options.normFirst, x,
                      [&](const Operand &z) { return selfAttention(z, z, z, mask); });
  y = residual(y, norm2, dropout2, options.normFirst, x,
               [&](const Operand &z) { return crossAttention(z, memory, memory, memoryMask); });
  return hooked(x, residual(y, norm3, dropout3, options.normFirst, x, [&](const Operand &z) {
                  return feedForward(z, linear1, dropout, linear2, options.activation);
                }));
}

namespace {

/// Copies of a layer.
template <typename L> ModuleList<L> copiesOf(const char *owner, const L &layer, int64_t count, Source at) {
  needPositive(count, owner, "the number of layers", at);
  ModuleList<L> list;
  for (int64_t i = 0; i < count; ++i) list.append(clone(layer), at);
  return list;
}

} // namespace

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer &layer, int64_t count, Source at)
    : layers(add("layers", copiesOf("TransformerEncoder", layer, count, at), at)) {}
TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer &layer, int64_t count, const LayerNorm &given,
                                       Source at)
    : TransformerEncoder(layer, count, at) {
  norm = add("norm", given, at);
}

Tensor TransformerEncoder::operator()(const Operand &x, const AttentionMask &mask) const {
  InLayer in(scope());
  Tensor y = x.tensor;
  for (const TransformerEncoderLayer &layer : layers) y = layer(with(y, x), mask);
  return hooked(x, norm ? (*norm)(with(y, x)) : y);
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer &layer, int64_t count, Source at)
    : layers(add("layers", copiesOf("TransformerDecoder", layer, count, at), at)) {}
TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer &layer, int64_t count, const LayerNorm &given,
                                       Source at)
    : TransformerDecoder(layer, count, at) {
  norm = add("norm", given, at);
}

Tensor TransformerDecoder::operator()(const Operand &x, const Operand &memory, const AttentionMask &mask,
                                      const AttentionMask &memoryMask) const {
  InLayer in(scope());
  Tensor y = x.tensor;
  for (const TransformerDecoderLayer &layer : layers) y = layer(with(y, x), memory, mask, memoryMask);
  return hooked(x, norm ? (*norm)(with(y, x)) : y);
}

} // namespace sprig::nn
