#include "lib/Quantize/WriteNarrowWeights.h"
#include "lib/Quantize/NoiseMeter.h"
#include "lib/Quantize/Quantizer.h"
#include <algorithm>
#include <cmath>

namespace sprig::quantize {
namespace {

constexpr int kLevels = 16;

struct Group {
  float scale = 1;
  int zero = kLevels / 2;
};

int level(float x, const Group &group) {
  return int(std::clamp(std::nearbyint(x / group.scale) + float(group.zero), 0.0f, float(kLevels - 1)));
}

Group groupOf(const float *first, int64_t count, bool symmetric) {
  float low = 0, high = 0;
  for (int64_t i = 0; i < count; ++i) low = std::min(low, first[i]), high = std::max(high, first[i]);
  auto made = [&](float shrunk) {
    Group group;
    if (symmetric) {
      group.scale = std::max(-low / 8, high / 7) * shrunk;
    } else {
      group.scale = (high - low) / (kLevels - 1) * shrunk;
      if (group.scale > 0)
        group.zero = int(std::clamp(std::nearbyint(-low * shrunk / group.scale), 0.0f, float(kLevels - 1)));
    }
    if (!(group.scale > 0)) group.scale = 1;
    return group;
  };
  // With so few levels a smaller step is often worth the ends that it cuts.
  Group best = made(1);
  double least = INFINITY;
  for (int step = 0; step <= 12; ++step) {
    Group group = made(1 - 0.025f * float(step));
    double error = 0;
    for (int64_t i = 0; i < count; ++i) {
      double difference = double(level(first[i], group) - group.zero) * group.scale - first[i];
      error += difference * difference;
    }
    if (error < least) least = error, best = group;
  }
  return best;
}

void putHalf(std::vector<uint8_t> &bytes, size_t at, int value) {
  bytes[at / 2] = uint8_t(bytes[at / 2] | value << (at % 2 * 4));
}
int half(const std::vector<uint8_t> &bytes, size_t at) { return bytes[at / 2] >> (at % 2 * 4) & 15; }

class NarrowWriter {
public:
  NarrowWriter(Graph &graph, const Plan &plan, const NarrowWeights &how) : graph(graph), how(how) {
    for (const Layer &layer : plan.layers)
      if (layer.isConstant) layerAt[layer.node] = &layer;
  }

  WrittenWeights run() {
    for (int i = 0; i < graph.nodes(); ++i) {
      auto found = layerAt.find(i);
      if (found == layerAt.end())
        nodes.push_back(graph.node(i));
      else if (how.bits == 4 && isMatrix(*found->second))
        writeFour(*found->second);
      else
        writeEight(*found->second);
    }
    if (usesFour && graph.opset("com.microsoft") == 0) graph.setOpset(1, "com.microsoft");
    graph.replaceNodes(std::move(nodes));
    graph.prune();
    return std::move(result);
  }

private:
  bool isMatrix(const Layer &layer) const {
    const onnx::NodeProto &node = graph.node(layer.node);
    return layer.axis >= 0 && (is(node, "MatMul") || (is(node, "Gemm") && integer(node, "transA", 0) == 0));
  }

  void tell(const Layer &layer, const std::vector<float> &before, const std::vector<float> &after) {
    NoiseMeter meter;
    for (size_t i = 0; i < before.size(); ++i) meter.add(before[i], after[i]);
    result.weightDecibels[layer.name] = meter.decibels();
  }

  void writeEight(const Layer &layer) {
    result.wideLayers += how.bits < 8;
    onnx::NodeProto node = graph.node(layer.node);
    int axis = how.perChannel ? layer.axis : -1;
    auto [found, isNew] = wide.try_emplace({layer.weight, axis});
    Floats values = *graph.floats(layer.weight);
    QuantizedWeight integers = quantizeWeight(values.shape, values.values, axis, {});
    tell(layer, values.values, dequantize(values.shape, integers, axis));
    if (isNew) {
      std::vector<int64_t> shape;
      if (axis >= 0) shape = {int64_t(integers.scales.size())};
      std::string narrow = graph.add(layer.weight + "_quantized", onnx::TensorProto::INT8, values.shape,
                                     integers.values.data(), integers.values.size());
      std::string scale = graph.add(layer.weight + "_scale", Floats{shape, integers.scales});
      found->second = graph.unique(layer.weight + "_dequantized");
      nodes.push_back(makeNode("DequantizeLinear", graph.unique(layer.weight + "_DequantizeLinear"), {narrow, scale},
                               found->second));
      if (axis >= 0) setInteger(nodes.back(), "axis", axis);
    }
    node.set_input(1, found->second);
    nodes.push_back(std::move(node));
  }

