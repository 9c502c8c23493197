// Which attributes nn hangs on operations, where they stand and of what type they are; anything else in its name is
// somebody's mistake.
#include "dialects/NN/Attributes.h"
#include "dialects/Interfaces/AttributeRow.h"
#include "dialects/Interfaces/IndexRanges.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNRandom.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace sprig::ir;

namespace {
bool isAnywhere(Operation *) { return true; }
// Whoever reads a name up to its end would take it for another.
bool isName(Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  return name && !name.getValue().contains('\0');
}
} // namespace

/// An axis, from where to where it goes, and either which function of a group it is or, for each port, dimensions that
/// grow: dimension, multiple, add, divisor.
static bool isLengths(Attribute value) {
  auto stated = dyn_cast<DictionaryAttr>(value);
  auto isInteger = [&](StringRef name) { return bool(stated.getAs<IntegerAttr>(name)); };
  if (!stated || !stated.getAs<StringAttr>("axis") || !isInteger("first") || !isInteger("last")) return false;
  auto isGrowing = [](Attribute port) {
    auto dims = dyn_cast<DenseI64ArrayAttr>(port);
    if (!dims || dims.size() % 4) return false;
    for (int64_t i = 0; i < dims.size(); i += 4)
      if (dims[i] < 0 || dims[i + 1] < 1 || dims[i + 3] < 1) return false;
    return true;
  };
  auto arePorts = [&](StringRef side) {
    auto ports = stated.getAs<ArrayAttr>(side);
    return ports && llvm::all_of(ports, isGrowing);
  };
  bool isOfGroup = isInteger("length") && isInteger("group");
  return stated.size() == 5 && (isOfGroup || (arePorts("inputs") && arePorts("outputs")));
}

static bool areIndexRanges(Attribute value) {
  auto inputs = dyn_cast<ArrayAttr>(value);
  return inputs && llvm::all_of(inputs, [](Attribute input) { return isa<DenseI64ArrayAttr>(input); });
}

static constexpr StringRef kPorts = "an argument or a result of a function";

static ArrayRef<AttributeRow> rows() {
  static const AttributeRow table[] = {
      {kEntryAttr, "a function", isOn<FunctionOpInterface>, "a string without a NUL", isName},
      {kNameAttr, kPorts, nullptr, "a string without a NUL", isName},
      {kStateAttr, kPorts, nullptr, "a symbol", isOf<FlatSymbolRefAttr>},
      {kIndependentSamplesAttr, "a function", isOn<FunctionOpInterface>, "no value", isOf<UnitAttr>},
      {kLengthsAttr, "a function or a program", isOn<SymbolOpInterface>, "an axis, and how dimensions follow it",
       isLengths},
      {kRepeatAttr, "a function or a program", isOn<SymbolOpInterface>, "an integer", isOf<IntegerAttr>},
      {kRepeatEntryAttr, "a function or a program", isOn<SymbolOpInterface>, "a string", isOf<StringAttr>},
      {kRepeatTurnAttr, "a function or a program", isOn<SymbolOpInterface>, "an integer", isOf<IntegerAttr>},
      {sprig::kIndexRangesAttr, "a program", isOn<SymbolOpInterface>, "ranges for each input", areIndexRanges},
      {kTrainingAttr, "a module", isOn<ModuleOp>, "a string", isOf<StringAttr>},
      {kPassesAttr, "a function", isOn<FunctionOpInterface>, "samples of each pass", isOf<DenseI64ArrayAttr>},
      {kGradientsAttr, "an operation", isAnywhere, "names of parameters", isOf<ArrayAttr>},
      {kTotalAttr, "an operation", isAnywhere, "a string", isOf<StringAttr>},
      {kOptimizerStateAttr, "nn.param", isOn<ParamOp>, "no value", isOf<UnitAttr>},
      {kMomentumAttr, "nn.batch_norm", isOn<BatchNormOp>, "a float", isOf<FloatAttr>},
      {kDrawAttr, "nn.philox", isOn<PhiloxOp>, "an integer", isOf<IntegerAttr>},
      {kDifferentiatedAttr, "an operation", isAnywhere, "no value", isOf<UnitAttr>},
      {kPartialsAttr, "nn.reduce", isOn<ReduceOp>, "no value", isOf<UnitAttr>},
      {kSumAttr, "nn.reduce", isOn<ReduceOp>, "a string", isOf<StringAttr>},
      {kPlaceAttr, "an operation", isAnywhere, "a string", isOf<StringAttr>},
  };
  return table;
}

/// `port` says which argument or result; empty for the operation itself.
static LogicalResult verifyAttribute(Operation *op, const Twine &port, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  const AttributeRow *row = llvm::find_if(rows(), [&](const AttributeRow &row) { return row.name == name; });
  if (row == rows().end())
    return op->emitOpError("has '") << name << "'" << port << ", which nn does not know; its attributes are "
                                    << llvm::interleaved(
                                           llvm::map_range(rows(), [](const AttributeRow &row) { return row.name; }));
  return verifyByRow(*row, op, port, attribute.getValue());
}

// Samples lie along the first axis of everything that goes in and out.
static LogicalResult verifySamples(FunctionOpInterface function) {
  std::optional<int64_t> samples;
  auto verify = [&](ArrayRef<Type> types, StringRef what) -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      auto error = [&] {
        return function.emitOpError("has '") << kIndependentSamplesAttr << "', and " << what << " " << i;
      };
      if (!tensor || tensor.getRank() == 0) return error() << " of type " << type << " has no first axis";
      if (samples.value_or(tensor.getDimSize(0)) != tensor.getDimSize(0))
        return error() << " has " << tensor.getDimSize(0) << " samples, where those before have " << *samples;
      samples = tensor.getDimSize(0);
    }
    return success();
  };
  if (failed(verify(function.getArgumentTypes(), "argument")) || failed(verify(function.getResultTypes(), "result")))
    return failure();
  if (function.getNumArguments()) return success();
  return function.emitOpError("has '") << kIndependentSamplesAttr << "' and no argument that samples could come in by";
}

LogicalResult NNDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (failed(verifyAttribute(op, "", attribute))) return failure();
  return attribute.getName() == kIndependentSamplesAttr ? verifySamples(cast<FunctionOpInterface>(op)) : success();
}

LogicalResult NNDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return verifyAttribute(op, " on argument " + Twine(index), attribute);
}

LogicalResult NNDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                     NamedAttribute attribute) {
  return verifyAttribute(op, " on result " + Twine(index), attribute);
}
