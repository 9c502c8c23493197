#include "lib/Import/ONNX/ExportGraph.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Import/ONNX/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using llvm::StringRef;

namespace sprig::onnximport {

const char *roleName(Role role) {
  switch (role) {
  case Role::weight: return "weight";
  case Role::table: return "table";
  case Role::bias: return "bias";
  case Role::scale: return "scale";
  case Role::shift: return "shift";
  case Role::mean: return "running mean";
  case Role::variance: return "running variance";
  case Role::slope: return "slope";
  case Role::other: break;
  }
  return "operand";
}

std::string ExportNode::name() const { return module.empty() ? label : "'" + module + "' (" + proto->op_type() + ")"; }

int64_t Initializer::count() const {
  int64_t elements = 1;
  for (int64_t size : tensor->dims())
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements)) return 0;
  return elements;
}

bool Initializer::isVector() const {
  return tensor->dims_size() > 0 &&
         std::count_if(tensor->dims().begin(), tensor->dims().end(), [](int64_t size) { return size != 1; }) <= 1;
}

std::vector<std::string> quotedParts(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 1)) {
    size_t end = text.find('\'', at + 1);
    if (end == std::string::npos) break;
    parts.push_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return parts;
}

namespace {

constexpr StringRef kScopes = "pkg.torch.onnx.name_scopes", kClasses = "pkg.torch.onnx.class_hierarchy",
                    kKind = "pkg.torch.export.graph_signature.InputSpec.kind",
                    kFolded = "pkg.onnxscript.optimizer.folded_from";

std::string metadata(const auto &proto, StringRef key) {
  for (const auto &entry : proto.metadata_props())
    if (StringRef(entry.key()) == key) return entry.value();
  return "";
}

/// "norm_1" -> "norm": exporters number the calls of a module that runs several times.
std::string withoutNumber(StringRef part) {
  StringRef digits = part.take_back(part.size() - std::min(part.size(), part.rfind('_') + 1));
  bool isNumbered = part.contains('_') && !digits.empty() && llvm::all_of(digits, llvm::isDigit);
  return (isNumbered ? part.drop_back(digits.size() + 1) : part).str();
}

void nameModule(ExportNode &node, bool isPyTorch) {
  std::vector<std::string> scopes = quotedParts(metadata(*node.proto, kScopes));
  node.classes = metadata(*node.proto, kClasses);
  if (scopes.size() > 1) { // the last is the operation's own
    node.path = node.module = scopes[scopes.size() - 2];
    return;
  }
  StringRef name = node.proto->name();
  if (name.starts_with("/")) { // TorchScript: /enc/layers.0/norm1/LayerNormalization
    StringRef scope = name.drop_front().rsplit('/').first;
    if (!name.drop_front().contains('/')) return;
    node.module = scope.str();
    llvm::SmallVector<StringRef> parts;
    scope.split(parts, '/');
    for (StringRef part : parts) node.path += "/" + withoutNumber(part);
  } else if (!name.empty() && !isPyTorch) {
    node.module = name.str();
    node.path = withoutNumber(name);
  }
}

Role roleOf(const onnx::NodeProto &node, int operand) {
  StringRef op = node.op_type();
  if (op == "Conv" || op == "ConvTranspose") return operand == 1 ? Role::weight : Role::bias;
  if (op == "Gemm") return operand == 2 ? Role::bias : Role::weight;
  if (op == "MatMul") return Role::weight;
  if (op == "BatchNormalization") {
    constexpr Role roles[] = {Role::other, Role::scale, Role::shift, Role::mean, Role::variance};
    return operand < 5 ? roles[operand] : Role::other;
  }
  if (op.ends_with("Normalization")) return operand == 1 ? Role::scale : operand == 2 ? Role::shift : Role::other;
  if (op == "Gather") return operand == 0 ? Role::table : Role::other;
  if (op == "PRelu") return operand == 1 ? Role::slope : Role::other;
  if (op == "LSTM" || op == "GRU" || op == "RNN")
    return operand == 1 || operand == 2 || operand == 7 ? Role::weight : operand == 3 ? Role::bias : Role::other;
  return Role::other;
}

} // namespace

ExportGraph::ExportGraph(const Model &model) : model(model), context(mlir::MLIRContext::Threading::DISABLED) {
  context.loadDialect<ir::NNDialect>();
  fromPyTorch = StringRef(model.proto.producer_name()).starts_with("pytorch");
  const onnx::GraphProto &graph = model.proto.graph();
  for (const auto &tensor : graph.initializer()) {
    mlir::Type type = elementType(&context, tensor.data_type());
    if (!type || !mlir::isa<mlir::FloatType>(type)) continue;
    index[tensor.name()] = list.size();
    list.push_back({tensor.name(), {&tensor, {}, "", {}}});
  }
  readMetadata(graph);
  addNodes(graph, "");
  for (const ExportNode &node : all)
    fromDynamo |= fromPyTorch && (!node.classes.empty() || StringRef(node.proto->name()).starts_with("node_"));
  addUses();
}

const Initializer *ExportGraph::find(const std::string &name) const {
  auto found = index.find(name);
  return found == index.end() ? nullptr : &list[found->second].second;
}

