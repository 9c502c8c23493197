// A model made ready for quantisation: the same function, in the form in which its products are found.
// For quantisation. Rounding may differ by units of f32 where constants were folded.
#pragma once
#include "lib/Quantize/Graph.h"

namespace sprig::quantize {

/// Rewrites a model of an older operator set to 13, the first whose quantisers have a scale for each channel. Throws
/// unsupported, and names the node, where an operator's old form has no new one.
void upgrade(Graph &graph);

/// Drops identities and the dropouts of inference; constants behind identities and transposes become constants.
void dropIdentities(Graph &graph);
/// Batch norms behind convolutions and products of constant weights become part of weight and bias. Gives their number.
int foldNorms(Graph &graph);
/// Pools of the largest move behind the activation that follows them, where it is one that keeps order, so that the
/// activation meets the product before.
void activateBeforePools(Graph &graph);

/// All of it.
void prepare(Graph &graph);

} // namespace sprig::quantize
