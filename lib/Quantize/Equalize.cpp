#include "lib/Quantize/Equalize.h"
#include <algorithm>
#include <cmath>
#include <optional>

namespace sprig::quantize {
namespace {

/// A product's weight with the axes that count its outputs and inputs.
struct Weight {
  int node = -1;
  Floats values;
  std::optional<Floats> bias;
  size_t outputAxis = 0, inputAxis = 1;
  bool isDepthwise = false; ///< output channel i reads input channel i alone
  bool isScaled = false;
};

size_t along(const Floats &values, size_t axis, size_t element) {
  size_t inner = 1;
  for (size_t i = axis + 1; i < values.shape.size(); ++i) inner *= size_t(values.shape[i]);
  return element / inner % size_t(values.shape[axis]);
}

class Equalizer {
public:
  Equalizer(Graph &graph, const Plan &plan) : graph(graph), plan(plan) {}

  int run() {
    for (const Layer &layer : plan.layers) read(layer);
    std::vector<std::pair<Weight *, Weight *>> pairs;
    for (const Layer &layer : plan.layers)
      if (Weight *next = follower(layer)) pairs.emplace_back(&weights.at(layer.node), next);
    // A chain of layers settles in some rounds.
    for (int round = 0; round < 20; ++round) {
      double largest = 0;
      for (auto &[first, second] : pairs) largest = std::max(largest, balance(*first, *second));
      if (largest < 1e-3) break;
    }
    if (!pairs.empty()) write();
    return int(pairs.size());
  }

private:
  void read(const Layer &layer) {
    const onnx::NodeProto &node = graph.node(layer.node);
    // Of a transposed operand it is rows that are multiplied, not channels.
    if (!layer.isConstant || layer.axis < 0 || layer.biasNode >= 0 || integer(node, "transA", 0) != 0) return;
    bool hasBias = node.input_size() > 2 && !node.input(2).empty();
    if (hasBias && layer.bias.empty()) return;
    // A constant that others read too has to stay as it is.
    if (graph.readers(layer.weight).size() != 1 || (hasBias && graph.readers(layer.bias).size() != 1)) return;
    Weight weight{layer.node, *graph.floats(layer.weight), {}, size_t(layer.axis), size_t(1 - layer.axis)};
    if (hasBias) weight.bias = graph.floats(layer.bias);
    if (weight.values.shape.size() < 2 || layer.axis > 1) return;
    int64_t groups = integer(node, "group", 1);
    weight.isDepthwise = is(node, "Conv") && groups > 1 && groups == weight.values.shape[0];
    if (groups > 1 && !weight.isDepthwise) return;
    weights.emplace(layer.node, std::move(weight));
  }

  /// The one product that reads a layer's result as its operand, channel by channel.
  Weight *follower(const Layer &layer) {
    if (!weights.count(layer.node)) return nullptr;
    if (layer.activation >= 0 && !is(graph.node(layer.activation), "Relu")) return nullptr;
    int next = graph.onlyReader(layer.output);
    auto found = weights.find(next);
    if (found == weights.end() || graph.node(next).input(0) != layer.output) return nullptr;
    return isAlike(graph.node(layer.node), graph.node(next)) && inputs(found->second) == outputs(weights.at(layer.node))
               ? &found->second
               : nullptr;
  }

  /// Whether channels are of the same axis in both: the second of convolutions, the last of matrix products.
  static bool isAlike(const onnx::NodeProto &first, const onnx::NodeProto &second) {
    auto isMatrixProduct = [](const onnx::NodeProto &node) { return is(node, "Gemm") || is(node, "MatMul"); };
    return isMatrixProduct(first) ? isMatrixProduct(second) : is(second, first.op_type());
  }

  static int64_t outputs(const Weight &weight) { return weight.values.shape[weight.outputAxis]; }
  static int64_t inputs(const Weight &weight) {
    return weight.isDepthwise ? weight.values.shape[0] : weight.values.shape[weight.inputAxis];
  }