void ExportGraph::readMetadata(const onnx::GraphProto &graph) {
  auto read = [&](const onnx::ValueInfoProto &info) {
    auto found = index.find(info.name());
    if (found == index.end()) return;
    Initializer &initializer = list[found->second].second;
    initializer.kind = metadata(info, kKind);
    initializer.foldedFrom = quotedParts(metadata(info, kFolded));
  };
  for (const auto &info : graph.value_info()) read(info);
  for (const auto &info : graph.input()) read(info);
}

void ExportGraph::addNodes(const onnx::GraphProto &graph, const std::string &prefix) {
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto &proto = graph.node(i);
    ExportNode node{&proto, prefix + nodeLabel(proto, i), "", "", ""};
    nameModule(node, fromPyTorch);
    all.push_back(node);
    for (const std::string &output : proto.output()) makers[output] = &proto;
    for (const auto &attribute : proto.attribute()) {
      if (attribute.has_g()) addNodes(attribute.g(), node.label + ": ");
      for (const auto &inner : attribute.graphs()) addNodes(inner, node.label + ": ");
    }
  }
}

Initializer *ExportGraph::behind(const std::string &value, std::string &name, std::string &alias, bool &isTransposed) {
  name = value;
  // A chain of renamings is as long as the graph at most.
  for (size_t steps = 0; steps <= all.size(); ++steps) {
    if (auto found = index.find(name); found != index.end()) return &list[found->second].second;
    auto maker = makers.find(name);
    if (maker == makers.end() || maker->second->input_size() == 0) return nullptr;
    StringRef op = maker->second->op_type();
    if (op == "Identity") {
      if (alias.empty()) alias = name;
    } else if (op == "Transpose") {
      isTransposed = !isTransposed;
    } else if (op != "Cast" && op != "Reshape" && op != "Unsqueeze" && op != "Squeeze" && op != "Flatten") {
      return nullptr;
    }
    name = maker->second->input(0);
  }
  return nullptr;
}

/// The weight of the product that a value is, "" where it is none.
std::string ExportGraph::weightBehind(const std::string &value) {
  auto maker = makers.find(value);
  if (maker == makers.end()) return "";
  StringRef op = maker->second->op_type();
  if (op != "MatMul" && op != "Gemm" && op != "Conv" && op != "ConvTranspose" && op != "Einsum") return "";
  for (int i = 0; i < maker->second->input_size() && i < 2; ++i) {
    std::string name, alias;
    bool isTransposed = false;
    if (behind(maker->second->input(i), name, alias, isTransposed)) return name;
  }
  return "";
}

/// A norm that is spelled out ends in x / deviation * scale + shift, or in x * (1 / deviation) * scale + shift.
Role ExportGraph::roleInNorm(bool isFactor, const std::string &other) {
  auto maker = makers.find(other);
  if (maker == makers.end()) return Role::other;
  const onnx::NodeProto &node = *maker->second;
  if (isFactor) return node.op_type() == "Div" || node.op_type() == "Mul" ? Role::scale : Role::other;
  if (node.op_type() != "Mul") return Role::other;
  for (const std::string &input : node.input()) {
    std::string name, alias;
    bool isTransposed = false;
    Initializer *factor = behind(input, name, alias, isTransposed);
    if (factor && factor->isVector() && factor->count() > 1) return Role::shift;
  }
  return Role::other;
}

void ExportGraph::addUse(const ExportNode &node, int operand) {
  std::string name, alias;
  bool isTransposed = false;
  Initializer *initializer = behind(node.proto->input(operand), name, alias, isTransposed);
  if (!initializer) return;
  Use use{&node, roleOf(*node.proto, operand), isTransposed, alias, ""};
  StringRef op = node.proto->op_type();
  if (use.role == Role::bias) {
    int weight = op == "Gemm" ? 1 : op == "Conv" || op == "ConvTranspose" ? 1 : 2;
    std::string ignored;
    bool flipped = false;
    if (node.proto->input_size() > weight) behind(node.proto->input(weight), use.weight, ignored, flipped);
  }
  if ((op == "Add" || op == "Mul") && initializer->isVector() && node.proto->input_size() == 2) {
    const std::string &other = node.proto->input(1 - operand);
    use.weight = op == "Add" ? weightBehind(other) : "";
    if (!use.weight.empty())
      use.role = Role::bias;
    else if (initializer->count() > 1)
      use.role = roleInNorm(op == "Mul", other);
  }
  initializer->uses.push_back(use);
}

void ExportGraph::addUses() {
  for (const ExportNode &node : all) {
    StringRef op = node.proto->op_type();
    // What only renames is looked through from behind.
    if (op == "Identity" || op == "Transpose" || op == "Cast" || op == "Reshape" || op == "Unsqueeze" ||
        op == "Squeeze" || op == "Flatten" || op == "Shape")
      continue;
    for (int i = 0; i < node.proto->input_size(); ++i)
      if (!node.proto->input(i).empty()) addUse(node, i);
  }
}

mlir::ElementsAttr ExportGraph::value(const Initializer &initializer) {
  return readTensor(&context, model, *initializer.tensor, "initializer '" + initializer.tensor->name() + "'",
                    ImportLimits().tensorBytes, ownerOf(model));
}

bool ExportGraph::isSplat(const Initializer &initializer) {
  return initializer.count() > 0 && ir::ConstantView(value(initializer)).isSplat();
}

} // namespace sprig::onnximport
