// Operators of opsets 9 to 12 in their form of opset 13.
#include "lib/Quantize/Prepare.h"
#include <algorithm>

namespace sprig::quantize {
namespace {

constexpr int kOldest = 9, kNewest = 13;

class Upgrade {
public:
  explicit Upgrade(Graph &graph) : graph(graph), from(graph.opset()) {}

  Nodes nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &old) {
    Nodes result;
    for (onnx::NodeProto node : old) {
      for (auto &attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) body(*attribute.mutable_g());
        for (auto &inner : *attribute.mutable_graphs()) body(inner);
      }
      Nodes before = change(node);
      for (auto &added : before) result.push_back(std::move(added));
      if (!node.op_type().empty()) result.push_back(std::move(node));
    }
    return result;
  }

private:
  void body(onnx::GraphProto &inner) {
    Nodes changed = nodes(inner.node());
    inner.clear_node();
    for (auto &node : changed) *inner.add_node() = std::move(node);
  }

  [[noreturn]] void refuse(const onnx::NodeProto &node) const {
    graph.fail(ErrorKind::unsupported, "'" + (node.name().empty() ? node.output(0) : node.name()) + "' (" +
                                           node.op_type() + ") of opset " + std::to_string(from) +
                                           ": has no form of opset 13, which quantised models have");
  }

  /// A list that was an attribute is an operand.
  void toOperand(onnx::NodeProto &node, const std::string &name, int place) {
    const auto *list = attribute(node, name);
    if (!list) return;
    std::vector<int64_t> values(list->ints().begin(), list->ints().end());
    while (node.input_size() < place) node.add_input("");
    node.add_input(graph.addIntegers(base(node) + "_" + name, values));
    eraseAttribute(node, name);
  }
  void toFloatOperand(onnx::NodeProto &node, const std::string &name, int place, std::optional<float> otherwise = {}) {
    const auto *number = attribute(node, name);
    if (!number && !otherwise) return;
    while (node.input_size() < place) node.add_input("");
    node.add_input(graph.add(base(node) + "_" + name, {{}, {number ? number->f() : *otherwise}}));
    eraseAttribute(node, name);
  }
  static std::string base(const onnx::NodeProto &node) { return node.name().empty() ? node.output(0) : node.name(); }

  /// Softmax took all axes from `axis` on together: as a matrix, in the last axis.
  Nodes flattened(onnx::NodeProto &node) {
    int64_t axis = integer(node, "axis", 1);
    if (axis == -1) return {};
    std::string x = node.input(0), flat = graph.unique(x + "_flat"), shape = graph.unique(x + "_shape"),
                y = graph.unique(node.output(0) + "_flat"), name = base(node);
    Nodes before = {makeNode("Shape", graph.unique(name + "_shape"), {x}, shape),
                    makeNode("Flatten", graph.unique(name + "_flatten"), {x}, flat)};
    setInteger(before[1], "axis", axis);
    before.push_back(makeNode(node.op_type(), name, {flat}, y));
    setInteger(before[2], "axis", -1);
    node = makeNode("Reshape", graph.unique(name + "_unflatten"), {y, shape}, node.output(0));
    return before;
  }

  Nodes change(onnx::NodeProto &node) {
    auto any = [&](std::initializer_list<const char *> ops) {
      return std::any_of(ops.begin(), ops.end(), [&](const char *op) { return is(node, op); });
    };
    if (any({"Upsample", "Scatter"}) || (from < 11 && any({"Resize"}))) refuse(node);
    if (any({"Squeeze", "Unsqueeze", "ReduceSum"})) toOperand(node, "axes", 1);
    if (any({"Split"})) toOperand(node, "split", 1);
    if (any({"Softmax", "LogSoftmax", "Hardmax"})) return flattened(node);
    if (from < 12 && any({"Dropout"})) eraseAttribute(node, "ratio"); // nothing at inference
    if (from < 11 && any({"Clip"})) {
      toFloatOperand(node, "min", 1);
      toFloatOperand(node, "max", 2);
    }
    if (from < 11 && any({"Pad"})) {
      toOperand(node, "pads", 1);
      toFloatOperand(node, "value", 2, 0.0f);
    }
    if (from < 10 && any({"Slice"})) {
      for (auto [name, place] : {std::pair("starts", 1), {"ends", 2}, {"axes", 3}}) toOperand(node, name, place);
    }
    if (from < 10 && any({"TopK"}) && attribute(node, "k")) {
      node.add_input(graph.addIntegers(base(node) + "_k", {integer(node, "k", 0)}));
      eraseAttribute(node, "k");
    }
    return {};
  }

  Graph &graph;
  int from;
};

} // namespace

void upgrade(Graph &graph) {
  int from = graph.opset();
  if (from >= kNewest) return;
  if (from < kOldest)
    graph.fail(ErrorKind::unsupported, "imports opset " + std::to_string(from) + "; models of opset " +
                                           std::to_string(kOldest) + " and newer can be quantised");
  graph.replaceNodes(Upgrade(graph).nodes(graph.graph().node()));
  graph.setOpset(kNewest);
}

} // namespace sprig::quantize
