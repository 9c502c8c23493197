#include "lib/Quantize/Graph.h"
#include "lib/Export/ONNX/WriteWeights.h"
#include "lib/Import/ONNX/Model.h"
#include "lib/Import/ONNX/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include <algorithm>
#include <cstring>

namespace sprig::quantize {

static constexpr int64_t kMostBytes = int64_t(1) << 36; // of any one tensor

bool is(const onnx::NodeProto &node, std::string_view op) {
  return node.op_type() == op && onnximport::normalizeDomain(node.domain()).empty();
}

const onnx::AttributeProto *attribute(const onnx::NodeProto &node, std::string_view name) {
  for (const auto &attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}
int64_t integer(const onnx::NodeProto &node, std::string_view name, int64_t otherwise) {
  const auto *found = attribute(node, name);
  return found ? found->i() : otherwise;
}
float real(const onnx::NodeProto &node, std::string_view name, float otherwise) {
  const auto *found = attribute(node, name);
  return found ? found->f() : otherwise;
}
void eraseAttribute(onnx::NodeProto &node, std::string_view name) {
  for (int i = node.attribute_size() - 1; i >= 0; --i)
    if (node.attribute(i).name() == name) node.mutable_attribute()->DeleteSubrange(i, 1);
}
void setInteger(onnx::NodeProto &node, const std::string &name, int64_t value) {
  eraseAttribute(node, name);
  auto *added = node.add_attribute();
  added->set_name(name);
  added->set_type(onnx::AttributeProto::INT);
  added->set_i(value);
}
void setIntegers(onnx::NodeProto &node, const std::string &name, const std::vector<int64_t> &values) {
  eraseAttribute(node, name);
  auto *added = node.add_attribute();
  added->set_name(name);
  added->set_type(onnx::AttributeProto::INTS);
  for (int64_t value : values) added->add_ints(value);
}
onnx::NodeProto makeNode(const std::string &op, const std::string &name, const std::vector<std::string> &operands,
                         const std::string &result, const std::string &domain) {
  onnx::NodeProto node;
  node.set_op_type(op);
  node.set_name(name);
  if (!domain.empty()) node.set_domain(domain);
  for (const std::string &operand : operands) node.add_input(operand);
  node.add_output(result);
  return node;
}

/// Sizes and data of constants, and that files with them lie in the model's folder: nobody imports the model before.
static void checkTensors(const onnximport::Model &model) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto check = [&](const onnx::TensorProto &tensor, const std::string &what) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL || tensor.data_type() == onnx::TensorProto::FLOAT)
      onnximport::readTensorType(&context, model, tensor, what, kMostBytes);
  };
  for (const auto &tensor : model.proto.graph().initializer()) check(tensor, "initializer '" + tensor.name() + "'");
  for (const auto &node : model.proto.graph().node())
    if (const auto *value = is(node, "Constant") ? attribute(node, "value") : nullptr)
      check(value->t(), "constant '" + node.output(0) + "'");
}

/// How many operands a node has at least: those that are looked at without a question.
static int leastOperands(const onnx::NodeProto &node) {
  auto any = [&](std::initializer_list<const char *> ops) {
    return std::any_of(ops.begin(), ops.end(), [&](const char *op) { return is(node, op); });
  };
  if (any({"Conv", "ConvTranspose", "Gemm", "MatMul", "Add"})) return 2;
  bool isSource = any({"Constant", "RandomNormal", "RandomUniform", "SequenceEmpty", "Optional"});
  return isSource || !onnximport::normalizeDomain(node.domain()).empty() ? 0 : 1;
}

static void checkNodes(const onnx::GraphProto &graph, const std::string &file) {
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto &node = graph.node(i);
    std::string name = file + ": " + onnximport::nodeLabel(node, i);
    if (node.output_size() == 0) badInput(name + " has no result; expected one at least");
    if (node.input_size() < leastOperands(node))
      badInput(name + " has " + std::to_string(node.input_size()) + " operands; expected " +
               std::to_string(leastOperands(node)) + " at least");
    for (const auto &attribute : node.attribute()) {
      if (attribute.has_g()) checkNodes(attribute.g(), file);
      for (const auto &inner : attribute.graphs()) checkNodes(inner, file);
    }
  }
}

/// The version of the format becomes one that has the operator set, and in which constants need not be inputs.
static void raiseFormat(onnx::ModelProto &model, int opset) {
  constexpr int kLast[] = {9, 10, 11, 14, 18, 20, 22, 23}; // the newest opsets of versions 4 to 11
  int64_t format = 4;
  for (int last : kLast) format += opset > last;
  model.set_ir_version(std::max<int64_t>(model.ir_version(), format));
}

