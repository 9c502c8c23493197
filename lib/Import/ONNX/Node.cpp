#include "lib/Import/ONNX/Node.h"
#include "lib/Import/ONNX/Importer.h"
#include "lib/Import/ONNX/Tensor.h"

using namespace mlir;

namespace sprig::onnximport {

//===- Constants as numbers --------------------------------------------------------------------------------------===//

Ints intsOf(ElementsAttr value) {
  ir::ConstantView view(value);
  bool isFloat = isa<FloatType>(view.elementType());
  Ints numbers;
  for (int64_t i = 0, e = view.size(); i < e; ++i)
    numbers.push_back(isFloat ? int64_t(view.asDouble(i)) : view.asInt64(i));
  return numbers;
}

std::vector<double> realsOf(ElementsAttr value) {
  ir::ConstantView view(value);
  std::vector<double> numbers;
  for (int64_t i = 0, e = view.size(); i < e; ++i) numbers.push_back(view.asDouble(i));
  return numbers;
}

//===- Inputs ----------------------------------------------------------------------------------------------------===//

const Item &Node::item(unsigned i) const {
  if (!has(i)) bad("needs input " + std::to_string(i) + ", which is not given");
  return items[i];
}

Value Node::in(unsigned i) const {
  const Item &it = item(i);
  if (!it.value) bad("input " + std::to_string(i) + " is a sequence or an empty optional; expected a tensor");
  return it.value;
}

Values Node::tensors() const {
  Values values;
  for (unsigned i = 0; i < inputs(); ++i) values.push_back(in(i));
  return values;
}

const Items &Node::list(unsigned i) const {
  const Item &it = item(i);
  if (!it.list) bad("input " + std::to_string(i) + " is no sequence");
  return *it.list;
}

ElementsAttr Node::known(Value v, const std::string &what) const {
  if (ElementsAttr value = constantOf(v)) return value;
  importer.requestValues(*this, v, what);
}

ElementsAttr Node::known(unsigned i) const {
  return known(in(i), "input " + std::to_string(i) + " ('" + proto.input(int(i)) + "')");
}
Ints Node::knownInts(unsigned i) const { return intsOf(known(i)); }
std::vector<double> Node::knownReals(unsigned i) const { return realsOf(known(i)); }

int64_t Node::knownInt(unsigned i) const {
  Ints numbers = knownInts(i);
  require(numbers.size() == 1,
          "input " + std::to_string(i) + " has " + std::to_string(numbers.size()) + " elements; expected 1");
  return numbers[0];
}
double Node::knownReal(unsigned i) const {
  std::vector<double> numbers = knownReals(i);
  require(numbers.size() == 1,
          "input " + std::to_string(i) + " has " + std::to_string(numbers.size()) + " elements; expected 1");
  return numbers[0];
}

std::optional<Ints> Node::tryInts(Value v) const {
  ElementsAttr value = constantOf(v);
  return value ? std::optional<Ints>(intsOf(value)) : std::nullopt;
}

std::optional<Ints> Node::tryControl(Value v) const {
  if (!constantOf(v)) importer.requestNumbers(v);
  return tryInts(v);
}

//===- Attributes ------------------------------------------------------------------------------------------------===//

const onnx::AttributeProto *Node::attribute(StringRef name) const {
  for (const auto &attribute : proto.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

int64_t Node::intAttr(StringRef name, int64_t otherwise) const {
  const auto *found = attribute(name);
  return found ? found->i() : otherwise;
}
int64_t Node::intAttr(StringRef name) const {
  if (!attribute(name)) bad("needs attribute '" + name.str() + "'");
  return intAttr(name, 0);
}
double Node::realAttr(StringRef name, double otherwise) const {
  const auto *found = attribute(name);
  return found ? double(found->f()) : otherwise;
}
std::string Node::stringAttr(StringRef name, const std::string &otherwise) const {
  const auto *found = attribute(name);
  return found ? found->s() : otherwise;
}
std::optional<Ints> Node::intsAttr(StringRef name) const {
  const auto *found = attribute(name);
  if (!found) return std::nullopt;
  return Ints(found->ints().begin(), found->ints().end());
}
std::vector<double> Node::realsAttr(StringRef name) const {
  const auto *found = attribute(name);
  if (!found) return {};
  return {found->floats().begin(), found->floats().end()};
}
std::vector<std::string> Node::stringsAttr(StringRef name) const {
  const auto *found = attribute(name);
  if (!found) return {};
  return {found->strings().begin(), found->strings().end()};
}
ElementsAttr Node::tensorAttr(StringRef name) const {
  const auto *found = attribute(name);
  if (!found) return {};
  return importer.readTensorOf(*this, found->t(), "attribute '" + name.str() + "'");
}
const onnx::GraphProto &Node::graphAttr(StringRef name) const {
  const auto *found = attribute(name);
  if (!found) bad("needs attribute '" + name.str() + "'");
  return found->g();
}
Type Node::typeOf(int64_t dataType, const std::string &what) const {
  if (dataType <= 0 || dataType > std::numeric_limits<int>::max() ||
      !onnx::TensorProto::DataType_IsValid(int(dataType)))
    bad(what + " is " + std::to_string(dataType) + ", which is no element type");
  Type element = elementType(context(), int(dataType));
  if (!element) unsupported(what + " is " + dataTypeName(int(dataType)) + ", which Sprig does not have");
  return element;
}
Type Node::typeAttr(StringRef name, Type otherwise) const {
  return attribute(name) ? typeOf(intAttr(name, 0), "attribute '" + name.str() + "'") : otherwise;
}

void Node::outList(Items list, unsigned i) {
  Item item;
  item.list = std::make_shared<Items>(std::move(list));
  outItem(std::move(item), i);
}

} // namespace sprig::onnximport
