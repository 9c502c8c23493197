// A planned model with quantisers whose numbers are constants: QuantizeLinear and DequantizeLinear around operators.
// For static quantisation. What a tensor's quantiser gives is what all nodes of the main graph read of it.
#pragma once
#include "lib/Quantize/Equalize.h"
#include "lib/Quantize/Quantizer.h"

namespace sprig::quantize {

struct StaticOptions {
  QuantizerType activations;
  bool perChannel = true; ///< a scale of weights for each output channel
  /// Each layer gets an input, a boolean named by switchName, that says whether it is quantised in a call; for the
  /// search of layers that lose most.
  bool switches = false;
  /// Of layers' operands: biases are corrected by what weights add to the mean of results. Empty: they stay.
  ChannelMeans means = {};
  int weightBits = 8; ///< 3 to 8; they are stored in i8
  /// Weights stay floats in front of quantisers whose scales are computed of them, and biases floats: for training.
  bool trainable = false;
};

struct WrittenStatic {
  std::map<std::string, Quantizer> quantizers;    ///< by tensor
  std::map<std::string, std::string> dequantized; ///< by tensor: what is read in its place
  std::map<std::string, double> weightDecibels;   ///< by layer of a constant weight: signal over noise
  std::map<std::string, std::string> weights;     ///< by layer: the dequantised weight
};

std::string switchName(const Layer &layer);

/// `ranges` has each tensor that others have their range of.
WrittenStatic writeStatic(Graph &graph, const Plan &plan, const std::map<std::string, Range> &ranges,
                          const StaticOptions &options);

} // namespace sprig::quantize
