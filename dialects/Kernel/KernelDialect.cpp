#include "dialects/Kernel/KernelDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sprig::kernel;

#include "dialects/Kernel/KernelDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttributes.cpp.inc"

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Kernel/KernelAttributes.cpp.inc"
      >();
  registerDispatchOperations(*this);
  registerContractionOperations(*this);
}

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return op->emitOpError("has '") << attribute.getName().getValue()
                                  << "'; the kernel dialect hangs no attributes on operations";
}

LogicalResult RegisterTileAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t vectors) {
  if (rows < 1 || vectors < 1)
    return emitError() << "expected at least one row and one vector in a register tile, found " << rows << " and "
                       << vectors;
  return success();
}

LogicalResult LoopTileAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t elements) {
  if (elements < 1) return emitError() << "expected at least one element in a tile, found " << elements;
  return success();
}
