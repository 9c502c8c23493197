// The inputs of an entry as arguments of its function: sizes of their dimensions, which are declared, named or given.
#include "lib/Data/Listed.h"
#include "lib/Import/ONNX/Importer.h"
#include "lib/Import/ONNX/Narrow.h"
#include "lib/Import/ONNX/SeedName.h"
#include "lib/Import/ONNX/Tensor.h"
#include "lib/Lengths/Sums.h"
#include "runtime/base/Decimal.h"
#include <cmath>
#include <set>

using namespace mlir;

namespace sprig::onnximport {

std::string dimensionName(const onnx::ValueInfoProto &input, int i) {
  const auto &dim = input.type().tensor_type().shape().dim(i);
  if (dim.has_dim_value() && dim.dim_value() >= 0) return "";
  // Exporters write "?" for each dimension that they know nothing of.
  if (!dim.dim_param().empty() && dim.dim_param() != "?") return dim.dim_param();
  return input.name() + "." + std::to_string(i);
}

void Importer::bindGiven(IntsRef shape, const onnx::ValueInfoProto &input, std::map<std::string, int64_t> &dims) {
  const auto &tensorType = input.type().tensor_type();
  std::string what = "input '" + input.name() + "'";
  for (int64_t size : shape)
    if (size < 0) badUse(what + " is given a dimension of size " + std::to_string(size));
  if (!tensorType.has_shape()) return;
  if (tensorType.shape().dim_size() != int(shape.size()))
    badUse(what + " has rank " + std::to_string(tensorType.shape().dim_size()) + ", but is given shape " +
           shapeText(shape));
  for (int i = 0; i < int(shape.size()); ++i) {
    std::string symbol = dimensionName(input, i);
    if (int64_t declared = tensorType.shape().dim(i).dim_value(); symbol.empty() && declared != shape[i])
      badUse(what + " has size " + std::to_string(declared) + " in dimension " + std::to_string(i) +
             ", but is given shape " + shapeText(shape));
    if (symbol.empty()) continue;
    auto [known, isNew] = dims.emplace(symbol, shape[i]);
    if (!isNew && known->second != shape[i])
      badUse("dimension '" + symbol + "' is " + std::to_string(known->second) + " and also " +
             std::to_string(shape[i]) + " (of " + what + ")");
  }
}

// A row of values says how long the only dimension is that has no size.
void Importer::bindFixed(const onnx::ValueInfoProto &input, size_t count, std::map<std::string, int64_t> &dims) {
  const auto &tensorType = input.type().tensor_type();
  if (tensorType.has_shape() && tensorType.shape().dim_size() == 1)
    if (std::string symbol = dimensionName(input, 0); !symbol.empty()) dims.emplace(symbol, int64_t(count));
}

Value Importer::fixedInput(Emit &emit, const std::string &name, RankedTensorType type,
                           const std::vector<double> &values) {
  auto fail = [&](const std::string &what) {
    badUse(model.file + ": input '" + name + "' is a " + ir::describe(type) + " and is given " + what);
  };
  if (type.getNumElements() != int64_t(values.size())) fail(std::to_string(values.size()) + " values");
  if (auto integer = dyn_cast<IntegerType>(type.getElementType())) {
    bool isUnsigned = integer.isUnsigned() || integer.getWidth() == 1;
    double end = std::ldexp(1.0, int(integer.getWidth()) - (isUnsigned ? 0 : 1)), begin = isUnsigned ? 0 : -end;
    for (double value : values)
      if (!(value >= begin && value < end && value == std::trunc(value))) fail("the value " + decimal::shortest(value));
  }
  return emit.constant(type.getShape(), type.getElementType(), values);
}

Ints Importer::declaredShape(const onnx::ValueInfoProto &input, const std::map<std::string, int64_t> &dims) {
  const onnx::TensorShapeProto &declared = input.type().tensor_type().shape();
  Ints shape;
  for (int i = 0; i < declared.dim_size(); ++i) {
    std::string symbol = dimensionName(input, i);
    shape.push_back(symbol.empty() ? declared.dim(i).dim_value() : dims.at(symbol));
    if (shape.back() < 0) badUse("dimension '" + symbol + "' is given the size " + std::to_string(shape.back()));
  }
  return shape;
}

// Those that are sums of what is bound: as the entry says, or by their own name (`past_sequence_length + 1`).
void Importer::bindSums(const ImportEntry &given, llvm::ArrayRef<const onnx::ValueInfoProto *> inputs,
                        std::map<std::string, int64_t> &dims) {
  auto bind = [&](const std::string &symbol, const std::string &sum, int64_t size) {
    if (auto [at, isNew] = dims.emplace(symbol, size); !isNew && at->second != size)
      badUse("dimension '" + symbol + "' is " + sum + ", which makes " + std::to_string(size) +
             ", and is given the size " + std::to_string(at->second));
  };
  for (const auto &[symbol, sum] : given.sums) {
    std::optional<int64_t> size = sizeOfSum(sum, dims);
    if (!size)
      badUse("dimension '" + symbol + "' is given as " + sum +
             ", expected a sum of numbers and of dimensions that have a size");
    bind(symbol, sum, *size);
  }
  for (const auto *input : inputs)
    for (int i = 0; i < input->type().tensor_type().shape().dim_size(); ++i) {
      std::string symbol = dimensionName(*input, i);
      if (std::optional<int64_t> size = sizeOfSum(symbol, dims)) bind(symbol, "a sum by its name", *size);
    }
}

// A name that is not quite right would else be taken for one.
void Importer::requireNamed(const ImportEntry &given, llvm::ArrayRef<const onnx::ValueInfoProto *> inputs,
                            const EntryHolders &holders) {
  std::set<std::string> listed;
  for (const auto *input : inputs)
    for (int i = 0; i < input->type().tensor_type().shape().dim_size(); ++i)
      if (std::string symbol = dimensionName(*input, i); !symbol.empty()) listed.insert(symbol);
  std::set<std::string> known = sizeNames(listed, given.sums);
  for (const auto &[name, size] : given.dims) {
    auto isCount = [&](const EntryHolders::One &holder) { return StringRef(name).starts_with(holder.name + "."); };
    if (known.count(name) || llvm::any_of(holders.all, isCount)) continue;
    std::vector<std::string> names(listed.begin(), listed.end());
    badUse(model.file + ": has no dimension '" + name + "' without a size" +
           (names.empty() ? "" : "; it has " + data::listed(names)));
  }
}

// All that are missing at once, with the flags that give them.
void Importer::requireSizes(const ImportEntry &given, llvm::ArrayRef<const onnx::ValueInfoProto *> inputs,
                            const std::map<std::string, int64_t> &dims) {
  std::vector<std::string> which, flags;
  std::set<std::string> seen;
  for (const auto *input : inputs) {
    if (given.shapes.count(input->name())) continue;
    if (!input->type().tensor_type().has_shape())
      badUse(model.file + ": input '" + input->name() + "' has no shape: give --shape " + input->name() + "=...");
    for (int i = 0; i < input->type().tensor_type().shape().dim_size(); ++i) {
      std::string symbol = dimensionName(*input, i);
      if (symbol.empty() || dims.count(symbol) || !seen.insert(symbol).second) continue;
      which.push_back("'" + symbol + "' of input '" + input->name() + "'");
      flags.push_back("--dim " + symbol + "=SIZE");
    }
  }
  bool areSeveral = which.size() > 1;
  if (!which.empty())
    badUse(model.file + ": dimension" + (areSeveral ? "s " : " ") + data::listed(which) +
           (areSeveral ? " have" : " has") + " no size: give " + data::listed(flags, 6, " "));
}

void Importer::bindInputs(const ImportEntry &given, Scope &scope) {
  Block &block = function.front();
  Emit emit(state, function.getLoc(), model.file);
  std::map<std::string, int64_t> dims = given.dims;
  EntryHolders holders;
  std::vector<const onnx::ValueInfoProto *> inputs = tensorInputs(given, scope, holders);
  requireNamed(given, inputs, holders);
  for (const auto *input : inputs) {
    std::string what = "input '" + input->name() + "'";
    if (input->type().value_case() == onnx::TypeProto::VALUE_NOT_SET)
      model.fail(ErrorKind::badInput, what + " has no type; expected a tensor's element type and shape");
    if (!input->type().has_tensor_type())
      model.fail(
          ErrorKind::unsupported,
          what + " holds no tensors (but maps, sequences of sequences or sparse tensors), which an entry cannot take");
    int dataType = input->type().tensor_type().elem_type();
    if (!storageType(builder.getContext(), dataType))
      model.fail(dataType == 0 ? ErrorKind::badInput : ErrorKind::unsupported,
                 what + " has element type " + dataTypeName(dataType) + ", which Sprig does not have");
    // Given shapes bind symbols for all inputs, wherever they stand.
    if (auto whole = given.shapes.find(input->name()); whole != given.shapes.end())
      bindGiven(whole->second, *input, dims);
  }
  for (auto &[name, values] : given.fixed) {
    auto found = llvm::find_if(inputs, [&](const auto *input) { return input->name() == name; });
    if (found == inputs.end() && name == kRandomSeed) {
      if (values.size() != 1)
        badUse(model.file + ": '" + name + "' is given " + std::to_string(values.size()) + " values; expected one");
      state.seed = values[0];
      continue;
    }
    if (found == inputs.end()) badUse(model.file + ": has no input '" + name + "' to give a value");
    bindFixed(**found, values.size(), dims);
  }
  bindSums(given, inputs, dims);
  requireSizes(given, inputs, dims);
  for (const auto *input : inputs) {
    int dataType = input->type().tensor_type().elem_type();
    Type element = storageType(builder.getContext(), dataType);
    const NarrowType *narrow = narrowType(dataType);
    if (bound.count(input->name())) {
      scope.items[input->name()] = Item(emit.constant(given.values.at(input->name())), narrow);
      continue;
    }
    auto whole = given.shapes.find(input->name());
    RankedTensorType type = emit.tensor(whole != given.shapes.end() ? Ints(whole->second.begin(), whole->second.end())
                                                                    : declaredShape(*input, dims),
                                        element);
    if (auto fixed = given.fixed.find(input->name()); fixed != given.fixed.end()) {
      scope.items[input->name()] = Item(fixedInput(emit, input->name(), type, fixed->second), narrow);
      continue;
    }
    const auto &tensorType = input->type().tensor_type();
    isOpen |= !tensorType.has_shape();
    for (int i = 0; i < tensorType.shape().dim_size(); ++i) isOpen |= !dimensionName(*input, i).empty();
    scope.items[input->name()] =
        Item(block.addArgument(type, NameLoc::get(builder.getStringAttr(input->name()))), narrow);
    argumentNames.push_back(input->name());
  }
  gatherHolders(holders, scope);
}

} // namespace sprig::onnximport
