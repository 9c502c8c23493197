#include "lib/Quantize/WriteStatic.h"
#include "lib/Quantize/NoiseMeter.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace sprig::quantize {
namespace {

class StaticWriter {
public:
  StaticWriter(Graph &graph, const Plan &plan, const std::map<std::string, Range> &ranges, const StaticOptions &options)
      : graph(graph), plan(plan), ranges(ranges), options(options) {}

  WrittenStatic run() {
    nameTensors();
    for (const Layer &layer : plan.layers) layerAt[layer.node] = &layer;
    for (const Layer &layer : plan.layers)
      if (layer.biasNode >= 0) biasAt[layer.biasNode] = &layer;
    for (const auto &[tensor, root] : plan.tensors)
      if (graph.isInput(tensor)) quantize(tensor);
    for (int i = 0; i < graph.nodes(); ++i)
      if (!plan.dropped.count(i)) rewrite(i);
    if (options.switches)
      for (const Layer &layer : plan.layers) addSwitch(layer);
    graph.replaceNodes(std::move(nodes));
    graph.prune();
    return std::move(result);
  }

private:
  void nameTensors() {
    for (const auto &[tensor, root] : plan.tensors) {
      result.quantizers[tensor] = quantizerOf(ranges.at(root), options.activations);
      result.dequantized[tensor] = graph.unique(tensor + "_dequantized");
    }
    for (int i : plan.dropped) outputOf[graph.node(i).input(0)] = graph.node(i).output(0);
  }

  std::string scalar(const std::string &name, float value) { return graph.add(name, Floats{{}, {value}}); }
  std::string zeroPoint(const std::string &name, int value) {
    auto byte = uint8_t(value);
    int type = options.activations.isSigned ? onnx::TensorProto::INT8 : onnx::TensorProto::UINT8;
    return graph.add(name, type, {}, &byte, 1);
  }

  /// The quantiser of a tensor and what is read of it. Those of the same root have the same constants.
  void quantize(const std::string &tensor) {
    const std::string &root = plan.tensors.at(tensor);
    auto [constants, isNew] = numbers.try_emplace(root);
    if (isNew) {
      const Quantizer &quantizer = result.quantizers.at(tensor);
      constants->second = {scalar(root + "_scale", quantizer.scale), zeroPoint(root + "_zero_point", quantizer.zero)};
    }
    auto &[scale, zero] = constants->second;
    std::string narrow = graph.unique(tensor + "_quantized");
    nodes.push_back(
        makeNode("QuantizeLinear", graph.unique(tensor + "_QuantizeLinear"), {tensor, scale, zero}, narrow));
    nodes.push_back(makeNode("DequantizeLinear", graph.unique(tensor + "_DequantizeLinear"), {narrow, scale, zero},
                             result.dequantized.at(tensor)));
  }

  /// What a layer reads where it may be quantised or not.
  std::string switched(const Layer &layer, const std::string &narrow, const std::string &wide) {
    if (!options.switches) return narrow;
    std::string value = graph.unique(wide + "_switched");
    nodes.push_back(makeNode("Where", graph.unique(wide + "_Where"), {switchName(layer), narrow, wide}, value));
    return value;
  }

  std::string read(const std::string &value, const Layer *layer) {
    auto found = result.dequantized.find(value);
    if (found == result.dequantized.end()) return value;
    if (!options.switches) return found->second;
    return layer ? switched(*layer, found->second, value) : value;
  }

  void rewrite(int i) {
    onnx::NodeProto node = graph.node(i);
    const Layer *layer = layerAt.count(i) ? layerAt.at(i) : nullptr;
    for (auto &operand : *node.mutable_input()) operand = read(operand, layer);
    if (layer && layer->isConstant) {
      node.set_input(1, weight(*layer));
      if (!layer->bias.empty() && layer->biasNode < 0) node.set_input(2, bias(*layer));
    }
    if (auto found = biasAt.find(i); found != biasAt.end()) {
      const Layer &product = *found->second;
      int place = node.input(0) == product.bias ? 0 : 1;
      node.set_input(place, bias(product));
    }
    for (auto &value : *node.mutable_output())
      if (auto found = outputOf.find(value); found != outputOf.end()) value = found->second;
    nodes.push_back(node);
    for (const auto &value : node.output())
      if (plan.tensors.count(value)) quantize(value);
  }

  const float *scaleOfInput(const Layer &layer) const {
    auto found = result.quantizers.find(layer.input);
    return found == result.quantizers.end() ? nullptr : &found->second.scale;
  }

