#include "lib/Export/ONNX/Exporter.h"
#include "sprig/error.h"
#include <algorithm>

namespace sprig::onnxexport {

using namespace graph;

namespace {

/// IR versions that came with the opsets from 17 on.
int irVersion(int opset) { return opset <= 18 ? 8 : opset <= 20 ? 9 : 10; }

/// Sizes may differ between recordings in these attributes; their rows look at both.
bool maySayBatch(const std::string &op, const char *attr) {
  return (op == "nn.slice" && (!std::strcmp(attr, "starts") || !std::strcmp(attr, "sizes"))) ||
         (op == "nn.scan" && !std::strcmp(attr, "steps"));
}

bool isSplat(const std::vector<char> &bytes, size_t element) {
  for (size_t i = element; i + element <= bytes.size(); i += element)
    if (std::memcmp(bytes.data(), bytes.data() + i, element)) return false;
  return bytes.size() >= element;
}

bool sameConstants(const GraphNode &a, const GraphNode &b, const TensorType &type) {
  if (!a.constant || !b.constant) return !a.constant == !b.constant;
  if (*a.constant == *b.constant) return true;
  size_t element = size_t(size(type.dtype));
  return isSplat(*a.constant, element) && isSplat(*b.constant, element) &&
         !std::memcmp(a.constant->data(), b.constant->data(), element);
}

/// What makes the two recordings differ in more than sizes, or nothing.
std::string difference(const Graph &ga, const GraphNode &a, const Graph &gb, const GraphNode &b) {
  if (a.op != b.op) return "is " + b.op->text.substr(3) + " with another batch";
  if (a.operands != b.operands || a.resultCount != b.resultCount || a.regions.size() != b.regions.size() ||
      a.attrs.size() != b.attrs.size())
    return "reads other values with another batch";
  for (const Attr &attr : a.attrs) {
    const Attr *same = find(b.attrs, attr.name);
    if (!same) return std::string("has no attribute '") + attr.name + "' with another batch";
    if (!(*same == attr) && !maySayBatch(a.op->text, attr.name))
      return std::string("has an attribute '") + attr.name + "' that depends on the batch";
  }
  if (!sameConstants(a, b, ga.types[a.firstResult])) return "has a constant that depends on the batch";
  for (uint32_t i = 0; i < a.resultCount; ++i) {
    const TensorType &x = ga.types[a.firstResult + i], &y = gb.types[b.firstResult + i];
    if (x.dtype != y.dtype || x.shape.rank() != y.shape.rank())
      return "gives " + describe(x) + ", and " + describe(y) + " with another batch";
  }
  return "";
}

void rename(onnx::GraphProto &graph, const std::string &from, const std::string &to) {
  for (auto &node : *graph.mutable_node()) {
    for (auto &input : *node.mutable_input())
      if (input == from) input = to;
    for (auto &output : *node.mutable_output())
      if (output == from) output = to;
    for (auto &attribute : *node.mutable_attribute())
      if (attribute.has_g()) rename(*attribute.mutable_g(), from, to);
  }
  for (auto &output : *graph.mutable_output())
    if (output.name() == from) output.set_name(to);
}

} // namespace

Exporter::Exporter(const GraphExport &what) : what(what) {}

std::string Exporter::unique(const std::string &base) {
  std::string name = base;
  while (!taken.insert(name).second) name = base + "_" + std::to_string(++counts[base]);
  return name;
}

std::optional<int64_t> Exporter::multiple(const Dim &dim) const {
  if (!what.other || what.batch < 1 || dim.first % what.batch) return {};
  int64_t k = dim.first / what.batch;
  if (dim.second != k * what.otherBatch) return {};
  return k;
}

Ref Exporter::batch() {
  batchIsUsed = true;
  return batchValue;
}

void Exporter::setType(onnx::ValueInfoProto &info, DType type, const Dims &dims) const {
  auto *tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(dataTypeOf(type));
  auto *shape = tensor->mutable_shape();
  for (const Dim &dim : dims) {
    auto *entry = shape->add_dim();
    if (dim.isFixed())
      entry->set_dim_value(dim.first);
    else if (multiple(dim) == 1)
      entry->set_dim_param(what.batchName);
  }
}

void Exporter::declare(Body &body, const Ref &value, const Dims &dims) {
  if (!body.declared.insert(value.name).second) return;
  auto *info = body.proto.add_value_info();
  info->set_name(value.name);
  setType(*info, value.dtype, dims);
}

void Exporter::inlined(Scope &scope, const GraphNode &node, const Graph &first, const Graph &second) {
  Scope inner{first, second, scope.body, {}};
  for (uint32_t operand : node.operands) inner.values.push_back(scope.values[operand]);
  inner.values.resize(first.types.size());
  nodes(inner);
  for (uint32_t i = 0; i < node.resultCount; ++i) scope.values[node.firstResult + i] = inner.values[first.outputs[i]];
}

/// Constants have no line of their own: what reads the first value of a constant stands for it.
static Site readerOf(const Site &site, size_t index) {
  const Graph &graph = site.scope.first;
  if (site.node.op->text == "nn.constant")
    for (size_t k = index + 1; k < graph.nodes.size(); ++k)
      for (uint32_t operand : graph.nodes[k].operands)
        if (operand == site.node.firstResult)
          return Site(site.exporter, site.scope, graph.nodes[k], site.scope.second.nodes[k]);
  return site;
}

void Exporter::node(Scope &scope, size_t index) {
  const GraphNode &node = scope.first.nodes[index], &other = scope.second.nodes[index];
  Site site(*this, scope, node, other);
  if (&node != &other) {
    std::string text = difference(scope.first, node, scope.second, other);
    if (!text.empty()) readerOf(site, index).refuse(text + ", so that one ONNX model cannot serve every batch");
  }
  Row row = Table::instance().find(node.op->text);
  if (row && row(site)) return;
  auto parts = [this](const Graph &graph, const GraphNode &node) {
    std::vector<TensorType> operands, results;
    for (uint32_t operand : node.operands) operands.push_back(graph.types[operand]);
    for (uint32_t i = 0; i < node.resultCount; ++i) results.push_back(graph.types[node.firstResult + i]);
    return what.decompose(node, operands, results);
  };
  auto first = parts(scope.first, node);
  auto second = &node == &other ? first : parts(scope.second, other);
  if (!first || !second)
    site.refuse((node.operands.empty() ? "" : "on " + describe(site.type(0)) + " ") + "has no form in ONNX opset " +
                std::to_string(what.opset));
  if (first->nodes.size() != second->nodes.size() || first->outputs != second->outputs)
    site.refuse("is another computation with another batch, so that one ONNX model cannot serve every batch");
  inlined(scope, node, *first, *second);
}

namespace {

/// A convolution whose only use is an addition of one number for each channel.
struct Biased {
  size_t addition = 0, reshape = 0;
  uint32_t bias = 0;
  bool reshapeIsItsOwn = false;
};

std::optional<Biased> biasOf(const Graph &graph, size_t index, const std::vector<int> &uses,
                             const std::vector<size_t> &makerOf) {
  const GraphNode &conv = graph.nodes[index];
  if (conv.op->text != "nn.conv" && conv.op->text != "nn.conv_transpose") return {};
  if (find(conv.attrs, "channels_last") || uses[conv.firstResult] != 1) return {};
  for (size_t k = index + 1; k < graph.nodes.size(); ++k) {
    const GraphNode &add = graph.nodes[k];
    auto place = std::find(add.operands.begin(), add.operands.end(), conv.firstResult);
    if (place == add.operands.end()) continue;
    if (add.op->text != "nn.add" || !(graph.types[add.firstResult] == graph.types[conv.firstResult])) return {};
    uint32_t shaped = add.operands[place == add.operands.begin()];
    if (shaped < graph.inputCount) return {};
    const GraphNode &reshape = graph.nodes[makerOf[shaped]];
    if (reshape.op->text != "nn.reshape") return {};
    Biased found{k, makerOf[shaped], reshape.operands[0], uses[shaped] == 1};
    const Shape &result = graph.types[conv.firstResult].shape, &channels = graph.types[shaped].shape;
    const Shape &flat = graph.types[found.bias].shape;
    int channelAxis = channels.rank() - (result.rank() - 1);
    bool fits = flat.rank() == 1 && flat[0] == result[1] && channelAxis >= 0 && channels[channelAxis] == flat[0] &&
                channels.elements() == flat[0];
    // It has to be there when the convolution is.
    if (!fits || found.bias >= conv.firstResult) return {};
    return found;
  }
  return {};
}

} // namespace

void Exporter::nodes(Scope &scope) {
  const Graph &graph = scope.first;
  const Graph &second = scope.second;
  if (graph.nodes.size() != second.nodes.size()) {
    size_t both = std::min(graph.nodes.size(), second.nodes.size()), i = 0;
    while (i + 1 < both && difference(graph, graph.nodes[i], second, second.nodes[i]).empty()) ++i;
    if (both)
      Site(*this, scope, graph.nodes[i], second.nodes[i])
          .refuse("is where the recordings part: the function is " + std::to_string(graph.nodes.size()) +
                  " operations with batch " + std::to_string(what.batch) + " and " +
                  std::to_string(second.nodes.size()) + " with batch " + std::to_string(what.otherBatch));
    unsupported("exportOnnx: the function computes nothing with one batch and something with another");
  }
  std::vector<int> uses(graph.types.size(), 0);
  std::vector<size_t> makerOf(graph.types.size(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (uint32_t operand : graph.nodes[i].operands) ++uses[operand];
    for (uint32_t k = 0; k < graph.nodes[i].resultCount; ++k) makerOf[graph.nodes[i].firstResult + k] = i;
  }
  for (uint32_t output : graph.outputs) ++uses[output];

  std::map<size_t, Biased> biases;
  std::set<size_t> done;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (auto bias = biasOf(graph, i, uses, makerOf)) {
      biases[i] = *bias;
      if (bias->reshapeIsItsOwn) done.insert(bias->reshape);
    }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (done.count(i)) continue;
    auto biased = biases.find(i);
    if (biased == biases.end()) {
      node(scope, i);
      continue;
    }
    const GraphNode &conv = graph.nodes[i], &other = scope.second.nodes[i];
    Site site(*this, scope, conv, other);
    if (std::string text = difference(graph, conv, scope.second, other); !text.empty()) site.refuse(text);
    site.bias = scope.values[biased->second.bias];
    if (!Table::instance().find(conv.op->text)(site)) site.refuse("has no form in ONNX");
    scope.values[graph.nodes[biased->second.addition].firstResult] = scope.values[conv.firstResult];
    done.insert(biased->second.addition);
  }
}

/// Outputs get their names, by renaming what makes them where that is a node of its own.
void Exporter::bindOutputs(Scope &scope) {
  onnx::GraphProto &graph = scope.body.proto;
  std::set<std::string> made, outputs;
  for (const auto &node : graph.node())
    for (const auto &output : node.output()) made.insert(output);
  for (size_t i = 0; i < what.outputs.size(); ++i) {
    uint32_t value = scope.first.outputs[i];
    const std::string &name = what.outputs[i];
    Ref &ref = scope.values[value];
    Dims dims;
    const Shape &a = scope.first.types[value].shape, &b = scope.second.types[scope.second.outputs[i]].shape;
    for (int axis = 0; axis < a.rank(); ++axis) dims.push_back({a[axis], b[axis]});
    if (made.count(ref.name) && !outputs.count(ref.name)) {
      for (int k = 0; k < graph.value_info_size(); ++k)
        if (graph.value_info(k).name() == ref.name) {
          graph.mutable_value_info()->DeleteSubrange(k, 1);
          break;
        }
      std::string old = ref.name;
      rename(graph, old, name);
      for (Ref &each : scope.values)
        if (each.name == old) each.name = name;
    } else {
      auto *node = graph.add_node();
      node->set_op_type("Identity");
      node->set_name(unique("Identity"));
      node->add_input(ref.name);
      node->add_output(name);
    }
    outputs.insert(name);
    auto *output = graph.add_output();
    output->set_name(name);
    setType(*output, scope.first.types[value].dtype, dims);
  }
}

std::string Exporter::run() {
  const Graph &first = *what.graph, &second = what.other ? *what.other : first;
  onnx::ModelProto model;
  model.set_ir_version(irVersion(what.opset));
  model.set_producer_name("sprig");
  auto *opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(what.opset);

  Body body;
  body.proto.set_name(what.name);
  Scope scope{first, second, body, Refs(first.types.size())};
  for (const std::string &name : what.inputs) taken.insert(name);
  for (const std::string &name : what.outputs) taken.insert(name);
  for (const Initializer &initializer : what.initializers) taken.insert(initializer.name);

  std::vector<const Initializer *> initializerOf(first.inputCount, nullptr);
  for (const Initializer &initializer : what.initializers) initializerOf[initializer.input] = &initializer;
  size_t nextName = 0;
  std::optional<std::pair<Ref, int>> source; // an input that has the batch, and its axis
  for (uint32_t i = 0; i < first.inputCount; ++i) {
    const TensorType &type = first.types[i];
    Ref &ref = scope.values[i];
    ref.dtype = type.dtype;
    if (const Initializer *initializer = initializerOf[i]) {
      ref.name = initializer->name;
      auto *tensor = body.proto.add_initializer();
      tensor->set_name(ref.name);
      tensor->set_data_type(dataTypeOf(type.dtype));
      for (int64_t n : type.shape) tensor->add_dims(n);
      tensor->set_raw_data(initializer->bytes, size_t(type.bytes()));
      continue;
    }
    ref.name = what.inputs[nextName++];
    Dims dims;
    for (int axis = 0; axis < type.shape.rank(); ++axis)
      dims.push_back({type.shape[axis], second.types[i].shape[axis]});
    for (int axis = 0; axis < type.shape.rank(); ++axis)
      if (!source && multiple(dims[size_t(axis)]) == 1) source = {ref, axis};
    auto *input = body.proto.add_input();
    input->set_name(ref.name);
    setType(*input, ref.dtype, dims);
  }
  // The batch as a value comes first, so that branches and bodies see it; it goes again where nothing needs it.
  if (what.other && source) {
    auto *node = body.proto.add_node();
    node->set_op_type("Shape");
    node->set_name(unique("Shape"));
    node->add_input(source->first.name);
    *node->add_attribute() = attr("start", int64_t(source->second));
    *node->add_attribute() = attr("end", int64_t(source->second + 1));
    batchValue = {unique("batch_size"), DType::i64};
    node->add_output(batchValue.name);
  }
  nodes(scope);
  if (what.other && source && !batchIsUsed) body.proto.mutable_node()->DeleteSubrange(0, 1);
  bindOutputs(scope);
  *model.mutable_graph() = std::move(body.proto);
  std::string bytes;
  if (!model.SerializeToString(&bytes))
    runtimeError("exportOnnx: the model is larger than the 2 GB that an ONNX file can be");
  return bytes;
}

std::string exportGraph(const GraphExport &graph) { return Exporter(graph).run(); }

const Table &Table::instance() {
  static const Table table = [] {
    Table t;
    for (AddRows *add : {addElementwise, addContractions, addPools, addNorms, addQuantization, addReductions, addShapes,
                         addGathers, addRecurrent, addControl, addRefusals})
      add(t);
    return t;
  }();
  return table;
}

} // namespace sprig::onnxexport
