#include "lib/Model/PortNames.h"
#include "dialects/NN/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sprig {

// The names in "nn.name" attributes, numbered after `what` where there is none.
static std::vector<std::string> namesOf(unsigned count, const std::string &what,
                                        llvm::function_ref<StringAttr(unsigned)> nameAt) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < count; ++i) {
    StringAttr name = nameAt(i);
    names.push_back(name ? name.getValue().str() : what + std::to_string(i));
  }
  return names;
}

std::vector<std::string> argumentNames(Operation *function) {
  auto func = cast<func::FuncOp>(function);
  return namesOf(func.getNumArguments(), "input",
                 [&](unsigned i) { return func.getArgAttrOfType<StringAttr>(i, ir::kNameAttr); });
}

std::vector<std::string> resultNames(Operation *function) {
  auto func = cast<func::FuncOp>(function);
  return namesOf(func.getNumResults(), "output",
                 [&](unsigned i) { return func.getResultAttrOfType<StringAttr>(i, ir::kNameAttr); });
}

} // namespace sprig