  void writeFour(const Layer &layer) {
    const onnx::NodeProto node = graph.node(layer.node);
    Floats values = *graph.floats(layer.weight);
    int64_t columns = values.shape[size_t(layer.axis)], inner = values.shape[size_t(1 - layer.axis)];
    std::vector<float> matrix = values.values;
    if (layer.axis == 1)
      for (int64_t k = 0; k < inner; ++k)
        for (int64_t c = 0; c < columns; ++c) matrix[size_t(c * inner + k)] = values.values[size_t(k * columns + c)];
    PackedMatrix packed = packMatrix(matrix, columns, inner, how.group, how.symmetric);
    tell(layer, matrix, unpackMatrix(packed, columns, inner, how.group));
    int64_t groups = (inner + how.group - 1) / how.group;
    std::vector<std::string> operands = {node.input(0),
                                         graph.add(layer.weight + "_quantized", onnx::TensorProto::UINT8,
                                                   {columns, groups, how.group / 2}, packed.values.data(),
                                                   packed.values.size()),
                                         graph.add(layer.weight + "_scale", Floats{{columns * groups}, packed.scales})};
    if (!packed.zeroPoints.empty())
      operands.push_back(graph.add(layer.weight + "_zero_point", onnx::TensorProto::UINT8,
                                   {columns * ((groups + 1) / 2)}, packed.zeroPoints.data(), packed.zeroPoints.size()));
    bool hasBias = node.input_size() > 2 && !node.input(2).empty();
    std::string product = hasBias ? graph.unique(layer.name + "_product") : node.output(0);
    nodes.push_back(makeNode("MatMulNBits", layer.name, operands, product, "com.microsoft"));
    for (auto [name, value] : {std::pair("K", inner), {"N", columns}, {"bits", 4}, {"block_size", how.group}})
      setInteger(nodes.back(), name, value);
    if (how.level) setInteger(nodes.back(), "accuracy_level", how.level);
    if (hasBias)
      nodes.push_back(makeNode("Add", graph.unique(layer.name + "_Add"), {product, node.input(2)}, node.output(0)));
    usesFour = true;
  }

  Graph &graph;
  const NarrowWeights &how;
  std::map<int, const Layer *> layerAt;
  std::map<std::pair<std::string, int>, std::string> wide;
  Nodes nodes;
  bool usesFour = false;
  WrittenWeights result;
};

} // namespace

PackedMatrix packMatrix(const std::vector<float> &matrix, int64_t columns, int64_t inner, int64_t group,
                        bool symmetric) {
  int64_t groups = (inner + group - 1) / group, rowOfZeros = (groups + 1) / 2 * 2;
  PackedMatrix result{std::vector<uint8_t>(size_t(columns * groups * group / 2)), {}, {}};
  if (!symmetric) result.zeroPoints.resize(size_t(columns * rowOfZeros / 2));
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t g = 0; g < groups; ++g) {
      const float *first = matrix.data() + c * inner + g * group;
      int64_t count = std::min(group, inner - g * group);
      Group found = groupOf(first, count, symmetric);
      result.scales.push_back(found.scale);
      if (!symmetric) putHalf(result.zeroPoints, size_t(c * rowOfZeros + g), found.zero);
      for (int64_t i = 0; i < group; ++i)
        putHalf(result.values, size_t((c * groups + g) * group + i), i < count ? level(first[i], found) : found.zero);
    }
  return result;
}

std::vector<float> unpackMatrix(const PackedMatrix &packed, int64_t columns, int64_t inner, int64_t group) {
  int64_t groups = (inner + group - 1) / group, rowOfZeros = (groups + 1) / 2 * 2;
  std::vector<float> result;
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t k = 0; k < inner; ++k) {
      int64_t g = k / group;
      int zero = packed.zeroPoints.empty() ? kLevels / 2 : half(packed.zeroPoints, size_t(c * rowOfZeros + g));
      int value = half(packed.values, size_t((c * groups + g) * group + k % group));
      result.push_back(float(value - zero) * packed.scales[size_t(c * groups + g)]);
    }
  return result;
}

WrittenWeights writeNarrowWeights(Graph &graph, const Plan &plan, const NarrowWeights &how) {
  return NarrowWriter(graph, plan, how).run();
}

} // namespace sprig::quantize
