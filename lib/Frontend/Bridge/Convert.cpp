#include "lib/Frontend/Bridge/Convert.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/LocationMarks.h"
#include "lib/Pipeline/Diagnostics.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"
#include "sprig/error.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace sprig::frontend::bridge {

RankedTensorType toType(MLIRContext *context, const TensorType &type) {
  Builder b(context);
  auto element = [&]() -> Type {
    switch (type.dtype) {
    case DType::f64: return b.getF64Type();
    case DType::f32: return b.getF32Type();
    case DType::f16: return b.getF16Type();
    case DType::bf16: return b.getBF16Type();
    case DType::boolean: return b.getI1Type();
    default: {
      unsigned bits = unsigned(size(type.dtype)) * 8;
      return isUnsigned(type.dtype) ? b.getIntegerType(bits, /*isSigned=*/false) : b.getIntegerType(bits);
    }
    }
  };
  return RankedTensorType::get({type.shape.begin(), type.shape.end()}, element());
}

static DType elementFrom(Type type) {
  if (type.isF64()) return DType::f64;
  if (type.isF32()) return DType::f32;
  if (type.isF16()) return DType::f16;
  if (type.isBF16()) return DType::bf16;
  if (type.isInteger(1)) return DType::boolean;
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0) {
  case 64: return isUnsigned ? DType::u64 : DType::i64;
  case 32: return isUnsigned ? DType::u32 : DType::i32;
  case 16: return isUnsigned ? DType::u16 : DType::i16;
  case 8: return isUnsigned ? DType::u8 : DType::i8;
  }
  internalError("a pass of the compiler made an element type that no tensor has");
}

TensorType fromType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) internalError("a pass of the compiler made a value that is no tensor");
  return {elementFrom(tensor.getElementType()), Shape(tensor.getShape().data(), tensor.getShape().size())};
}

std::string describePlace(const Source &source, StringRef op, const std::string *layer) {
  (void)(op.consume_front("nn.") || op.consume_front("dist."));
  std::string text;
  if (source.line) text = llvm::sys::path::filename(source.file).str() + ":" + std::to_string(source.line) + ": ";
  text += op;
  return layer ? text + " (layer '" + *layer + "')" : text;
}

std::string withoutOpNames(const std::string &text) {
  StringRef rest = text;
  std::string result;
  while (!rest.empty()) {
    size_t at = std::min(rest.find(": 'nn."), rest.find(": 'dist."));
    size_t end = at == StringRef::npos ? at : rest.find("' op ", at);
    if (end == StringRef::npos) return result + rest.str();
    result += rest.take_front(at + 2);
    rest = rest.drop_front(end + 5);
  }
  return result;
}

Location locationOf(MLIRContext *context, const GraphNode &node) {
  Location place = UnknownLoc::get(context);
  if (node.source.line) place = FileLineColLoc::get(context, node.source.file, unsigned(node.source.line), 0);
  if (node.layer) place = NameLoc::get(StringAttr::get(context, *node.layer), place);
  std::string text = describePlace(node.source, node.gradientOf ? *node.gradientOf : node.op->text, node.layer);
  place = FusedLoc::get({place}, StringAttr::get(context, text), context);
  if (node.gradientOf) place = ir::withMark(place, ir::kGradientMark, StringAttr::get(context, *node.gradientOf));
  const Attr *device = find(node.attrs, ir::kPlaceAttr.data());
  if (!device) return place;
  return ir::withMark(place, ir::kPlaceAttr, StringAttr::get(context, StringRef(device->text).trim('"')));
}

StringAttr deviceIn(Location location) { return dyn_cast_if_present<StringAttr>(ir::markIn(location, ir::kPlaceAttr)); }

const std::string *forwardIn(Location location, const Place &place) {
  auto mark = dyn_cast_if_present<StringAttr>(ir::markIn(location, ir::kGradientMark));
  if (!mark) return nullptr;
  // Composites have been spelled out: the text has the name of what was recorded.
  std::string text = describeLocation(location), before = describePlace(place.source, "", nullptr),
              after = describePlace({}, "", place.layer);
  StringRef name = text;
  bool isRecorded = name.consume_front(before) && name.consume_back(after) && !name.empty();
  return &intern(isRecorded ? name : mark.getValue());
}

static bool fill(Location location, Place &place) {
  if (auto fused = dyn_cast<FusedLoc>(location))
    return llvm::any_of(fused.getLocations(), [&](Location part) { return fill(part, place); });
  if (auto name = dyn_cast<NameLoc>(location)) {
    place.layer = &intern(name.getName().getValue());
    fill(name.getChildLoc(), place);
    return true;
  }
  auto line = dyn_cast<FileLineColLoc>(location);
  if (line) place.source = {intern(line.getFilename().getValue()).c_str(), int(line.getLine())};
  return bool(line);
}

