// Checks a node against its operator's schema: number of inputs and outputs, attributes, element types.
#include "lib/Import/ONNX/Importer.h"
#include "lib/Import/ONNX/Narrow.h"
#include "lib/Import/ONNX/Tensor.h"
#include "onnx/defs/schema.h"

namespace sprig::onnximport {

namespace {
using Parameter = onnx::OpSchema::FormalParameter;

std::string rangeText(int low, int high) {
  if (low == high) return std::to_string(low);
  if (high == std::numeric_limits<int>::max()) return std::to_string(low) + " or more";
  return std::to_string(low) + " to " + std::to_string(high);
}

/// Names at the end that are empty are not given at all, but for optional ones that a schema counts among the fewest (a
/// Loop's condition).
int givenCount(const google::protobuf::RepeatedPtrField<std::string> &names, int fewest,
               const std::vector<Parameter> &parameters) {
  int count = names.size();
  auto mayBeEmpty = [&](int i) {
    return i < fewest && i < int(parameters.size()) && parameters[size_t(i)].GetOption() == onnx::OpSchema::Optional;
  };
  while (count > 0 && names[count - 1].empty() && !mayBeEmpty(count - 1)) --count;
  return count;
}

void checkArity(const Node &node, const onnx::OpSchema &schema) {
  int inputs = givenCount(node.proto.input(), schema.min_input(), schema.inputs());
  int outputs = givenCount(node.proto.output(), schema.min_output(), schema.outputs());
  if (inputs < schema.min_input() || inputs > schema.max_input())
    node.bad("has " + std::to_string(inputs) + " inputs; " + schema.Name() + " takes " +
             rangeText(schema.min_input(), schema.max_input()));
  if (outputs < schema.min_output() || outputs > schema.max_output())
    node.bad("has " + std::to_string(outputs) + " outputs; " + schema.Name() + " gives " +
             rangeText(schema.min_output(), schema.max_output()));
}

std::string kindName(int type) {
  static const char *const names[] = {"undefined", "a float",         "an int",         "a string", "a tensor",
                                      "a graph",   "floats",          "ints",           "strings",  "tensors",
                                      "graphs",    "a sparse tensor", "sparse tensors", "a type",   "types"};
  return type >= 0 && type < int(std::size(names)) ? names[type] : "of unknown kind " + std::to_string(type);
}

/// The kind that an attribute's fields make it; files of old exporters leave the kind itself out.
int kindOf(const onnx::AttributeProto &attribute) {
  using A = onnx::AttributeProto;
  if (attribute.has_type() && attribute.type() != A::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return A::FLOAT;
  if (attribute.has_i()) return A::INT;
  if (attribute.has_s()) return A::STRING;
  if (attribute.has_t()) return A::TENSOR;
  if (attribute.has_g()) return A::GRAPH;
  if (attribute.floats_size()) return A::FLOATS;
  if (attribute.ints_size()) return A::INTS;
  if (attribute.strings_size()) return A::STRINGS;
  return A::UNDEFINED;
}

/// Whether the fields hold what the kind says.
bool isConsistent(const onnx::AttributeProto &attribute) {
  using A = onnx::AttributeProto;
  switch (kindOf(attribute)) {
  case A::FLOAT: return attribute.has_f();
  case A::INT: return attribute.has_i();
  case A::STRING: return attribute.has_s();
  case A::TENSOR: return attribute.has_t();
  case A::GRAPH: return attribute.has_g();
  default: return true; // lists may be empty
  }
}

void checkAttributes(const Node &node, const onnx::OpSchema &schema) {
  std::set<std::string> seen;
  for (const auto &attribute : node.proto.attribute()) {
    const std::string &name = attribute.name();
    if (!seen.insert(name).second) node.bad("has two attributes '" + name + "'");
    auto expected = schema.attributes().find(name);
    if (expected == schema.attributes().end()) {
      // Names with two underscores in front are for tools.
      if (name.rfind("__", 0) == 0 || schema.Name() == "Constant") continue;
      node.bad("has an attribute '" + name + "', which " + schema.Name() + " (since opset " +
               std::to_string(schema.SinceVersion()) + ") does not have");
    }
    if (!attribute.ref_attr_name().empty())
      node.bad("has an attribute '" + name + "' that refers to '" + attribute.ref_attr_name() +
               "' outside of a function");
    int kind = kindOf(attribute), wanted = expected->second.type;
    bool emptyList = kind == 0 && wanted >= onnx::AttributeProto::FLOATS;
    if (kind != wanted && !emptyList)
      node.bad("has " + kindName(kind) + " in attribute '" + name + "'; expected " + kindName(wanted));
    if (!isConsistent(attribute)) node.bad("has no value in attribute '" + name + "', expected " + kindName(wanted));
  }
  for (const auto &[name, attribute] : schema.attributes())
    if (attribute.required && !seen.count(name)) node.bad("needs attribute '" + name + "', which is not given");
}

std::string schemaType(const Item &item) {
  if (item.narrow) return "tensor(" + dataTypeName(item.narrow->dataType) + ")";
  if (item.value) return schemaTypeName(Emit::elem(item.value));
  if (item.list && !item.list->empty() && item.list->front().value)
    return "seq(" + schemaTypeName(Emit::elem(item.list->front().value)) + ")";
  return ""; // an empty sequence or optional: of any type
}

void checkTypes(const Node &node, const onnx::OpSchema &schema) {
  // Variable of the schema -> the first input that fixed it.
  std::map<std::string, unsigned> variables;
  const auto &formals = schema.inputs();
  for (unsigned i = 0; i < node.inputs() && !formals.empty(); ++i) {
    if (!node.has(i)) continue;
    const Parameter &formal = formals[std::min<size_t>(i, formals.size() - 1)];
    std::string actual = schemaType(node.items[i]);
    if (actual.empty()) continue;
    std::string name = "input " + std::to_string(i) + " ('" + node.proto.input(int(i)) + "')";
    bool allowed = formal.GetTypes().empty(), optional = false;
    for (const auto &type : formal.GetTypes()) {
      allowed |= *type == actual;
      optional |= *type == "optional(" + actual + ")";
    }
    std::string shown = node.items[i].value ? itemText(node.items[i]) : actual;
    if (!allowed && !optional) {
      std::string list;
      for (const auto &type : formal.GetTypes()) list += (list.empty() ? "" : ", ") + *type;
      node.bad(name + " is " + shown + "; " + schema.Name() + " (since opset " + std::to_string(schema.SinceVersion()) +
               ") takes " + list);
    }
    if (formal.GetOption() == onnx::OpSchema::Variadic && !formal.GetIsHomogeneous()) continue;
    auto [first, isNew] = variables.emplace(formal.GetTypeStr(), i);
    if (isNew || schemaType(node.items[first->second]) == actual) continue;
    node.bad("input " + std::to_string(first->second) + " ('" + node.proto.input(int(first->second)) + "') is " +
             (node.items[first->second].value ? itemText(node.items[first->second]) : actual) + " and " + name +
             " is " + shown + "; they have to have one element type");
  }
}

} // namespace

void checkAgainstSchema(const Node &node, const onnx::OpSchema &schema) {
  checkArity(node, schema);
  checkAttributes(node, schema);
  checkTypes(node, schema);
}

} // namespace sprig::onnximport
