// Attention and transformer layers (arXiv:1706.03762), PyTorch's. For programs.
// Sequences are [steps, batch, features], or [batch, steps, features] with batchFirst, or [steps, features].
#pragma once
#include "sprig/nn/containers.h"
#include "sprig/nn/dropout.h"
#include "sprig/nn/linear.h"
#include "sprig/nn/normalization.h"

namespace sprig::nn {

/// What queries must not see. Booleans are PyTorch's here: true hides (in AttentionOptions::mask true shows); floats
/// are added to the scores. A key is seen where none of the three hides it; a query that sees none gets zeros. Other
/// shapes are an error (usage).
struct AttentionMask {
  Tensor mask = {};       ///< [L, S], or [batch heads, L, S]
  Tensor keyPadding = {}; ///< [batch, S] whatever the layout of the input; [S] without a batch
  bool causal = false;    ///< step i sees steps 0 to i
};

struct AttentionResult {
  Tensor output;  ///< as the query
  Tensor weights; ///< [batch, L, S], the mean over heads
};

struct MultiheadAttentionOptions {
  double dropout = 0; ///< of the weights, in training
  bool bias = true;
  int64_t keyFeatures = 0, valueFeatures = 0; ///< the embedding's unless given
  bool batchFirst = false;
};
/// softmax(q k^T / sqrt(d)) v for each head, of linear maps of query, key and value. Parameters in_proj_weight,
/// in_proj_bias, out_proj; maps start by xavierUniform, biases as zeros.
class SPRIG_API MultiheadAttention : public Module {
public:
  MultiheadAttention() = default;
  MultiheadAttention(int64_t features, int64_t heads, const MultiheadAttentionOptions &options = {},
                     Source at = Source::here());
  Tensor operator()(const Operand &query, const Operand &key, const Operand &value,
                    const AttentionMask &mask = {}) const;
  AttentionResult withWeights(const Operand &query, const Operand &key, const Operand &value,
                              const AttentionMask &mask = {}) const;

  Parameter inProjWeight;                          ///< [3 features, features]; or, of other features,
  Parameter qProjWeight, kProjWeight, vProjWeight; ///< [features, features], ...
  Parameter inProjBias;                            ///< [3 features]
  Linear outProj;

private:
  AttentionResult run(const Operand &query, const Operand &key, const Operand &value, const AttentionMask &mask,
                      bool wantsWeights) const;
  int64_t features = 0, heads = 0;
  MultiheadAttentionOptions options;
};

enum class TransformerActivation : uint8_t { relu, gelu };
struct TransformerOptions {
  int64_t feedForward = 2048;
  double dropout = 0.1;
  TransformerActivation activation = TransformerActivation::relu;
  double epsilon = 1e-5; ///< of the norms
  bool batchFirst = false;
  bool normFirst = false; ///< norms before attention and feed-forward instead of after the sum
  bool bias = true;
};

/// x + attention, norm, + feed-forward, norm.
class SPRIG_API TransformerEncoderLayer : public Module {
public:
  TransformerEncoderLayer() = default;
  TransformerEncoderLayer(int64_t features, int64_t heads, const TransformerOptions &options = {},
                          Source at = Source::here());
  Tensor operator()(const Operand &x) const { return (*this)(x, AttentionMask{}); }
  Tensor operator()(const Operand &x, const AttentionMask &mask) const;
  bool runsHooks() const override { return true; }

  MultiheadAttention selfAttention; ///< self_attn
  Linear linear1;
  Dropout dropout{0.5, Source()};
  Linear linear2;
  LayerNorm norm1, norm2;
  Dropout dropout1{0.5, Source()}, dropout2{0.5, Source()};

private:
  TransformerOptions options;
};

/// x + self-attention, norm, + attention to the memory, norm, + feed-forward, norm.
class SPRIG_API TransformerDecoderLayer : public Module {
public:
  TransformerDecoderLayer() = default;
  TransformerDecoderLayer(int64_t features, int64_t heads, const TransformerOptions &options = {},
                          Source at = Source::here());
  Tensor operator()(const Operand &x, const Operand &memory, const AttentionMask &mask = {},
                    const AttentionMask &memoryMask = {}) const;
  bool runsHooks() const override { return true; }

  MultiheadAttention selfAttention;  ///< self_attn
  MultiheadAttention crossAttention; ///< multihead_attn
  Linear linear1;
  Dropout dropout{0.5, Source()};
  Linear linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1{0.5, Source()}, dropout2{0.5, Source()}, dropout3{0.5, Source()};

private:
  TransformerOptions options;
};

/// `count` copies of a layer (with the same initial values, as in PyTorch; resetParameters() draws each its own), named
/// layers.0, layers.1, ..., and a norm after them where one is given.
class SPRIG_API TransformerEncoder : public Module {
public:
  TransformerEncoder() = default;
  TransformerEncoder(const TransformerEncoderLayer &layer, int64_t count, Source at = Source::here());
  TransformerEncoder(const TransformerEncoderLayer &layer, int64_t count, const LayerNorm &norm,
                     Source at = Source::here());
  Tensor operator()(const Operand &x) const { return (*this)(x, AttentionMask{}); }
  Tensor operator()(const Operand &x, const AttentionMask &mask) const;
  bool runsHooks() const override { return true; }

private:
  ModuleList<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;
};
class SPRIG_API TransformerDecoder : public Module {
public:
  TransformerDecoder() = default;
  TransformerDecoder(const TransformerDecoderLayer &layer, int64_t count, Source at = Source::here());
  TransformerDecoder(const TransformerDecoderLayer &layer, int64_t count, const LayerNorm &norm,
                     Source at = Source::here());
  Tensor operator()(const Operand &x, const Operand &memory, const AttentionMask &mask = {},
                    const AttentionMask &memoryMask = {}) const;
  bool runsHooks() const override { return true; }

private:
  ModuleList<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;
};

} // namespace sprig::nn
