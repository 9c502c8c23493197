#include "dialects/NN/PortNames.h"
#include "dialects/NN/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace sprig::ir;

static std::vector<std::string> namesOf(unsigned count, const std::string &what,
                                        llvm::function_ref<Attribute(unsigned, StringRef)> attribute) {
  std::vector<std::string> names;
  unsigned number = 0;
  for (unsigned i = 0; i < count; ++i) {
    auto name = dyn_cast_if_present<StringAttr>(attribute(i, kNameAttr));
    auto state = dyn_cast_if_present<FlatSymbolRefAttr>(attribute(i, kStateAttr));
    if (name)
      names.push_back(name.getValue().str());
    else
      names.push_back(state ? state.getValue().str() : what + std::to_string(number));
    if (!state) ++number;
  }
  return names;
}

std::vector<std::string> sprig::ir::argumentNames(Operation *op) {
  auto function = cast<FunctionOpInterface>(op);
  return namesOf(function.getNumArguments(), "input",
                 [&](unsigned i, StringRef attribute) { return function.getArgAttr(i, attribute); });
}

std::vector<std::string> sprig::ir::resultNames(Operation *op) {
  auto function = cast<FunctionOpInterface>(op);
  return namesOf(function.getNumResults(), "output",
                 [&](unsigned i, StringRef attribute) { return function.getResultAttr(i, attribute); });
}

void sprig::ir::keepPortNames(Operation *op) {
  auto function = cast<FunctionOpInterface>(op);
  std::vector<std::string> arguments = argumentNames(op), results = resultNames(op);
  Builder b(op->getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.setArgAttr(i, kNameAttr, b.getStringAttr(arguments[i]));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.setResultAttr(i, kNameAttr, b.getStringAttr(results[i]));
}
