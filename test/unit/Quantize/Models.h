// Small ONNX models for tests of quantisation, built node by node.
#pragma once
#include "lib/Quantize/Graph.h"

namespace sprig::quantize {

class ModelBuilder {
public:
  explicit ModelBuilder(int opset = 13) {
    model.set_ir_version(7);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("test");
  }
  ModelBuilder &input(const std::string &name, const std::vector<int64_t> &shape) {
    declare(*model.mutable_graph()->add_input(), name, shape);
    return *this;
  }
  ModelBuilder &output(const std::string &name) {
    declare(*model.mutable_graph()->add_output(), name, {});
    model.mutable_graph()->mutable_output()->rbegin()->mutable_type()->mutable_tensor_type()->clear_shape();
    return *this;
  }
  ModelBuilder &constant(const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &values) {
    auto *tensor = model.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    for (int64_t n : shape) tensor->add_dims(n);
    for (float x : values) tensor->add_float_data(x);
    return *this;
  }
  /// Named as its result.
  ModelBuilder &node(const std::string &op, const std::vector<std::string> &operands, const std::string &result,
                     const std::vector<std::pair<std::string, int64_t>> &attributes = {}) {
    *model.mutable_graph()->add_node() = makeNode(op, result, operands, result);
    for (const auto &[name, value] : attributes)
      setInteger(*model.mutable_graph()->mutable_node()->rbegin(), name, value);
    return *this;
  }
  Graph build() const { return Graph(model.SerializeAsString(), "test.onnx", "."); }

  onnx::ModelProto model;

private:
  static void declare(onnx::ValueInfoProto &value, const std::string &name, const std::vector<int64_t> &shape) {
    value.set_name(name);
    auto *type = value.mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    for (int64_t n : shape) type->mutable_shape()->add_dim()->set_dim_value(n);
  }
};

/// "Conv Relu MaxPool", in order.
inline std::string operators(const Graph &graph) {
  std::string text;
  for (const auto &node : graph.graph().node()) text += (text.empty() ? "" : " ") + node.op_type();
  return text;
}

} // namespace sprig::quantize
