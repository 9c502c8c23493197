#include "test/fuzz/ModelMutator.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Import/ONNX/SchemaTable.h"
#include "test/fuzz/ModelText.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

namespace sprig::fuzz {

using google::protobuf::Descriptor;
using google::protobuf::Reflection;

namespace {

const std::vector<ONNXOperator> &operators() {
  static const std::vector<ONNXOperator> all = supportedONNXOperators();
  return all;
}

const onnx::OpSchema *schemaOf(const onnx::NodeProto &node, const onnx::ModelProto &model) {
  int opset = 0;
  for (const auto &import : model.opset_import())
    if (import.domain() == node.domain()) opset = int(import.version());
  return opset > 0 && opset < 1000 ? onnximport::findSchema(node.op_type(), opset, node.domain()) : nullptr;
}

} // namespace

ModelMutator::ModelMutator(onnx::ModelProto &model, Choices &choose) : model(model), choose(choose) {
  collect(model);
  values.push_back("");
}

void ModelMutator::collect(Message &message) {
  messages.push_back(&message);
  if (auto *node = dynamic_cast<onnx::NodeProto *>(&message)) {
    nodes.push_back(node);
    values.insert(values.end(), node->output().begin(), node->output().end());
  } else if (auto *tensor = dynamic_cast<onnx::TensorProto *>(&message)) {
    tensors.push_back(tensor);
    values.push_back(tensor->name());
  } else if (auto *value = dynamic_cast<onnx::ValueInfoProto *>(&message)) {
    values.push_back(value->name());
  }
  const Reflection &reflection = *message.GetReflection();
  std::vector<const Field *> set;
  reflection.ListFields(message, &set);
  for (const Field *field : set) {
    if (field->cpp_type() != Field::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      collect(*reflection.MutableMessage(&message, field));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      collect(*reflection.MutableRepeatedMessage(&message, field, i));
  }
}

void ModelMutator::mutate() {
  switch (choose.below(10)) {
  case 0: return changeOperator();
  case 1:
  case 2: return rewire();
  case 3: return addNode();
  case 4: return changeInitializer();
  case 5:
    if (!nodes.empty()) addAttribute(*choose.of(nodes));
    return;
  default: return changeField(*choose.of(messages));
  }
}

const google::protobuf::Message *ModelMutator::another(const Descriptor &type) {
  std::vector<const Message *> same;
  for (const Message *message : messages)
    if (message->GetDescriptor() == &type) same.push_back(message);
  return same.empty() ? nullptr : choose.of(same);
}

void ModelMutator::changeField(Message &message) {
  const Descriptor &type = *message.GetDescriptor();
  if (type.field_count() == 0) return;
  const Reflection &reflection = *message.GetReflection();
  // Mostly a field that is there.
  std::vector<const Field *> set;
  reflection.ListFields(message, &set);
  const Field *field =
      set.empty() || choose.oneIn(4) ? type.field(int(choose.below(size_t(type.field_count())))) : choose.of(set);
  if (field->is_repeated())
    changeRepeated(message, *field);
  else if (choose.oneIn(4))
    reflection.ClearField(&message, field);
  else
    changeSingle(message, *field);
}

void ModelMutator::changeRepeated(Message &message, const Field &field) {
  const Reflection &reflection = *message.GetReflection();
  int size = reflection.FieldSize(message, &field);
  size_t action = choose.below(4);
  if (size > 0 && action == 0) return reflection.RemoveLast(&message, &field);
  if (size > 1 && action == 1)
    return reflection.SwapElements(&message, &field, int(choose.below(size_t(size))), int(choose.below(size_t(size))));
  bool add = size == 0 || action == 2;
  int at = add ? 0 : int(choose.below(size_t(size)));
  switch (field.cpp_type()) {
  case Field::CPPTYPE_INT64: {
    int64_t value = numberFor(field, size ? reflection.GetRepeatedInt64(message, &field, at) : 0);
    return add ? reflection.AddInt64(&message, &field, value)
               : reflection.SetRepeatedInt64(&message, &field, at, value);
  }
  case Field::CPPTYPE_INT32: {
    int32_t value = int32_t(numberFor(field, size ? reflection.GetRepeatedInt32(message, &field, at) : 0));
    return add ? reflection.AddInt32(&message, &field, value)
               : reflection.SetRepeatedInt32(&message, &field, at, value);
  }
  case Field::CPPTYPE_FLOAT: {
    static const float known[] = {0, -1, 0.5, 1, 3e38f, INFINITY, NAN};
    return add ? reflection.AddFloat(&message, &field, choose.of(known))
               : reflection.SetRepeatedFloat(&message, &field, at, choose.of(known));
  }
  case Field::CPPTYPE_STRING: {
    std::string value = textFor(message, field, size ? reflection.GetRepeatedString(message, &field, at) : "");
    return add ? reflection.AddString(&message, &field, value)
               : reflection.SetRepeatedString(&message, &field, at, value);
  }
  case Field::CPPTYPE_MESSAGE: {
    const Message *other = another(*field.message_type());
    // A message within itself would be copied while it grows.
    std::unique_ptr<Message> copy(other ? other->New() : nullptr);
    if (copy) copy->CopyFrom(*other);
    Message *target =
        add ? reflection.AddMessage(&message, &field) : reflection.MutableRepeatedMessage(&message, &field, at);
    if (copy) target->CopyFrom(*copy);
    return;
  }
  default: return;
  }
}

void ModelMutator::changeSingle(Message &message, const Field &field) {
  const Reflection &reflection = *message.GetReflection();
  switch (field.cpp_type()) {
  case Field::CPPTYPE_INT64:
    return reflection.SetInt64(&message, &field, numberFor(field, reflection.GetInt64(message, &field)));
  case Field::CPPTYPE_INT32:
    return reflection.SetInt32(&message, &field, int32_t(numberFor(field, reflection.GetInt32(message, &field))));
  case Field::CPPTYPE_FLOAT: {
    static const float known[] = {0, -1, 0.5, 1, 3e38f, INFINITY, NAN};
    return reflection.SetFloat(&message, &field, choose.of(known));
  }
  case Field::CPPTYPE_ENUM: {
    const auto &values = *field.enum_type();
    return reflection.SetEnum(&message, &field, values.value(int(choose.below(size_t(values.value_count())))));
  }
  case Field::CPPTYPE_STRING:
    return reflection.SetString(&message, &field, textFor(message, field, reflection.GetString(message, &field)));
  case Field::CPPTYPE_MESSAGE:
    if (const Message *other = another(*field.message_type())) {
      std::unique_ptr<Message> copy(other->New());
      copy->CopyFrom(*other);
      reflection.MutableMessage(&message, &field)->CopyFrom(*copy);
    } else {
      reflection.MutableMessage(&message, &field);
    }
    return;
  default: return;
  }
}

int64_t ModelMutator::numberFor(const Field &field, int64_t old) {
  // Most numbers of models are small: sizes, axes, element types.
  return choose.oneIn(4) ? int64_t(mutatedNumber(uint64_t(old), choose)) : int64_t(choose.below(20)) - 3;
}

std::string ModelMutator::textFor(const Message &message, const Field &field, const std::string &old) {
  const std::string &name = field.name();
  if (name == "op_type") return choose.of(operators()).name;
  if (name == "input" || name == "output" || field.containing_type()->name() == "ValueInfoProto")
    return choose.of(values);
  if (field.type() == Field::TYPE_BYTES || choose.oneIn(4)) {
    std::string bytes = old;
    bytes.resize(old.size() + 8);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(bytes.data()), old.size(), bytes.size()));
    return bytes;
  }
  return choose.oneIn(2) ? std::string() : choose.of(values);
}