  int axisOf(const Layer &layer) const { return options.perChannel ? layer.axis : -1; }

  /// How large a bias's integer may be, so that 32 bits hold it and any sum of products beside it.
  static double roomForBias(const Layer &layer, const std::vector<int64_t> &shape) {
    double depth = 1;
    for (size_t i = 0; i < shape.size(); ++i)
      if (int(i) != layer.axis) depth *= double(shape[i]);
    return double(INT32_MAX) - depth * 255 * 127;
  }

  /// Small weights beside a large bias: their scale is as large as the bias needs in any layer that has the weight.
  std::vector<float> leastScales(const std::string &weight, int axis, const std::vector<int64_t> &shape) const {
    std::vector<float> least(axis >= 0 ? size_t(shape[size_t(axis)]) : 1);
    for (const Layer &layer : plan.layers) {
      const float *scale = scaleOfInput(layer);
      if (layer.weight != weight || axisOf(layer) != axis || layer.bias.empty() || !scale) continue;
      double largest = roomForBias(layer, shape) / 2; // correction may add to it
      if (largest < double(1 << 29)) continue; // so deep that weights would become coarse: the bias stays a float
      Floats bias = *graph.floats(layer.bias);
      for (size_t c = 0; c < bias.values.size(); ++c) {
        float needed = float(std::abs(bias.values[c]) / (*scale * largest));
        float &scaleOfWeight = least[axis >= 0 ? c : 0];
        if (std::isfinite(needed)) scaleOfWeight = std::max(scaleOfWeight, needed);
      }
    }
    return least;
  }

  struct Weight {
    std::string narrow, scale, zero, wide;
    std::vector<float> scales;
    Floats before;
    std::vector<float> after;
    double decibels = 0;
  };

  const Weight &quantized(const Layer &layer) {
    int axis = axisOf(layer);
    auto [found, isNew] = weights.try_emplace({layer.weight, axis});
    Weight &made = found->second;
    if (!isNew) return made;
    Floats values = *graph.floats(layer.weight);
    QuantizedWeight integers = quantizeWeight(
        values.shape, values.values, axis, leastScales(layer.weight, axis, values.shape), mostOf(options.weightBits));
    std::vector<float> wide = dequantize(values.shape, integers, axis);
    NoiseMeter meter;
    for (size_t i = 0; i < wide.size(); ++i) meter.add(values.values[i], wide[i]);
    std::vector<int64_t> shape;
    if (axis >= 0) shape = {int64_t(integers.scales.size())};
    std::vector<int8_t> zeros(integers.scales.size());
    made.narrow = graph.add(layer.weight + "_quantized", onnx::TensorProto::INT8, values.shape, integers.values.data(),
                            integers.values.size());
    made.scale = graph.add(layer.weight + "_scale", Floats{shape, integers.scales});
    made.zero = graph.add(layer.weight + "_zero_point", onnx::TensorProto::INT8, shape, zeros.data(), zeros.size());
    made.wide = graph.unique(layer.weight + "_dequantized");
    made.scales = integers.scales;
    made.before = std::move(values);
    made.after = std::move(wide);
    made.decibels = meter.decibels();
    nodes.push_back(makeNode("DequantizeLinear", graph.unique(layer.weight + "_DequantizeLinear"),
                             {made.narrow, made.scale, made.zero}, made.wide));
    if (axis >= 0) setInteger(nodes.back(), "axis", axis);
    return made;
  }

  std::string made(const char *op, const std::string &name, const std::vector<std::string> &operands) {
    nodes.push_back(makeNode(op, graph.unique(name + "_" + op), operands, graph.unique(name)));
    return nodes.back().output(0);
  }

  /// scale = max(|weight|) / most of each slice, as quantizeWeight has it; zeros have the least scale there is.
  std::string trainableWeight(const Layer &layer) {
    int axis = axisOf(layer);
    auto [found, isNew] = trainables.try_emplace({layer.weight, axis});
    if (!isNew) return found->second;
    const std::string &name = layer.weight;
    std::vector<int64_t> shape = graph.floats(name)->shape, others, row;
    for (int i = 0; i < int(shape.size()); ++i)
      if (i != axis) others.push_back(i);
    if (axis >= 0) row = {shape[size_t(axis)]};
    std::string largest = made("Abs", name + "_size", {name});
    bool takesInput = graph.opset() >= 18;
    std::vector<std::string> operands{largest};
    if (takesInput) operands.push_back(graph.addIntegers(name + "_axes", others));
    largest = made("ReduceMax", name + "_largest", operands);
    setInteger(nodes.back(), "keepdims", 0);
    if (!takesInput) setIntegers(nodes.back(), "axes", others);
    std::string scale =
        made("Div", name + "_step", {largest, scalar(name + "_most", float(mostOf(options.weightBits)))});
    scale = made("Max", name + "_scale", {scale, scalar(name + "_least", std::numeric_limits<float>::min())});
    std::vector<int8_t> zeros(axis >= 0 ? size_t(row[0]) : 1);
    std::string zero = graph.add(name + "_zero_point", onnx::TensorProto::INT8, row, zeros.data(), zeros.size());
    std::string narrow = made("QuantizeLinear", name + "_quantized", {name, scale, zero});
    if (axis >= 0) setInteger(nodes.back(), "axis", axis);
    found->second = made("DequantizeLinear", name + "_dequantized", {narrow, scale, zero});
    if (axis >= 0) setInteger(nodes.back(), "axis", axis);
    return found->second;
  }

