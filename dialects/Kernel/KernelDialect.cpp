#include "dialects/Kernel/Kernel.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::kernel;

#include "dialects/Kernel/KernelDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttributes.cpp.inc"

static constexpr llvm::StringLiteral kTile = "kernel.tile";

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Kernel/KernelAttributes.cpp.inc"
      >();
}

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kTile)
    return op->emitOpError("has '") << attribute.getName().getValue() << "'; the dialect has '" << kTile << "' alone";
  if (!isa<ir::DispatchOp>(op)) return op->emitOpError("has a tile, which only nn.dispatch may have");
  if (!isa<RegisterTileAttr, LoopTileAttr>(attribute.getValue()))
    return op->emitOpError("expected #kernel.register_tile or #kernel.loop_tile as tile, found ")
           << attribute.getValue();
  return success();
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

Attribute kernel::tileOf(ir::DispatchOp dispatch) { return dispatch->getDiscardableAttr(kTile); }

void kernel::setTile(ir::DispatchOp dispatch, Attribute tile) {
  if (tile)
    dispatch->setDiscardableAttr(kTile, tile);
  else
    dispatch->removeDiscardableAttr(StringAttr::get(dispatch.getContext(), kTile));
}