Graph::Graph(std::string_view bytes, const std::string &file, const std::string &folder) : file(file) {
  onnximport::Model parsed = onnximport::parseModel(bytes, file, folder);
  checkNodes(parsed.proto.graph(), file);
  checkTensors(parsed);
  std::string whole = withWeights(bytes, file, folder, {});
  model.ParseFromString(whole);
  this->bytes = whole.size();
  // Constants are initializers, and no inputs that a call could override.
  Nodes nodes;
  for (const auto &node : graph().node()) {
    const auto *value = is(node, "Constant") ? attribute(node, "value") : nullptr;
    if (!value || !value->has_t()) {
      nodes.push_back(node);
      continue;
    }
    auto *tensor = graph().add_initializer();
    *tensor = value->t();
    tensor->set_name(node.output(0));
  }
  index();
  for (int i = graph().input_size() - 1; i >= 0; --i)
    if (constant(graph().input(i).name())) graph().mutable_input()->DeleteSubrange(i, 1);
  replaceNodes(std::move(nodes));
  raiseFormat(model, opset());
}

/// What graphs inside a node read of the graphs around them, and all names that they have.
static void collect(const onnx::GraphProto &body, std::set<std::string> &read, std::set<std::string> &names) {
  for (const auto &input : body.input()) names.insert(input.name());
  for (const auto &tensor : body.initializer()) names.insert(tensor.name());
  for (const auto &output : body.output()) read.insert(output.name());
  for (const auto &node : body.node()) {
    for (const auto &operand : node.input()) read.insert(operand);
    for (const auto &result : node.output()) names.insert(result);
    for (const auto &attribute : node.attribute()) {
      if (attribute.has_g()) collect(attribute.g(), read, names);
      for (const auto &inner : attribute.graphs()) collect(inner, read, names);
    }
  }
}

void Graph::index() {
  makers.clear(), uses.clear(), constants.clear(), kept.clear(), inputs.clear(), names.clear();
  for (const auto &input : graph().input()) inputs.insert(input.name()), names.insert(input.name());
  for (const auto &output : graph().output()) kept.insert(output.name());
  for (int i = 0; i < graph().initializer_size(); ++i) {
    constants[graph().initializer(i).name()] = i;
    names.insert(graph().initializer(i).name());
  }
  for (int i = 0; i < nodes(); ++i) {
    for (const auto &operand : node(i).input())
      if (!operand.empty()) uses[operand].push_back(i);
    for (const auto &result : node(i).output())
      if (!result.empty()) makers[result] = i, names.insert(result);
    for (const auto &attribute : node(i).attribute()) {
      if (attribute.has_g()) collect(attribute.g(), kept, names);
      for (const auto &inner : attribute.graphs()) collect(inner, kept, names);
    }
  }
}

int Graph::maker(const std::string &value) const {
  auto found = makers.find(value);
  return found == makers.end() ? -1 : found->second;
}
const std::vector<int> &Graph::readers(const std::string &value) const {
  static const std::vector<int> none;
  auto found = uses.find(value);
  return found == uses.end() ? none : found->second;
}
int Graph::onlyReader(const std::string &value) const {
  const std::vector<int> &all = readers(value);
  return all.size() == 1 && !isKept(value) ? all[0] : -1;
}

const onnx::TensorProto *Graph::constant(const std::string &value) const {
  auto found = constants.find(value);
  return found == constants.end() ? nullptr : &graph().initializer(found->second);
}

static int64_t count(const onnx::TensorProto &tensor) {
  int64_t product = 1;
  for (int64_t size : tensor.dims()) product *= size;
  return product;
}

std::optional<Floats> Graph::floats(const std::string &value) const {
  const auto *tensor = constant(value);
  if (!tensor || tensor->data_type() != onnx::TensorProto::FLOAT) return std::nullopt;
  Floats result{{tensor->dims().begin(), tensor->dims().end()}, {}};
  size_t elements = size_t(count(*tensor));
  if (tensor->has_raw_data()) {
    if (tensor->raw_data().size() != elements * sizeof(float)) return std::nullopt;
    result.values.resize(elements);
    std::memcpy(result.values.data(), tensor->raw_data().data(), elements * sizeof(float));
  } else {
    result.values.assign(tensor->float_data().begin(), tensor->float_data().end());
    if (result.values.size() != elements) return std::nullopt;
  }
  return result;
}

