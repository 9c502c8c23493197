// A planned model whose products quantise their operand when they run: DynamicQuantizeLinear with MatMulInteger or
// ConvInteger.
// For dynamic quantisation. Products of two computed operands, and transposed convolutions, stay as they are.
#pragma once
#include "lib/Quantize/Plan.h"

namespace sprig::quantize {

struct WrittenWeights {
  std::map<std::string, double> weightDecibels; ///< by layer that was quantised: signal over noise of its weight
  int wideLayers = 0;                           ///< those of them with eight bits where fewer were asked for
};

/// Whether a layer has a form that quantises its operand.
bool canBeDynamic(const Graph &graph, const Layer &layer);

/// Weights have integers of `bits`, 3 to 8, in bytes.
WrittenWeights writeDynamic(Graph &graph, const Plan &plan, bool perChannel, int bits = 8);

} // namespace sprig::quantize
