// Weights that are computed from other parameters at each call: weight and spectral norms. For programs.
// The layer's `weight` is a parameter no more: parameters() and the state dict have what it is computed of, below
// "parametrizations.weight", by PyTorch's names. Make optimizers after it; one from before says so. What had been tied
// to the weight stays as it is.
#pragma once
#include "sprig/nn/module.h"
#include <optional>

namespace sprig::nn {

struct WeightNormOptions {
  int axis = 0; ///< along which each slice has a length of its own
};
/// weight = g v / |v|, |v| of each slice along the axis (arXiv:1602.07868;
/// torch.nn.utils.parametrizations.weight_norm). g and v, "original0" and "original1", start so that the weight is as
/// it was. Of Linear, Bilinear, Embedding, EmbeddingBag and convolutions; another layer, or a weight that is
/// parametrized or another module's, is an error (usage).
SPRIG_API void weightNorm(const Module &layer, const WeightNormOptions &options = {}, Source at = Source::here());

struct SpectralNormOptions {
  int powerIterations = 1;
  double eps = 1e-12;
  std::optional<int> axis = {}; ///< of the outputs; none: 1 of transposed convolutions, 0 of others
};
/// weight = original / sigma, its largest singular value as a matrix of the axis and all others (arXiv:1802.05957;
/// torch.nn.utils.parametrizations.spectral_norm): sigma = u^T W v, where each call in training mode improves u and v,
/// the buffers "0._u" and "0._v", by this many power iterations, which no gradient goes through. In evaluation mode
/// they stay. They start by 15 iterations from random ones. Of the same layers.
SPRIG_API void spectralNorm(const Module &layer, const SpectralNormOptions &options = {}, Source at = Source::here());

/// The weight of a layer as its next call takes it, in evaluation mode; of one without a norm the parameter's value.
SPRIG_API Tensor weightOf(const Module &layer, Source at = Source::here());

} // namespace sprig::nn