Place placeOf(Location location, const Place &otherwise) {
  Place place;
  return fill(location, place) ? place : otherwise;
}

//===- Attributes
//----------------------------------------------------------------------------------------------------===//

[[noreturn]] static void refuseAttribute(Operation *op, const Attr &attr, const std::string &why) {
  badUse(op->getName().getStringRef().str() + ": attribute '" + attr.name + "' " + why);
}

Attribute AttributeWriter::parse(Operation *op, const Attr &attr, const std::string &text) {
  Attribute &known = parsed[text];
  if (!known) {
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    known = parseAttribute(text, op->getContext());
  }
  if (!known) refuseAttribute(op, attr, "is '" + text + "', which is no attribute");
  return known;
}

void AttributeWriter::write(Operation *op, const Attr &attr) {
  Builder b(op->getContext());
  // What an attribute may be, as the operation declares it; the first that it takes.
  SmallVector<Attribute, 3> forms;
  switch (attr.kind) {
  case Attr::Kind::unit: forms = {b.getUnitAttr(), b.getBoolAttr(true)}; break;
  case Attr::Kind::boolean:
    forms.push_back(b.getBoolAttr(attr.integer != 0));
    if (attr.integer) forms.push_back(b.getUnitAttr());
    break;
  case Attr::Kind::integer: forms = {b.getI64IntegerAttr(attr.integer)}; break;
  case Attr::Kind::real: forms = {b.getF64FloatAttr(attr.real)}; break;
  case Attr::Kind::integers: {
    ArrayRef<int64_t> values(attr.integers.data(), attr.integers.size());
    forms = {b.getDenseI64ArrayAttr(values), b.getDenseI32ArrayAttr(llvm::to_vector_of<int32_t>(values)),
             b.getI64ArrayAttr(values)};
    break;
  }
  case Attr::Kind::word: forms = {parse(op, attr, "#nn<" + std::string(attr.text) + ">")}; break;
  case Attr::Kind::other: forms = {parse(op, attr, attr.text)}; break;
  }
  StringAttr name = b.getStringAttr(attr.name);
  namespace ir = sprig::ir;
  const StringRef ofAny[] = {ir::kPlaceAttr, ir::kGradientsAttr, ir::kTotalAttr, ir::kSumAttr};
  if (llvm::is_contained(ofAny, name.getValue())) return op->setAttr(name, forms[0]);
  if (!op->getPropertiesStorageSize()) refuseAttribute(op, attr, "is none of the operation's");
  for (Attribute form : forms) {
    op->setInherentAttr(name, form);
    auto kept = op->getInherentAttr(name);
    if (!kept) refuseAttribute(op, attr, "is none of the operation's");
    if (*kept == form) return;
  }
  bool isAbsentUnit = attr.kind == Attr::Kind::boolean && !attr.integer;
  if (!isAbsentUnit) refuseAttribute(op, attr, "is of a kind that the operation does not take");
}

/// The text of an attribute that Attr has no number for.
static Attr textOf(const char *name, Attribute value) {
  std::string text;
  llvm::raw_string_ostream out(text);
  value.print(out);
  StringRef word = text;
  if (word.consume_front("#nn<") && word.consume_back(">")) return Attr::word(name, intern(word).c_str());
  return Attr::other(name, intern(text).c_str());
}

static Attr toAttr(const char *name, Attribute value) {
  if (isa<UnitAttr>(value)) return Attr::unit(name);
  if (auto boolean = dyn_cast<BoolAttr>(value)) return Attr::of(name, boolean.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(value); integer && integer.getType().isInteger(64))
    return Attr::of(name, int64_t(integer.getInt()));
  if (auto real = dyn_cast<FloatAttr>(value); real && real.getType().isF64())
    return Attr::of(name, real.getValueAsDouble());
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value); list && list.size() <= Shape::kMaxRank)
    return Attr::of(name, Shape(list.asArrayRef().data(), size_t(list.size())));
  if (auto list = dyn_cast<DenseI32ArrayAttr>(value); list && list.size() <= Shape::kMaxRank) {
    auto values = llvm::to_vector_of<int64_t>(list.asArrayRef());
    return Attr::of(name, Shape(values.data(), values.size()));
  }
  return textOf(name, value);
}

AttrList attributesOf(Operation *op) {
  AttrList attrs;
  NamedAttrList inherent;
  op->getName().populateInherentAttrs(op, inherent);
  for (NamedAttribute attr : inherent)
    if (attr.getValue()) attrs.push_back(toAttr(intern(attr.getName().getValue()).c_str(), attr.getValue()));
  if (auto sum = op->getAttrOfType<StringAttr>(sprig::ir::kSumAttr))
    attrs.push_back(toAttr(sprig::ir::kSumAttr.data(), sum));
  return attrs;
}

} // namespace sprig::frontend::bridge
