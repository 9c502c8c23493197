// Rewriting that changes what a model computes by rounding alone, and what quantisation loses by much more.
// For quantisation: cross-layer equalisation and bias correction (Nagel et al. 2019, "Data-Free Quantization Through
// Weight Equalization and Bias Correction").
#pragma once
#include "lib/Quantize/Plan.h"

namespace sprig::quantize {

/// Where a product's result goes through nothing or a ReLU into one other product alone, each channel between them is
/// scaled so that both weights have the same range in it. Gives how many such pairs there are.
int equalize(Graph &graph, const Plan &plan);

/// The mean of each channel of layers' operands, by operand: of axis 1 for convolutions, else of the last axis.
using ChannelMeans = std::map<std::string, std::vector<double>>;

/// What a quantised weight adds to the mean of each output: (quantised - weight) times the operand's means. Empty where
/// the shapes do not fit.
std::vector<double> shiftOfMeans(const onnx::NodeProto &node, const std::vector<int64_t> &shape,
                                 const std::vector<float> &weight, const std::vector<float> &quantized, int axis,
                                 const std::vector<double> &means);

/// Convolutions and products with operands for a bias that have none get one of zeros, so that it can be corrected.
void giveBiases(Graph &graph);

} // namespace sprig::quantize
