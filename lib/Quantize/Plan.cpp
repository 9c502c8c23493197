#include "lib/Quantize/Plan.h"
#include "runtime/base/Decimal.h"
#include <algorithm>
#include <cmath>

namespace sprig::quantize {
namespace {

bool isAny(const onnx::NodeProto &node, std::initializer_list<const char *> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](const char *op) { return is(node, op); });
}
bool isProduct(const onnx::NodeProto &node) { return isAny(node, {"Conv", "ConvTranspose", "Gemm", "MatMul"}); }
bool takesRank(const onnx::NodeProto &product, size_t rank) {
  if (is(product, "Gemm")) return rank == 2;
  return rank >= (is(product, "MatMul") ? 1 : 3);
}
/// Results are elements of operand 0.
bool isMove(const onnx::NodeProto &node) {
  return isAny(node,
               {"Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Slice", "DepthToSpace", "SpaceToDepth"}) ||
         (is(node, "MaxPool") && node.output_size() == 1);
}
bool isCarrier(const onnx::NodeProto &node) {
  return isMove(node) || isAny(node, {"Add", "Concat", "GlobalAveragePool", "AveragePool", "ReduceMean"});
}

/// Operands of a carrier that hold tensors; the others say how.
std::vector<std::string> tensorsOf(const onnx::NodeProto &node) {
  if (isAny(node, {"Add", "Concat"})) return {node.input().begin(), node.input().end()};
  return {node.input(0)};
}

class Planner {
public:
  Planner(const Graph &graph, const PlanOptions &options) : graph(graph), options(options) {}

  Plan run() {
    nameProducts();
    findLayers();
    findCarriers();
    placeQuantisers();
    for (const std::string &name : options.exclude)
      if (!std::count(result.excluded.begin(), result.excluded.end(), name)) result.unknown.push_back(name);
    return std::move(result);
  }

private:
  bool isFloat(const std::string &value) const { return !options.notFloat.count(value); }

  void nameProducts() {
    labels.resize(size_t(graph.nodes()));
    std::set<std::string> taken;
    for (int i = 0; i < graph.nodes(); ++i) {
      if (!isProduct(graph.node(i))) continue;
      std::string label = graph.label(i);
      for (int k = 2; !taken.insert(label).second; ++k) label = graph.label(i) + "#" + std::to_string(k);
      labels[size_t(i)] = label;
    }
  }

  /// The activation that is all that reads a value, or -1.
  int activationOf(const std::string &value) const {
    int next = graph.onlyReader(value);
    if (next < 0) return -1;
    const onnx::NodeProto &node = graph.node(next);
    if (is(node, "Relu")) return next;
    if (!is(node, "Clip") || node.input(0) != value) return -1;
    // Only from 0 on: a quantiser's smallest number is 0 exactly, others it may miss by half a step.
    std::optional<Floats> low = node.input_size() > 1 ? graph.floats(node.input(1)) : std::nullopt;
    bool isHighKnown = node.input_size() < 3 || node.input(2).empty() || graph.floats(node.input(2));
    return low && low->values.size() == 1 && low->values[0] == 0 && isHighKnown ? next : -1;
  }

  /// A bias that an addition behind a matrix product has.
  void findAddedBias(Layer &layer) const {
    int next = graph.onlyReader(layer.output);
    if (next < 0 || !is(graph.node(next), "Add") || layer.axis < 0) return;
    const onnx::NodeProto &add = graph.node(next);
    const std::string &other = add.input(add.input(0) == layer.output ? 1 : 0);
    std::optional<Floats> bias = graph.floats(other), weight = graph.floats(layer.weight);
    if (!bias || bias->shape.size() != 1 || bias->shape[0] != weight->shape[size_t(layer.axis)]) return;
    layer.bias = other;
    layer.biasNode = next;
    layer.output = add.output(0);
  }