void ModelMutator::changeOperator() {
  if (nodes.empty()) return;
  onnx::NodeProto &node = *choose.of(nodes);
  const ONNXOperator &other = choose.of(operators());
  node.set_op_type(other.name);
  node.set_domain(other.domain);
  if (choose.oneIn(2)) node.clear_attribute();
}

void ModelMutator::rewire() {
  if (nodes.empty()) return;
  onnx::NodeProto &node = *choose.of(nodes);
  if (node.input_size() == 0 || choose.oneIn(6)) {
    node.add_input(choose.of(values));
  } else if (choose.oneIn(6)) {
    node.mutable_input()->RemoveLast();
  } else {
    node.set_input(int(choose.below(size_t(node.input_size()))), choose.of(values));
  }
}

void ModelMutator::addNode() {
  const ONNXOperator &kind = choose.of(operators());
  onnx::NodeProto &node = *model.mutable_graph()->add_node();
  node.set_op_type(kind.name);
  node.set_domain(kind.domain);
  const onnx::OpSchema *schema = schemaOf(node, model);
  int least = schema ? std::min(schema->min_input(), 8) : 1, most = schema ? std::min(schema->max_input(), 8) : 2;
  int inputs = least + int(choose.below(size_t(std::max(0, most - least)) + 1));
  for (int i = 0; i < inputs; ++i) node.add_input(choose.of(values));
  int outputs = schema ? std::clamp(schema->min_output(), 1, 8) : 1;
  std::string name = "new" + std::to_string(choose.below(1000000));
  for (int i = 0; i < outputs; ++i) node.add_output(name + "_" + std::to_string(i));
  if (schema)
    for (const auto &[attribute, row] : schema->attributes())
      if (row.required) addAttribute(node);
  model.mutable_graph()->add_output()->set_name(name + "_0");
}

