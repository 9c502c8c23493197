// Merging of batch norms into the contraction in front of them, for the pass freeze.
#pragma once
#include "dialects/NN/NNComposite.h"

namespace sprig {

/// Where `norm` has constant scale, shift, mean and variance and normalises a convolution, transposed convolution,
/// linear or matrix product with constant weights, with or without a constant bias, and nothing else reads that
/// product, rewrites the three to the product with scaled weights plus one bias. The new constants are left as
/// operations on constants.
bool foldBatchNorm(ir::BatchNormOp norm);

} // namespace sprig
