#include "lib/Quantize/WriteDynamic.h"
#include "lib/Quantize/NoiseMeter.h"
#include "lib/Quantize/Quantizer.h"

namespace sprig::quantize {
namespace {

class DynamicWriter {
public:
  DynamicWriter(Graph &graph, const Plan &plan, bool perChannel, int bits)
      : graph(graph), perChannel(perChannel), bits(bits) {
    for (const Layer &layer : plan.layers)
      if (canBeDynamic(graph, layer)) layerAt[layer.node] = &layer;
  }

  WrittenWeights run() {
    for (int i = 0; i < graph.nodes(); ++i) {
      if (auto found = layerAt.find(i); found != layerAt.end())
        write(*found->second);
      else
        nodes.push_back(graph.node(i));
    }
    graph.replaceNodes(std::move(nodes));
    graph.prune();
    return std::move(result);
  }

private:
  struct Operand {
    std::string narrow, scale, zero;
  };

  /// An operand that several products read is quantised once.
  const Operand &quantized(const std::string &value) {
    auto [found, isNew] = operands.try_emplace(value);
    if (!isNew) return found->second;
    found->second = {graph.unique(value + "_quantized"), graph.unique(value + "_scale"),
                     graph.unique(value + "_zero_point")};
    nodes.push_back(makeNode("DynamicQuantizeLinear", graph.unique(value + "_DynamicQuantizeLinear"), {value},
                             found->second.narrow));
    nodes.back().add_output(found->second.scale);
    nodes.back().add_output(found->second.zero);
    return found->second;
  }

  std::string emit(const std::string &op, const Layer &layer, const std::string &what,
                   const std::vector<std::string> &operands, const std::string &output = "") {
    std::string value = output.empty() ? graph.unique(layer.name + "_" + what) : output;
    nodes.push_back(makeNode(op, graph.unique(layer.name + "_" + what + "_" + op), operands, value));
    return value;
  }

  /// The weight's integers, laid out for the integer operator, and its scale as the product is multiplied by it.
  std::pair<std::string, std::string> weightOf(const Layer &layer, bool isConvolution) {
    Floats values = *graph.floats(layer.weight);
    int axis = layer.axis;
    if (!isConvolution && axis == 0 && values.shape.size() == 2) { // MatMulInteger has no transposed operand
      Floats turned{{values.shape[1], values.shape[0]}, std::vector<float>(values.values.size())};
      for (int64_t i = 0; i < values.shape[0]; ++i)
        for (int64_t j = 0; j < values.shape[1]; ++j)
          turned.values[size_t(j * values.shape[0] + i)] = values.values[size_t(i * values.shape[1] + j)];
      values = std::move(turned);
      axis = 1;
    }
    if (!perChannel) axis = -1;
    QuantizedWeight integers = quantizeWeight(values.shape, values.values, axis, {}, mostOf(bits));
    std::vector<float> wide = dequantize(values.shape, integers, axis);
    NoiseMeter meter;
    for (size_t i = 0; i < wide.size(); ++i) meter.add(values.values[i], wide[i]);
    result.weightDecibels[layer.name] = meter.decibels();
    std::string narrow = graph.add(layer.weight + "_quantized", onnx::TensorProto::INT8, values.shape,
                                   integers.values.data(), integers.values.size());
    std::vector<int64_t> shape;
    if (axis >= 0) shape = {int64_t(integers.scales.size())};
    if (axis >= 0 && isConvolution) shape.insert(shape.end(), values.shape.size() - 2, 1); // beside N x C x H x W
    return {narrow, graph.add(layer.weight + "_scale", Floats{shape, integers.scales})};
  }

  void write(const Layer &layer) {
    const onnx::NodeProto node = graph.node(layer.node);
    bool isConvolution = is(node, "Conv");
    bool hasBias = node.input_size() > 2 && !node.input(2).empty();
    auto [weight, weightScale] = weightOf(layer, isConvolution);
    const Operand &operand = quantized(layer.input);
    std::string scale = emit("Mul", layer, "scale", {operand.scale, weightScale});
    std::string sum =
        emit(isConvolution ? "ConvInteger" : "MatMulInteger", layer, "integer", {operand.narrow, weight, operand.zero});
    if (isConvolution) *nodes.back().mutable_attribute() = node.attribute();
    std::string wide = emit("Cast", layer, "float", {sum});
    setInteger(nodes.back(), "to", onnx::TensorProto::FLOAT);
    std::string product = emit("Mul", layer, "product", {wide, scale}, hasBias ? "" : node.output(0));
    if (hasBias) emit("Add", layer, "sum", {product, bias(node, isConvolution)}, node.output(0));
  }

  /// A convolution's bias goes along its second axis.
  std::string bias(const onnx::NodeProto &node, bool isConvolution) {
    if (!isConvolution) return node.input(2);
    Floats values = *graph.floats(node.input(2));
    values.shape.insert(values.shape.end(), graph.floats(node.input(1))->shape.size() - 2, 1);
    return graph.add(node.input(2) + "_column", values);
  }

  Graph &graph;
  bool perChannel;
  int bits;
  std::map<int, const Layer *> layerAt;
  std::map<std::string, Operand> operands;
  Nodes nodes;
  WrittenWeights result;
};

} // namespace

bool canBeDynamic(const Graph &graph, const Layer &layer) {
  const onnx::NodeProto &node = graph.node(layer.node);
  if (!layer.isConstant || is(node, "ConvTranspose") || integer(node, "transA", 0) != 0) return false;
  if (!is(node, "Conv") || node.input_size() < 3 || node.input(2).empty()) return true;
  return graph.floats(node.input(2)).has_value();
}

WrittenWeights writeDynamic(Graph &graph, const Plan &plan, bool perChannel, int bits) {
  return DynamicWriter(graph, plan, perChannel, bits).run();
}

} // namespace sprig::quantize
