#include "lib/Target/OperationNames.h"
#include "dialects/Kernel/OperationNumbers.h"
#include "dialects/Kernel/KernelDispatch.h"

using namespace mlir;
using namespace sprig;

// What the front-end says for errors, else the model's name.
static std::string nameInErrors(Operation &op, Location place) {
  if (StringRef text = exec::descriptionOf(place); !text.empty()) return text.str();
  StringRef name = exec::nameOf(place);
  return name.empty() ? op.getName().getStringRef().str() : name.str();
}

static SmallVector<std::string> opNames(exec::KernelOp kernel, ArrayAttr places) {
  SmallVector<std::string> names;
  for (auto dispatch : kernel.getBody().getOps<kernel::DispatchOp>()) {
    SmallVector<Operation *> ops = kernel::operationsOf(dispatch);
    bool fits = places && places.size() == ops.size();
    for (auto [index, op] : llvm::enumerate(ops)) {
      auto own = fits ? dyn_cast<LocationAttr>(places[index]) : LocationAttr();
      names.push_back(nameInErrors(*op, own ? Location(own) : op->getLoc()));
    }
  }
  return names;
}

SmallVector<std::string> sprig::kernelOpNames(exec::KernelOp kernel) {
  if (!kernel.isComposite()) return opNames(kernel, {});
  SmallVector<std::string> names;
  SymbolTable symbols(kernel->getParentOfType<ModuleOp>());
  // Calls of one kernel have operations of their own.
  for (auto call : kernel.getBody().getOps<exec::CallOp>()) {
    auto use = dyn_cast<FusedLoc>(call.getLoc());
    auto places = use ? dyn_cast_if_present<ArrayAttr>(use.getMetadata()) : ArrayAttr();
    llvm::append_range(names, opNames(symbols.lookup<exec::KernelOp>(call.getKernel()), places));
  }
  return names;
}
