// Which attributes nn hangs on operations, where they stand and of what type they are; anything else in its name is
// somebody's mistake.
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNReduction.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace sprig::ir;

namespace {
struct Row {
  StringRef name, place;
  bool (*standsOn)(Operation *);
  StringRef type;
  bool (*hasType)(Attribute);
};

template <typename OpT> bool isOn(Operation *op) { return isa<OpT>(op); }
bool isAnywhere(Operation *) { return true; }
template <typename AttrT> bool is(Attribute value) { return isa<AttrT>(value); }
} // namespace

static constexpr StringRef kPorts = "an argument or a result of a function";

static ArrayRef<Row> rows() {
  static const Row table[] = {
      {kEntryAttr, "a function", isOn<FunctionOpInterface>, "a string", is<StringAttr>},
      {kNameAttr, kPorts, nullptr, "a string", is<StringAttr>},
      {kIndependentSamplesAttr, "a function", isOn<FunctionOpInterface>, "no value", is<UnitAttr>},
      {kRepeatAttr, "a function or a program", isOn<SymbolOpInterface>, "an integer", is<IntegerAttr>},
      {kRepeatEntryAttr, "a function or a program", isOn<SymbolOpInterface>, "a string", is<StringAttr>},
      {kRepeatTurnAttr, "a function or a program", isOn<SymbolOpInterface>, "an integer", is<IntegerAttr>},
      {kTrainingAttr, "a module", isOn<ModuleOp>, "a string", is<StringAttr>},
      {kMomentumAttr, "nn.batch_norm", isOn<BatchNormOp>, "a float", is<FloatAttr>},
      {kDifferentiatedAttr, "an operation", isAnywhere, "no value", is<UnitAttr>},
      {kPartialsAttr, "nn.reduce", isOn<ReduceOp>, "no value", is<UnitAttr>},
      {kPlaceAttr, "an operation", isAnywhere, "a string", is<StringAttr>},
  };
  return table;
}

/// `port` says which argument or result; empty for the operation itself.
static LogicalResult verifyAttribute(Operation *op, const Twine &port, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto error = [&] { return op->emitOpError("has '") << name << "'" << port; };
  const Row *row = llvm::find_if(rows(), [&](const Row &row) { return row.name == name; });
  if (row == rows().end())
    return error() << ", which nn does not know; its attributes are "
                   << llvm::interleaved(llvm::map_range(rows(), [](const Row &row) { return row.name; }));
  bool isPlace = port.isTriviallyEmpty() ? row->standsOn && row->standsOn(op) : !row->standsOn;
  if (!isPlace) return error() << ", which stands on " << row->place;
  if (!row->hasType(attribute.getValue()))
    return error() << " = " << attribute.getValue() << ", expected " << row->type;
  return success();
}

LogicalResult NNDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyAttribute(op, "", attribute);
}

LogicalResult NNDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return verifyAttribute(op, " on argument " + Twine(index), attribute);
}

LogicalResult NNDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                     NamedAttribute attribute) {
  return verifyAttribute(op, " on result " + Twine(index), attribute);
}