  std::string weight(const Layer &layer) {
    if (options.trainable) return trainableWeight(layer);
    const Weight &made = quantized(layer);
    result.weightDecibels[layer.name] = made.decibels;
    result.weights[layer.name] = made.wide;
    return switched(layer, made.wide, layer.weight);
  }

  /// The bias without what the weight's rounding adds to the mean of each result.
  Floats corrected(const Layer &layer, const Weight &weight) const {
    Floats values = *graph.floats(layer.bias);
    auto means = options.means.find(layer.input);
    if (means == options.means.end()) return values;
    std::vector<double> shift = shiftOfMeans(graph.node(layer.node), weight.before.shape, weight.before.values,
                                             weight.after, layer.axis, means->second);
    for (size_t c = 0; c < shift.size(); ++c) values.values[c] -= float(shift[c]);
    return values;
  }

  /// In the scale of the product, which adds it to what it accumulates. One for which 32 bits have no room stays a
  /// float.
  std::string bias(const Layer &layer) {
    const float *inputScale = scaleOfInput(layer);
    if (!inputScale || options.trainable) return layer.bias;
    const Weight &made = weights.at({layer.weight, axisOf(layer)});
    Floats values = corrected(layer, made);
    double room = roomForBias(layer, made.before.shape);
    std::vector<int32_t> integers;
    std::vector<float> scales;
    for (size_t c = 0; c < values.values.size(); ++c) {
      float scale = *inputScale * made.scales[made.scales.size() == 1 ? 0 : c];
      double integer = std::nearbyint(double(values.values[c]) / scale);
      if (!(std::abs(integer) < room)) return graph.add(layer.bias + "_corrected", values);
      integers.push_back(int32_t(integer));
      scales.push_back(scale);
    }
    int64_t size = int64_t(integers.size());
    bool isOne = made.scales.size() == 1;
    std::string narrow = graph.add(layer.bias + "_quantized", onnx::TensorProto::INT32, {size}, integers.data(),
                                   integers.size() * sizeof(int32_t));
    std::string scale =
        isOne ? scalar(layer.bias + "_scale", scales[0]) : graph.add(layer.bias + "_scale", Floats{{size}, scales});
    std::string wide = graph.unique(layer.bias + "_dequantized");
    nodes.push_back(
        makeNode("DequantizeLinear", graph.unique(layer.bias + "_DequantizeLinear"), {narrow, scale}, wide));
    if (!isOne) setInteger(nodes.back(), "axis", 0);
    return switched(layer, wide, layer.bias);
  }

  void addSwitch(const Layer &layer) {
    auto *input = graph.graph().add_input();
    input->set_name(switchName(layer));
    auto *type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::BOOL);
    type->mutable_shape();
  }

  Graph &graph;
  const Plan &plan;
  const std::map<std::string, Range> &ranges;
  const StaticOptions &options;
  WrittenStatic result;
  Nodes nodes;
  std::map<int, const Layer *> layerAt, biasAt;
  std::map<std::string, std::string> outputOf; ///< names that results take of activations that go
  std::map<std::string, std::pair<std::string, std::string>> numbers; ///< scale and zero point, by root
  std::map<std::pair<std::string, int>, Weight> weights;
  std::map<std::pair<std::string, int>, std::string> trainables; ///< dequantised weights
};

} // namespace

std::string switchName(const Layer &layer) { return "sprig.quantize/" + layer.name; }

WrittenStatic writeStatic(Graph &graph, const Plan &plan, const std::map<std::string, Range> &ranges,
                          const StaticOptions &options) {
  return StaticWriter(graph, plan, ranges, options).run();
}

} // namespace sprig::quantize
