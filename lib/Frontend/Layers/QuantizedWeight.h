// Weights of layers that are trained for integers (Quantize.cpp), as weights that are computed at each call
// (Parametrize.cpp). For the implementation of layers.
#pragma once
#include "sprig/nn/module.h"

namespace sprig::nn {

/// The weight once it was quantised: symmetric, a scale for each slice along the axis, -1: one for all.
Tensor quantizedWeight(const Tensor &weight, int axis, int bits, Source at);

/// Has the layer compute its weight so, of "parametrizations.weight.original".
void quantizeWeight(const Module &layer, int axis, int bits, bool perChannel, Source at);

} // namespace sprig::nn
