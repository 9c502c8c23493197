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

LogicalResult sprig::decomposeInPlace(DecomposableOpInterface composite) {
  OpBuilder b(composite);
  FailureOr<SmallVector<Value>> values = composite.decompose(b);
  if (failed(values)) return composite.emitOpError("does not decompose");
  composite->replaceAllUsesWith(*values);
  composite->erase();
  return success();
}

int64_t sprig::flopsOf(Block &block) {
  int64_t flops = 0;
  for (Operation &op : block)
    if (auto cost = dyn_cast<CostOpInterface>(op))
      flops += cost.getFlops();
    else
      for (Region &region : op.getRegions()) flops += flopsOf(region.front());
  return flops;
}

#include "dialects/Interfaces/OpInterfaces.cpp.inc"
