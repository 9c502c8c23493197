// One operation: what its row reads and writes.
#include "lib/Export/ONNX/Exporter.h"
#include "lib/Import/ONNX/SchemaTable.h"
#include "runtime/base/Decimal.h"
#include "sprig/error.h"
#include <algorithm>
#include <cstdlib>

namespace sprig::onnxexport {

using namespace graph;

Dims fixed(const Ints &sizes) {
  Dims dims;
  for (int64_t n : sizes) dims.push_back({n, n});
  return dims;
}

//===- Attributes of nodes
//--------------------------------------------------------------------------------------------===//

static onnx::AttributeProto named(const char *name, onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto result;
  result.set_name(name);
  result.set_type(type);
  return result;
}
onnx::AttributeProto attr(const char *name, int64_t value) {
  auto result = named(name, onnx::AttributeProto::INT);
  result.set_i(value);
  return result;
}
onnx::AttributeProto attr(const char *name, const Ints &values) {
  auto result = named(name, onnx::AttributeProto::INTS);
  for (int64_t value : values) result.add_ints(value);
  return result;
}
onnx::AttributeProto attr(const char *name, const std::string &value) {
  auto result = named(name, onnx::AttributeProto::STRING);
  result.set_s(value);
  return result;
}
onnx::AttributeProto attr(const char *name, onnx::GraphProto value) {
  auto result = named(name, onnx::AttributeProto::GRAPH);
  *result.mutable_g() = std::move(value);
  return result;
}
onnx::AttributeProto realAttr(const char *name, double value) {
  auto result = named(name, onnx::AttributeProto::FLOAT);
  result.set_f(float(value));
  return result;
}
onnx::AttributeProto realsAttr(const char *name, const std::vector<double> &values) {
  auto result = named(name, onnx::AttributeProto::FLOATS);
  for (double value : values) result.add_floats(float(value));
  return result;
}
onnx::AttributeProto stringsAttr(const char *name, const std::vector<std::string> &values) {
  auto result = named(name, onnx::AttributeProto::STRINGS);
  for (const std::string &value : values) result.add_strings(value);
  return result;
}

namespace {
struct DataType {
  DType dtype;
  int32_t onnx;
  const char *text; // as schemas write it
};
constexpr DataType kDataTypes[] = {{DType::f64, onnx::TensorProto::DOUBLE, "tensor(double)"},
                                   {DType::f32, onnx::TensorProto::FLOAT, "tensor(float)"},
                                   {DType::f16, onnx::TensorProto::FLOAT16, "tensor(float16)"},
                                   {DType::bf16, onnx::TensorProto::BFLOAT16, "tensor(bfloat16)"},
                                   {DType::i64, onnx::TensorProto::INT64, "tensor(int64)"},
                                   {DType::i32, onnx::TensorProto::INT32, "tensor(int32)"},
                                   {DType::i16, onnx::TensorProto::INT16, "tensor(int16)"},
                                   {DType::i8, onnx::TensorProto::INT8, "tensor(int8)"},
                                   {DType::u64, onnx::TensorProto::UINT64, "tensor(uint64)"},
                                   {DType::u32, onnx::TensorProto::UINT32, "tensor(uint32)"},
                                   {DType::u16, onnx::TensorProto::UINT16, "tensor(uint16)"},
                                   {DType::u8, onnx::TensorProto::UINT8, "tensor(uint8)"},
                                   {DType::boolean, onnx::TensorProto::BOOL, "tensor(bool)"}};
} // namespace

int32_t dataTypeOf(DType type) { return kDataTypes[int(type)].onnx; }

//===- What the recorded operation says
//-------------------------------------------------------------------------------===//

void Site::refuse(const std::string &text) const {
  std::string file = node.source.file, where;
  if (node.source.line) where = file.substr(file.rfind('/') + 1) + ":" + std::to_string(node.source.line) + ": ";
  std::string op = node.op->text;
  if (op.starts_with("nn.")) op = op.substr(3);
  if (node.layer) op += " (layer '" + *node.layer + "')";
  unsupported(where + op + ": " + text);
}

Dims Site::dimsOf(uint32_t first, uint32_t second) const {
  Dims dims;
  const Shape &a = scope.first.types[first].shape, &b = scope.second.types[second].shape;
  for (int axis = 0; axis < a.rank(); ++axis) {
    Dim dim{a[axis], b[axis]};
    if (!dim.isFixed() && !exporter.multiple(dim))
      refuse("has a size that is " + std::to_string(dim.first) + " with batch " + std::to_string(exporter.what.batch) +
             " and " + std::to_string(dim.second) + " with batch " + std::to_string(exporter.what.otherBatch) +
             "; expected a multiple of the batch");
    dims.push_back(dim);
  }
  return dims;
}

Refs Site::all() const {
  Refs operands;
  for (size_t i = 0; i < inputs(); ++i) operands.push_back(in(i));
  return operands;
}

bool Site::out(const Ref &value, size_t i) {
  Ref &ref = scope.values[node.firstResult + i];
  ref = value;
  ref.dtype = resultType(i).dtype;
  bool isMade = scope.body.proto.node_size() > 0;
  for (size_t k = 0; isMade && k < inputs(); ++k) isMade = in(k).name != ref.name;
  if (isMade) exporter.declare(scope.body, ref, resultDims(i));
  return true;
}

bool Site::flag(const char *name, bool otherwise) const {
  const Attr *attr = find(node.attrs, name);
  if (!attr) return otherwise;
  return attr->kind == Attr::Kind::unit || attr->integer != 0;
}
int64_t Site::integer(const char *name, int64_t otherwise) const {
  const Attr *attr = find(node.attrs, name);
  return attr ? attr->integer : otherwise;
}
double Site::real(const char *name, double otherwise) const {
  const Attr *attr = find(node.attrs, name);
  return attr ? attr->real : otherwise;
}

/// The numbers of "array<i32: 1, 2>" or "array<f64: 1.0, 2.0>".
static std::vector<double> numbersOf(std::string_view text) {
  std::vector<double> numbers;
  text.remove_prefix(std::min(text.find(':'), text.size()));
  while (text.starts_with(':') || text.starts_with(',')) {
    text.remove_prefix(std::min(text.find_first_not_of(' ', 1), text.size()));
    std::optional<double> number = decimal::take(text);
    if (!number) break;
    numbers.push_back(*number);
  }
  return numbers;
}

static Ints integersOf(const Attr *attr) {
  if (!attr) return {};
  if (attr->kind == Attr::Kind::integers) return attr->integers.vector();
  Ints result;
  for (double value : numbersOf(attr->text)) result.push_back(int64_t(value));
  return result;
}
Ints Site::integers(const char *name) const { return integersOf(find(node.attrs, name)); }
Ints Site::otherIntegers(const char *name) const { return integersOf(find(other.attrs, name)); }
std::vector<double> Site::reals(const char *name) const {
  const Attr *attr = find(node.attrs, name);
  return attr ? numbersOf(attr->text) : std::vector<double>();
}
std::string Site::word(const char *name) const {
  const Attr *attr = find(node.attrs, name);
  std::string text = attr ? attr->text : "";
  return text.substr(text.rfind(' ') + 1);
}
std::vector<std::string> Site::words(const char *name) const {
  const Attr *attr = find(node.attrs, name);
  std::vector<std::string> result;
  if (!attr) return result;
  std::string text = attr->text;
  for (size_t from = text.find('"'); from != std::string::npos;) {
    size_t to = text.find('"', from + 1);
    result.push_back(text.substr(from + 1, to - from - 1));
    from = to == std::string::npos ? to : text.find('"', to + 1);
  }
  return result;
}

//===- Nodes
//----------------------------------------------------------------------------------------------------------===//

std::string Site::name(const std::string &base) const { return node.layer ? *node.layer + "/" + base : base; }

/// What is computed wider and rounded, or wrapped, once: the dialect's own way for half types, and the same result for
/// integers, whose arithmetic is that of residues.
static DType widened(DType type) {
  switch (type) {
  case DType::f16:
  case DType::bf16: return DType::f32;
  case DType::i16:
  case DType::i8: return DType::i32;
  case DType::u16:
  case DType::u8: return DType::u32;
  default: return type;
  }
}

bool Site::takes(const char *op, DType type) const {
  const onnx::OpSchema *schema = onnximport::findSchema(op, opset(), "");
  if (!schema || schema->inputs().empty()) return schema != nullptr;
  for (const std::string *known : schema->inputs()[0].GetTypes())
    if (*known == kDataTypes[int(type)].text) return true;
  return false;
}

bool Site::can(const char *op, DType type) const { return takes(op, type) || takes(op, widened(type)); }

Refs Site::emitWide(const char *op, Refs operands, Attributes attributes, std::vector<DType> results, DType type) {
  for (Ref &operand : operands)
    if (!operand.name.empty() && operand.dtype == type) operand = cast(operand, widened(type));
  std::vector<DType> wide = results;
  std::replace(wide.begin(), wide.end(), type, widened(type));
  Refs refs = emitAll(op, operands, std::move(attributes), wide);
  for (size_t i = 0; i < refs.size(); ++i) refs[i] = cast(refs[i], results[i]);
  return refs;
}

Refs Site::emitAll(const char *op, const Refs &operands, Attributes attributes, const std::vector<DType> &results) {
  if (!operands.empty() && !takes(op, operands[0].dtype)) {
    DType type = operands[0].dtype;
    if (takes(op, widened(type))) return emitWide(op, operands, std::move(attributes), results, type);
    refuse(std::string("ONNX's ") + op + " of opset " + std::to_string(opset()) + " has no " + sprig::name(type));
  }
  auto *made = scope.body.proto.add_node();
  made->set_op_type(op);
  made->set_name(exporter.unique(name(op)));
  if (node.source.line) {
    std::string file = node.source.file;
    made->set_doc_string(file.substr(file.rfind('/') + 1) + ":" + std::to_string(node.source.line));
  }
  size_t count = operands.size();
  while (count && operands[count - 1].name.empty()) --count;
  for (size_t i = 0; i < count; ++i) made->add_input(operands[i].name);
  for (auto &attribute : attributes) *made->add_attribute() = std::move(attribute);
  Refs refs;
  for (size_t i = 0; i < results.size(); ++i) {
    refs.push_back({exporter.unique(made->name() + "_output_" + std::to_string(i)), results[i]});
    made->add_output(refs.back().name);
  }
  return refs;
}

Ref Site::emit(const char *op, const Refs &operands, Attributes attributes, std::optional<DType> result) {
  return emitAll(op, operands, std::move(attributes), {result ? *result : operands.at(0).dtype})[0];
}

Ref Site::constant(const TensorType &type, const void *bytes) {
  std::string content(static_cast<const char *>(bytes), size_t(type.bytes()));
  std::string key = describe(type) + "/" + content;
  auto found = scope.body.constants.find(key);
  if (found != scope.body.constants.end()) return found->second;
  onnx::AttributeProto value = named("value", onnx::AttributeProto::TENSOR);
  auto *tensor = value.mutable_t();
  tensor->set_data_type(dataTypeOf(type.dtype));
  for (int64_t n : type.shape) tensor->add_dims(n);
  tensor->set_raw_data(std::move(content));
  Ref ref = emit("Constant", {}, {std::move(value)}, type.dtype);
  scope.body.constants[key] = ref;
  return ref;
}

Ref Site::ints(const Ints &values) { return constant({DType::i64, {int64_t(values.size())}}, values.data()); }
Ref Site::integer64(int64_t value) { return constant({DType::i64, {}}, &value); }

Ref Site::filled(double value, DType type, const Ints &shape) {
  TensorType tensor{type, Shape(shape)};
  auto made = [&]<typename T>(T number) {
    std::vector<T> numbers(size_t(tensor.elements()), number);
    return constant(tensor, numbers.data());
  };
  switch (type) {
  case DType::f64: return made(value);
  case DType::f32: return made(float(value));
  case DType::i64: return made(int64_t(value));
  case DType::i32: return made(int32_t(value));
  case DType::i16: return made(int16_t(value));
  case DType::i8: return made(int8_t(value));
  case DType::u64: return made(uint64_t(value));
  case DType::u32: return made(uint32_t(value));
  case DType::u16: return made(uint16_t(value));
  case DType::u8: return made(uint8_t(value));
  case DType::boolean: return made(uint8_t(value != 0));
  case DType::f16:
  case DType::bf16: break;
  }
  return cast(filled(value, DType::f32, shape), type);
}
Ref Site::scalar(double value, DType type) { return filled(value, type, {}); }

Ref Site::shape(const Dims &dims) {
  Refs parts;
  Ints run;
  auto flush = [&] {
    if (!run.empty()) parts.push_back(ints(run));
    run.clear();
  };
  for (const Dim &dim : dims) {
    if (dim.isFixed()) {
      run.push_back(dim.first);
      continue;
    }
    flush();
    auto k = exporter.multiple(dim);
    if (!k)
      refuse("needs a number that is " + std::to_string(dim.first) + " with batch " +
             std::to_string(exporter.what.batch) + " and " + std::to_string(dim.second) + " with batch " +
             std::to_string(exporter.what.otherBatch) + "; expected a multiple of the batch");
    Ref batch = exporter.batch();
    parts.push_back(*k == 1 ? batch : emit("Mul", {batch, ints({*k})}));
  }
  if (parts.empty() && run.empty()) return ints({});
  flush();
  return parts.size() == 1 ? parts[0] : emit("Concat", parts, {attr("axis", int64_t(0))});
}

Ref Site::reshape(const Ref &value, const Dims &to) {
  size_t open = size_t(std::count_if(to.begin(), to.end(), [](const Dim &dim) { return !dim.isFixed(); }));
  bool hasZero = std::any_of(to.begin(), to.end(), [](const Dim &dim) { return dim.first == 0; });
  Ref target;
  if (open == 1 && !hasZero) {
    Ints sizes;
    for (const Dim &dim : to) sizes.push_back(dim.isFixed() ? dim.first : -1);
    target = ints(sizes);
  } else {
    target = shape(to);
  }
  Attributes attributes;
  if (hasZero) attributes.push_back(attr("allowzero", int64_t(1)));
  return emit("Reshape", {value, target}, std::move(attributes));
}
Ref Site::transpose(const Ref &value, const Ints &permutation) {
  return emit("Transpose", {value}, {attr("perm", permutation)});
}
Ref Site::expand(const Ref &value, const Dims &to) { return emit("Expand", {value, shape(to)}); }
Ref Site::cast(const Ref &value, DType type) {
  if (value.dtype == type) return value;
  return emit("Cast", {value}, {attr("to", int64_t(dataTypeOf(type)))}, type);
}
Ref Site::squeeze(const Ref &value, int64_t axis) { return emit("Squeeze", {value, ints({axis})}); }
Ref Site::unsqueeze(const Ref &value, int64_t axis) { return emit("Unsqueeze", {value, ints({axis})}); }

//===- Regions
//--------------------------------------------------------------------------------------------------------===//

void Site::region(size_t index, Body &body, const Refs &inputs, Refs &outputs) {
  const Graph &first = *node.regions[index], &second = *other.regions[index];
  Scope inner{first, second, body, inputs};
  inner.values.resize(first.types.size());
  exporter.nodes(inner);
  for (uint32_t output : first.outputs) outputs.push_back(inner.values[output]);
}

Dims Site::regionDims(size_t index, uint32_t value) const {
  Dims dims;
  const Shape &a = node.regions[index]->types[value].shape, &b = other.regions[index]->types[value].shape;
  for (int axis = 0; axis < a.rank(); ++axis) dims.push_back({a[axis], b[axis]});
  return dims;
}

void Site::addInput(Body &body, const Ref &value, const Dims &dims) const {
  auto *input = body.proto.add_input();
  input->set_name(value.name);
  exporter.setType(*input, value.dtype, dims);
  body.declared.insert(value.name);
}

/// What a graph gives has to be made in it, under a name of its own.
void Site::addOutput(Body &body, const Ref &value, const Dims &dims) {
  auto *copy = body.proto.add_node();
  copy->set_op_type("Identity");
  copy->set_name(exporter.unique(name("Identity")));
  copy->add_input(value.name);
  auto *output = body.proto.add_output();
  output->set_name(exporter.unique(copy->name() + "_output_0"));
  copy->add_output(output->name());
  exporter.setType(*output, value.dtype, dims);
}

} // namespace sprig::onnxexport