  std::optional<Layer> layerOf(int i) const {
    const onnx::NodeProto &node = graph.node(i);
    if (!isProduct(node) || node.input_size() < 2) return std::nullopt;
    Layer layer{.node = i, .name = labels[size_t(i)], .input = node.input(0), .weight = node.input(1)};
    if (graph.constant(layer.input) || !isFloat(layer.input) || !isFloat(layer.weight)) return std::nullopt;
    if (is(node, "Gemm") && (real(node, "alpha", 1) != 1 || real(node, "beta", 1) != 1)) return std::nullopt;
    std::optional<Floats> weight = graph.floats(layer.weight);
    layer.isConstant = weight.has_value();
    if (!weight && (!options.computed || graph.constant(layer.weight) || !is(node, "MatMul"))) return std::nullopt;
    if (weight) {
      if (weight->values.empty() || !takesRank(node, weight->shape.size())) return std::nullopt;
      layer.axis = outputAxis(node, weight->shape.size());
      if (node.input_size() > 2 && !node.input(2).empty()) {
        std::optional<Floats> bias = graph.floats(node.input(2));
        int64_t outputs = layer.axis >= 0 ? weight->shape[size_t(layer.axis)] : -1;
        if (bias && isRowOf(bias->shape, outputs)) layer.bias = node.input(2);
      }
    }
    layer.output = node.output(0);
    if (is(node, "MatMul") && weight) findAddedBias(layer);
    layer.activation = activationOf(layer.output);
    if (layer.activation >= 0) layer.output = graph.node(layer.activation).output(0);
    return layer;
  }

  void findLayers() {
    for (int i = 0; i < graph.nodes(); ++i) {
      std::optional<Layer> layer = layerOf(i);
      if (!layer) continue;
      if (options.exclude.count(layer->name)) {
        result.excluded.push_back(layer->name);
        excludedNodes.insert(i);
        continue;
      }
      wanted.insert(layer->input);
      if (!layer->isConstant) wanted.insert(layer->weight);
      made.insert(layer->output);
      result.layers.push_back(std::move(*layer));
    }
  }

  Carrier carrierOf(int i) const {
    const onnx::NodeProto &node = graph.node(i);
    Carrier carrier{.node = i, .inputs = tensorsOf(node), .output = node.output(0), .moves = isMove(node)};
    if (!carrier.moves) {
      carrier.activation = activationOf(carrier.output);
      if (carrier.activation >= 0) carrier.output = graph.node(carrier.activation).output(0);
    }
    return carrier;
  }

  /// What lies between a product and another one, and has no operand of elsewhere.
  void findCarriers() {
    std::set<int> useful;
    std::set<std::string> needed = wanted;
    for (int i = graph.nodes() - 1; i >= 0; --i) {
      if (!isCarrier(graph.node(i)) || isPartOfLayer(i)) continue;
      Carrier carrier = carrierOf(i);
      if (!needed.count(carrier.output)) continue;
      useful.insert(i);
      needed.insert(carrier.inputs.begin(), carrier.inputs.end());
    }
    for (int i : useful) {
      Carrier carrier = carrierOf(i);
      bool all = std::all_of(carrier.inputs.begin(), carrier.inputs.end(), [&](const std::string &value) {
        return !graph.constant(value) && isFloat(value) && (made.count(value) || wanted.count(value));
      });
      // What nobody quantises before is as well quantised behind a move, where it may be smaller.
      if (carrier.moves && !made.count(carrier.inputs[0]) && !wanted.count(carrier.inputs[0])) all = false;
      if (!all) continue;
      made.insert(carrier.output);
      result.carriers.push_back(std::move(carrier));
    }
  }

  bool isPartOfLayer(int i) const {
    return std::any_of(result.layers.begin(), result.layers.end(), [&](const Layer &layer) {
      return layer.node == i || layer.biasNode == i || layer.activation == i;
    });
  }

  /// The operand of an addition that its product may leave as it accumulated it, where quantisers are at operands only.
  std::string accumulated(const Carrier &carrier) const {
    if (options.standing != Standing::operands || !is(graph.node(carrier.node), "Add")) return "";
    int latest = -1;
    std::string found;
    for (const Layer &layer : result.layers)
      if (std::count(carrier.inputs.begin(), carrier.inputs.end(), layer.output) &&
          graph.onlyReader(layer.output) == carrier.node && !wanted.count(layer.output) && layer.node > latest)
        latest = layer.node, found = layer.output;
    return found;
  }

