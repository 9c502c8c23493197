#include "dialects/Kernel/KernelDialect.h"
#include "dialects/Kernel/ExternalModels.h"
#include "dialects/Kernel/FilterOrigin.h"
#include "dialects/Kernel/InOrder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
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
  registerFilterOrigins(*this);
  attachDispatchModels(getContext());
}

static LogicalResult verifyDevices(Operation *op, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  if (!isa<ModuleOp>(op) || !list || list.size() < 2 ||
      !llvm::all_of(list, [](Attribute name) { return isa<StringAttr>(name); }))
    return op->emitOpError("has '") << kDevicesAttr << "' = " << value
                                    << ", expected names of several devices on a module";
  return success();
}

static LogicalResult verifyDevice(Operation *op, Attribute value) {
  auto module = op->getParentOfType<ModuleOp>();
  auto list = module ? module->getAttrOfType<ArrayAttr>(kDevicesAttr) : ArrayAttr();
  int64_t count = list ? int64_t(list.size()) : 1;
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number || !number.getType().isInteger(64) || number.getInt() < 0 || number.getInt() >= count)
    return op->emitOpError("has '") << kDeviceAttr << "' = " << value << ", expected an i64 below the module's "
                                    << count << (count == 1 ? " device" : " devices");
  return success();
}

static LogicalResult verifyPieces(Operation *op, Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  if (op->hasTrait<OpTrait::IsIsolatedFromAbove>() && !isa<ModuleOp>(op) && number && number.getType().isInteger(64) &&
      number.getInt() >= 2)
    return success();
  return op->emitOpError("has '") << kPiecesAttr << "' = " << value
                                  << ", expected an i64 of at least 2 on a function or a program";
}

static LogicalResult verifyInOrder(Operation *op, Attribute value) {
  if (op->hasTrait<OpTrait::IsIsolatedFromAbove>() && !isa<ModuleOp>(op) && isa<UnitAttr>(value)) return success();
  return op->emitOpError("has '") << kInOrderAttr << "' = " << value
                                  << ", expected a unit attribute on a function or a program";
}

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kDevicesAttr) return verifyDevices(op, attribute.getValue());
  if (name == kDeviceAttr) return verifyDevice(op, attribute.getValue());
  if (name == kPiecesAttr) return verifyPieces(op, attribute.getValue());
  if (name == kInOrderAttr) return verifyInOrder(op, attribute.getValue());
  return op->emitOpError("has '") << name << "', which kernel does not know; its attributes are " << kDevicesAttr
                                  << ", " << kDeviceAttr << ", " << kPiecesAttr << ", " << kInOrderAttr;
}

int64_t sprig::kernel::piecesOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(kPiecesAttr);
  return number ? number.getInt() : 1;
}

unsigned sprig::kernel::deviceOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(kDeviceAttr);
  return number ? unsigned(number.getInt()) : 0;
}

void sprig::kernel::setDevice(Operation *op, unsigned device) {
  if (device) op->setAttr(kDeviceAttr, Builder(op->getContext()).getI64IntegerAttr(device));
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