std::optional<std::vector<int64_t>> Graph::integers(const std::string &value) const {
  const auto *tensor = constant(value);
  if (!tensor) return std::nullopt;
  std::vector<int64_t> result;
  auto fromRaw = [&]<typename T>(T) {
    for (size_t at = 0; at + sizeof(T) <= tensor->raw_data().size(); at += sizeof(T)) {
      T number;
      std::memcpy(&number, tensor->raw_data().data() + at, sizeof number);
      result.push_back(int64_t(number));
    }
  };
  if (tensor->data_type() == onnx::TensorProto::INT64) {
    if (tensor->has_raw_data())
      fromRaw(int64_t());
    else
      result.assign(tensor->int64_data().begin(), tensor->int64_data().end());
  } else if (tensor->data_type() == onnx::TensorProto::INT32) {
    if (tensor->has_raw_data())
      fromRaw(int32_t());
    else
      result.assign(tensor->int32_data().begin(), tensor->int32_data().end());
  } else {
    return std::nullopt;
  }
  if (int64_t(result.size()) != count(*tensor)) return std::nullopt;
  return result;
}

std::string Graph::unique(const std::string &name) {
  std::string candidate = name;
  for (int i = 2; names.count(candidate) || kept.count(candidate); ++i) candidate = name + "_" + std::to_string(i);
  names.insert(candidate);
  return candidate;
}

std::string Graph::add(const std::string &name, int dataType, const std::vector<int64_t> &shape, const void *bytes,
                       size_t size) {
  auto *tensor = graph().add_initializer();
  tensor->set_name(unique(name));
  tensor->set_data_type(dataType);
  for (int64_t n : shape) tensor->add_dims(n);
  tensor->set_raw_data(bytes, size);
  constants[tensor->name()] = graph().initializer_size() - 1;
  return tensor->name();
}
std::string Graph::add(const std::string &name, const Floats &value) {
  return add(name, onnx::TensorProto::FLOAT, value.shape, value.values.data(), value.values.size() * sizeof(float));
}
std::string Graph::addIntegers(const std::string &name, const std::vector<int64_t> &values) {
  return add(name, onnx::TensorProto::INT64, {int64_t(values.size())}, values.data(), values.size() * sizeof(int64_t));
}

void Graph::replaceNodes(Nodes nodes) {
  graph().clear_node();
  for (auto &node : nodes) *graph().add_node() = std::move(node);
  index();
}

void Graph::redirect(const std::string &from, const std::string &to) {
  for (auto &node : *graph().mutable_node())
    for (auto &operand : *node.mutable_input())
      if (operand == from) operand = to;
}

void Graph::prune() {
  for (bool changed = true; changed;) {
    changed = false;
    Nodes left;
    for (int i = 0; i < nodes(); ++i) {
      bool isRead = false;
      for (const auto &result : node(i).output()) isRead |= isKept(result) || !readers(result).empty();
      if (isRead)
        left.push_back(node(i));
      else
        changed = true;
    }
    if (changed) replaceNodes(std::move(left));
  }
  auto &tensors = *graph().mutable_initializer();
  for (int i = tensors.size() - 1; i >= 0; --i)
    if (readers(tensors[i].name()).empty() && !isKept(tensors[i].name())) tensors.DeleteSubrange(i, 1);
  auto &values = *graph().mutable_value_info();
  for (int i = values.size() - 1; i >= 0; --i)
    if (maker(values[i].name()) < 0) values.DeleteSubrange(i, 1);
  index();
}

std::string Graph::serialize() const {
  std::string result;
  if (!model.SerializeToString(&result))
    fail(ErrorKind::runtime, "with its new constants the model is larger than ONNX files can be");
  return result;
}

int Graph::opset(const std::string &domain) const {
  for (const auto &import : model.opset_import())
    if (onnximport::normalizeDomain(import.domain()) == domain) return int(import.version());
  return 0;
}
void Graph::setOpset(int version, const std::string &domain) {
  if (domain.empty()) raiseFormat(model, version);
  for (auto &import : *model.mutable_opset_import())
    if (onnximport::normalizeDomain(import.domain()) == domain) return import.set_version(version);
  auto *added = model.add_opset_import();
  added->set_domain(domain);
  added->set_version(version);
}

std::string Graph::label(int i) const {
  if (!node(i).name().empty()) return node(i).name();
  return node(i).output_size() ? node(i).output(0) : node(i).op_type();
}

} // namespace sprig::quantize