  static std::vector<float> ranges(const Weight &weight, bool ofInputs) {
    size_t axis = ofInputs && !weight.isDepthwise ? weight.inputAxis : weight.outputAxis;
    std::vector<float> result(size_t(weight.values.shape[axis]));
    for (size_t i = 0; i < weight.values.values.size(); ++i) {
      float &most = result[along(weight.values, axis, i)];
      most = std::max(most, std::abs(weight.values.values[i]));
    }
    return result;
  }

  static void scale(Weight &weight, bool ofInputs, const std::vector<float> &factors) {
    size_t axis = ofInputs && !weight.isDepthwise ? weight.inputAxis : weight.outputAxis;
    for (size_t i = 0; i < weight.values.values.size(); ++i)
      weight.values.values[i] *= factors[along(weight.values, axis, i)];
    if (!ofInputs && weight.bias)
      for (size_t i = 0; i < factors.size(); ++i) weight.bias->values[i] *= factors[i];
  }

  /// Gives how far the largest factor was from 1.
  static double balance(Weight &first, Weight &second) {
    std::vector<float> mine = ranges(first, false), theirs = ranges(second, true), down(mine.size()), up(mine.size());
    double largest = 0;
    for (size_t i = 0; i < mine.size(); ++i) {
      double factor = mine[i] > 0 && theirs[i] > 0 ? std::sqrt(double(mine[i]) / theirs[i]) : 1;
      factor = std::clamp(factor, 1e-4, 1e4);
      largest = std::max(largest, std::abs(factor - 1));
      up[i] = float(factor);
      down[i] = float(1 / factor);
    }
    scale(first, false, down);
    scale(second, true, up);
    first.isScaled = second.isScaled = true;
    return largest;
  }

  void write() {
    for (auto &[i, weight] : weights) {
      if (!weight.isScaled) continue;
      std::string name = graph.label(i);
      graph.node(i).set_input(1, graph.add(name + "_equalized_weight", weight.values));
      if (weight.bias) graph.node(i).set_input(2, graph.add(name + "_equalized_bias", *weight.bias));
    }
    graph.index();
    graph.prune();
  }

  Graph &graph;
  const Plan &plan;
  std::map<int, Weight> weights;
};

} // namespace

int equalize(Graph &graph, const Plan &plan) { return Equalizer(graph, plan).run(); }

std::vector<double> shiftOfMeans(const onnx::NodeProto &node, const std::vector<int64_t> &shape,
                                 const std::vector<float> &weight, const std::vector<float> &quantized, int axis,
                                 const std::vector<double> &means) {
  if (axis < 0 || axis > 1 || shape.size() < 2 || is(node, "ConvTranspose")) return {};
  if (is(node, "Gemm") && integer(node, "transA", 0) != 0) return {}; // the means are of its rows
  Floats like{shape, {}};
  size_t inputAxis = size_t(1 - axis), outputs = size_t(shape[size_t(axis)]), inputs = size_t(shape[inputAxis]);
  int64_t groups = is(node, "Conv") ? integer(node, "group", 1) : 1;
  if (groups < 1 || outputs % size_t(groups) != 0 || means.size() != inputs * size_t(groups)) return {};
  std::vector<double> result(outputs);
  for (size_t i = 0; i < weight.size(); ++i) {
    size_t output = along(like, size_t(axis), i), group = output / (outputs / size_t(groups));
    result[output] += (double(quantized[i]) - weight[i]) * means[group * inputs + along(like, inputAxis, i)];
  }
  return result;
}

void giveBiases(Graph &graph) {
  for (int i = 0; i < graph.nodes(); ++i) {
    onnx::NodeProto &node = graph.node(i);
    if ((!is(node, "Conv") && !is(node, "Gemm")) || (node.input_size() > 2 && !node.input(2).empty())) continue;
    std::optional<Floats> weight = graph.floats(node.input(1));
    int axis = weight ? outputAxis(node, weight->shape.size()) : -1;
    if (axis < 0) continue;
    int64_t outputs = weight->shape[size_t(axis)];
    std::string bias = graph.add(graph.label(i) + "_bias", Floats{{outputs}, std::vector<float>(size_t(outputs))});
    if (node.input_size() > 2)
      node.set_input(2, bias);
    else
      node.add_input(bias);
  }
  graph.index();
}

} // namespace sprig::quantize