  /// Whether a layer that is to stay as it is reads a value, or what is moved of it.
  bool meetsExcluded(const std::string &value) const {
    const std::vector<int> &readers = graph.readers(value);
    return std::any_of(readers.begin(), readers.end(), [&](int i) {
      return excludedNodes.count(i) || (isMove(graph.node(i)) && meetsExcluded(graph.node(i).output(0)));
    });
  }

  void placeQuantisers() {
    for (const std::string &value : wanted) result.tensors[value] = value;
    for (Carrier &carrier : result.carriers) {
      std::string without = accumulated(carrier);
      std::erase(carrier.inputs, without);
      for (const std::string &value : carrier.inputs) result.tensors.emplace(value, value);
      result.tensors.emplace(carrier.output, carrier.output);
    }
    if (options.standing == Standing::around)
      for (const Layer &layer : result.layers)
        if (is(graph.node(layer.node), "Conv") && !graph.readers(layer.output).empty() && !meetsExcluded(layer.output))
          result.tensors.emplace(layer.output, layer.output);
    // In the order of the graph, so that what a move takes up has its own root already.
    for (const Carrier &carrier : result.carriers)
      if (carrier.moves) result.tensors[carrier.output] = result.tensors[carrier.inputs[0]];
    if (!options.dropActivations) return;
    auto drop = [&](int activation, const std::string &output) {
      if (activation >= 0 && result.tensors.count(output) && !graph.isKept(output)) result.dropped.insert(activation);
    };
    for (const Layer &layer : result.layers) drop(layer.activation, layer.output);
    for (const Carrier &carrier : result.carriers) drop(carrier.activation, carrier.output);
  }

  const Graph &graph;
  const PlanOptions &options;
  Plan result;
  std::vector<std::string> labels; ///< of products, by node
  std::set<std::string> wanted;    ///< operands of products
  std::set<std::string> made;      ///< results of what is quantised
  std::set<int> excludedNodes;
};

} // namespace

Plan plan(const Graph &graph, const PlanOptions &options) { return Planner(graph, options).run(); }

int outputAxis(const onnx::NodeProto &node, size_t rank) {
  if (!isProduct(node) || !takesRank(node, rank)) return -1;
  if (is(node, "Conv")) return 0;
  if (is(node, "ConvTranspose")) return integer(node, "group", 1) == 1 ? 1 : -1;
  if (is(node, "Gemm")) return integer(node, "transB", 0) != 0 ? 0 : 1;
  return rank == 2 ? 1 : -1;
}

bool isRowOf(const std::vector<int64_t> &shape, int64_t outputs) {
  return (shape.size() == 1 || (shape.size() == 2 && shape[0] == 1)) && shape.back() == outputs;
}

void requireFinite(const Graph &graph, const Plan &plan) {
  for (const Layer &layer : plan.layers) {
    if (!layer.isConstant) continue;
    Floats weight = *graph.floats(layer.weight);
    auto found = std::find_if(weight.values.begin(), weight.values.end(), [](float x) { return !std::isfinite(x); });
    if (found != weight.values.end())
      graph.fail(ErrorKind::badInput, "'" + layer.name + "' (" + graph.node(layer.node).op_type() + ") has a weight '" +
                                          layer.weight + "' with " + decimal::shortest(*found) + " as element " +
                                          std::to_string(found - weight.values.begin()) +
                                          "; numbers that are not finite cannot be quantised");
  }
}

int firstQuantised(const Graph &graph) {
  for (int i = 0; i < graph.nodes(); ++i) {
    const std::string &op = graph.node(i).op_type();
    if (op.find("uantizeLinear") != std::string::npos || op.starts_with("QLinear") || op == "MatMulInteger" ||
        op == "ConvInteger" || op == "MatMulNBits" || op.starts_with("DynamicQuantize") || op == "QGemm" ||
        op == "QAttention" || op == "MatMulIntegerToFloat")
      return i;
  }
  return -1;
}

} // namespace sprig::quantize