// An attribute that the operator has, mostly of its own type.
void ModelMutator::addAttribute(onnx::NodeProto &node) {
  const onnx::OpSchema *schema = schemaOf(node, model);
  if (!schema || schema->attributes().empty()) return;
  auto row = std::next(schema->attributes().begin(), ptrdiff_t(choose.below(schema->attributes().size())));
  onnx::AttributeProto *attribute = nullptr;
  for (onnx::AttributeProto &each : *node.mutable_attribute())
    if (each.name() == row->first) attribute = &each;
  if (!attribute) attribute = node.add_attribute();
  attribute->set_name(row->first);
  attribute->set_type(onnx::AttributeProto::AttributeType(int(row->second.type)));
  if (choose.oneIn(16)) return;
  switch (attribute->type()) {
  case onnx::AttributeProto::INT: attribute->set_i(int64_t(choose.below(8)) - 2); break;
  case onnx::AttributeProto::FLOAT: attribute->set_f(float(choose.below(8)) / 2 - 1); break;
  case onnx::AttributeProto::STRING: {
    static const char *known[] = {"SAME_UPPER", "SAME_LOWER", "VALID",  "NOTSET",
                                  "constant",   "reflect",    "linear", "max"};
    attribute->set_s(choose.of(known));
    break;
  }
  case onnx::AttributeProto::INTS:
    attribute->clear_ints();
    for (size_t i = choose.below(5); i-- > 0;) attribute->add_ints(int64_t(choose.below(6)) - 1);
    break;
  case onnx::AttributeProto::FLOATS:
    for (size_t i = choose.below(3); i-- > 0;) attribute->add_floats(float(choose.below(4)));
    break;
  case onnx::AttributeProto::TENSOR:
    if (!tensors.empty()) attribute->mutable_t()->CopyFrom(onnx::TensorProto(*choose.of(tensors)));
    break;
  default: break;
  }
}

// Type or shape, with as many bytes as they need: only then does anybody look at the values.
void ModelMutator::changeInitializer() {
  if (tensors.empty()) return;
  onnx::TensorProto &tensor = *choose.of(tensors);
  static constexpr std::pair<int, size_t> kTypes[] = {
      {onnx::TensorProto::FLOAT, 4}, {onnx::TensorProto::INT64, 8},   {onnx::TensorProto::INT32, 4},
      {onnx::TensorProto::UINT8, 1}, {onnx::TensorProto::BOOL, 1},    {onnx::TensorProto::DOUBLE, 8},
      {onnx::TensorProto::INT8, 1},  {onnx::TensorProto::FLOAT16, 2}, {onnx::TensorProto::BFLOAT16, 2}};
  auto [type, bytes] = choose.of(kTypes);
  if (choose.oneIn(2))
    tensor.set_data_type(type);
  else
    for (auto [code, size] : kTypes)
      if (code == tensor.data_type()) bytes = size;
  size_t rank = choose.below(4);
  if (choose.oneIn(2)) {
    tensor.clear_dims();
    for (size_t i = 0; i < rank; ++i) tensor.add_dims(int64_t(choose.below(5)));
  }
  size_t count = bytes;
  for (int64_t dim : tensor.dims()) count = dim >= 0 && dim < 64 && count < 4096 ? count * size_t(dim) : 0;
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  std::string raw = tensor.raw_data();
  raw.resize(count, char(choose.below(4)));
  tensor.set_raw_data(raw);
}

} // namespace sprig::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  using namespace sprig::fuzz;
  Choices choose(seed);
  onnx::ModelProto model;
  std::string bytes(reinterpret_cast<char *>(data), size);
  if (!readModel(bytes, model)) return LLVMFuzzerMutate(data, size, maxSize);
  for (size_t i = 1 + choose.below(4); i-- > 0;) ModelMutator(model, choose).mutate();
  std::string changed = model.SerializeAsString();
  if (changed.size() > maxSize) return size;
  if (choose.oneIn(32)) changed.resize(choose.below(changed.size() + 1));
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
