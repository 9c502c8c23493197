// Weights that were trained in front of their quantisers, as the integers that these give.
// For models of writeStatic with `trainable`, once they were trained.
#pragma once
#include "lib/Quantize/Graph.h"

namespace sprig::quantize {

/// Every constant weight that is quantised by a scale of its own largest numbers becomes integers, as static
/// quantisation writes them. Gives how many. Throws badInput where a constant has a quantiser whose scale is computed
/// in another way.
int foldWeights(Graph &graph);

} // namespace sprig::quantize
