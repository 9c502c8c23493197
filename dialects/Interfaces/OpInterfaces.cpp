#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Interfaces/Touch.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

int64_t sprig::storageBytes(Type elementType) { return (elementType.getIntOrFloatBitWidth() + 7) / 8; }

sprig::FusionKind sprig::fusionKind(Operation *op) {
  if (op->hasTrait<FusesAs<FusionKind::view>::Impl>()) return FusionKind::view;
  if (op->hasTrait<FusesAs<FusionKind::reduction>::Impl>()) return FusionKind::reduction;
  if (op->hasTrait<FusesAs<FusionKind::contraction>::Impl>()) return FusionKind::contraction;
  if (op->hasTrait<FusesAs<FusionKind::generator>::Impl>()) return FusionKind::generator;
  return FusionKind::none;
}

bool sprig::sharesStorage(Operation *op) { return op && op->hasTrait<SharesStorage>(); }

Value sprig::storageOf(Value value) {
  while (sharesStorage(value.getDefiningOp())) value = value.getDefiningOp()->getOperand(0);
  return value;
}

Value sprig::sharedBy(OpOperand &use) {
  bool isShared = use.getOperandNumber() == 0 && sharesStorage(use.getOwner());
  return isShared ? use.getOwner()->getResult(0) : Value();
}

int64_t sprig::detail::countResultElements(Operation *op) {
  int64_t count = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type)) count += tensor.getNumElements();
  return count;
}

int64_t sprig::detail::countOperandAndResultBytes(Operation *op) { return touchedAt(op).total(); }

#include "dialects/Interfaces/OpInterfaces.cpp.inc"
