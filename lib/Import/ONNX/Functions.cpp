// Finds what a node means: a function of the model, a row of the table, or the function body of its schema.
#include "dialects/NN/NNComposite.h"
#include "lib/Import/ONNX/CheckOperands.h"
#include "lib/Import/ONNX/Counted.h"
#include "lib/Import/ONNX/Importer.h"
#include "lib/Import/ONNX/MicrosoftSchemas.h"
#include "lib/Import/ONNX/Narrow.h"
#include "lib/Import/ONNX/SchemaTable.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include "onnx/defs/schema.h"

using namespace mlir;

namespace sprig::onnximport {

/// Replaces attributes that refer to the function's by the caller's values; those without a value disappear.
static void substituteAttributes(onnx::NodeProto &node,
                                 const std::map<std::string, const onnx::AttributeProto *> &given) {
  for (int i = node.attribute_size() - 1; i >= 0; --i) {
    onnx::AttributeProto &attribute = *node.mutable_attribute(i);
    if (!attribute.ref_attr_name().empty()) {
      auto found = given.find(attribute.ref_attr_name());
      if (found == given.end()) {
        node.mutable_attribute()->DeleteSubrange(i, 1);
        continue;
      }
      std::string name = attribute.name();
      attribute = *found->second;
      attribute.set_name(name);
      continue;
    }
    if (attribute.has_g())
      for (auto &inner : *attribute.mutable_g()->mutable_node()) substituteAttributes(inner, given);
    for (auto &graph : *attribute.mutable_graphs())
      for (auto &inner : *graph.mutable_node()) substituteAttributes(inner, given);
  }
}

/// Whether the node may hold a tensor, itself or in its graphs.
static bool hasTensors(const onnx::NodeProto &node) {
  return llvm::any_of(node.attribute(), [](const onnx::AttributeProto &attribute) {
    return attribute.has_t() || attribute.tensors_size() || attribute.has_g() || attribute.graphs_size();
  });
}

void Importer::callFunction(Node &node, const onnx::FunctionProto &callee) {
  Scope scope;
  scope.prefix = node.label.substr(model.file.size() + 1) + ": ";
  scope.depth = current->depth + 1;
  scope.isFunction = true;
  if (scope.depth > state.limits.nesting)
    node.unsupported("nests deeper than " + std::to_string(state.limits.nesting) + " functions");
  if (int(node.inputs()) > callee.input_size())
    node.bad("gives " + std::to_string(node.inputs()) + " inputs to a function of " +
             std::to_string(callee.input_size()));
  if (node.proto.output_size() > callee.output_size())
    node.bad("takes " + std::to_string(node.proto.output_size()) + " outputs of a function that has " +
             std::to_string(callee.output_size()));
  Opsets opsets;
  for (const auto &import : callee.opset_import()) opsets[normalizeDomain(import.domain())] = import.version();
  // Schema functions may leave the domain of their callees to the model.
  for (const auto &entry : *current->opsets) opsets.insert(entry);
  scope.opsets = &opsets;

  std::map<std::string, const onnx::AttributeProto *> attributes;
  for (const auto &attribute : callee.attribute_proto()) attributes[attribute.name()] = &attribute;
  for (const auto &attribute : node.proto.attribute()) attributes[attribute.name()] = &attribute;

  for (int i = 0; i < callee.input_size(); ++i)
    scope.items[callee.input(i)] = i < int(node.inputs()) ? node.items[size_t(i)] : Item();
  Scope *before = std::exchange(current, &scope);
  for (int i = 0; i < callee.node_size(); ++i) {
    onnx::NodeProto copy = callee.node(i);
    substituteAttributes(copy, attributes);
    bool isKept = hasTensors(copy);
    if (isKept) bodies->push_back(std::move(copy));
    onnx::NodeProto &body = isKept ? bodies->back() : copy;
    // An input that the caller left out is left out in the body too.
    for (auto &name : *body.mutable_input())
      if (auto found = scope.items.find(name); found != scope.items.end() && !found->second) name.clear();
    runNode(body, i, scope);
  }
  current = before;
  for (int i = 0; i < node.proto.output_size(); ++i)
    if (node.wants(unsigned(i))) node.outItem(lookup(scope, callee.output(i)), unsigned(i));
}

static onnx::TypeProto typeProtoOf(const Item &item) {
  onnx::TypeProto type;
  if (item.value) {
    auto *tensorType = type.mutable_tensor_type();
    tensorType->set_elem_type(dataTypeOf(item));
    tensorType->mutable_shape();
    for (int64_t size : Emit::shape(item.value)) tensorType->mutable_shape()->add_dim()->set_dim_value(size);
  } else if (item.list) {
    onnx::TypeProto *inner = type.mutable_sequence_type()->mutable_elem_type();
    if (!item.list->empty())
      *inner = typeProtoOf(item.list->front());
    else
      inner->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  }
  return type;
}

/// Weights of attention: rows of a mask of -inf alone are zeros in the operator's definition, which puts them in place
/// of the softmax's NaN. The softmax has them itself, so that gradients have no NaN either.
static void maskSoftmaxes(Block &block, Operation *before) {
  Operation *first = before ? before->getNextNode() : block.empty() ? nullptr : &block.front();
  for (Operation *op = first; op; op = op->getNextNode())
    if (auto softmax = dyn_cast<ir::SoftmaxOp>(op)) softmax.setMasked(true);
}

bool Importer::callSchemaFunction(Node &node, const onnx::OpSchema &schema) {
  try {
    if (schema.HasContextDependentFunction()) {
      std::vector<onnx::TypeProto> types;
      for (const Item &item : node.items) types.push_back(typeProtoOf(item));
      // Defaults are spelled out: builders read attributes that the node may leave to them.
      onnx::NodeProto full = node.proto;
      onnx::FunctionBodyBuildContextImpl buildContext(full, types);
      onnx::FunctionProto body;
      if (schema.BuildContextDependentFunction(buildContext, body, int(node.opset))) {
        Block *block = node.state.builder.getInsertionBlock();
        Operation *before = block->empty() ? nullptr : &block->back();
        for (const auto &[name, attribute] : schema.attributes())
          if (!node.attribute(name) && attribute.default_value.has_name())
            *body.add_attribute_proto() = attribute.default_value;
        callFunction(node, body);
        if (schema.Name() == "Attention") maskSoftmaxes(*block, before);
        return true;
      }
    }
    if (schema.HasFunction())
      if (const onnx::FunctionProto *found = schema.GetFunction(int(node.opset))) {
        onnx::FunctionProto body = *found;
        for (const auto &[name, attribute] : schema.attributes())
          if (!node.attribute(name) && attribute.default_value.has_name())
            *body.add_attribute_proto() = attribute.default_value;
        callFunction(node, body);
        return true;
      }
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    node.unsupported(std::string("has a function body that cannot be built: ") + error.what());
  }
  return false;
}

void Importer::dispatch(Node &node, Scope &scope) {
  const std::string domain = normalizeDomain(node.proto.domain());
  const std::string &op = node.proto.op_type();
  for (const auto &candidate : model.proto.functions())
    if (candidate.name() == op && normalizeDomain(candidate.domain()) == domain &&
        candidate.overload() == node.proto.overload())
      return callFunction(node, candidate);

  std::string shown = domain.empty() ? "the default domain" : "domain '" + domain + "'";
  if (!isKnownDomain(domain)) node.unsupported("is an operator of " + shown + ", which Sprig does not know");
  if (node.opset == 0) node.bad("is an operator of " + shown + ", but the model imports no opset of it");
  const onnx::OpSchema *schema = findSchema(op, int(node.opset), domain);
  if (!schema) {
    if (domain == kMicrosoftDomain) node.unsupported("is an operator of " + shown + " that Sprig does not have");
    if (onnx::OpSchemaRegistry::Schema(op, domain))
      node.bad(shown + " has " + op + " not yet in opset " + std::to_string(node.opset));
    node.bad(shown + " has no operator '" + op + "'");
  }
  if (schema->Deprecated())
    node.bad(op + " is deprecated since opset " + std::to_string(schema->SinceVersion()) + "; the model imports " +
             std::to_string(node.opset));
  checkAgainstSchema(node, *schema);
  if (domain.empty()) checkOperands(node);
  if (ImportFunction import = table().find(domain, op, node.opset)) {
    checkNarrow(node);
    import(node);
    passNarrow(node);
    return passCounted(node);
  }
  if (const char *reason = table().reasonAgainst(op)) node.unsupported(reason);
  if (!callSchemaFunction(node, *schema)) node.unsupported("is an operator that Sprig does not have");
}

} // namespace sprig::onnximport
