// Verifiers of operations whose result types are given, and of symbols.
#include "dialects/NN/Constants.h"
#include "dialects/NN/Infer.h"

using namespace mlir;

namespace sprig::nn {

LogicalResult ConstantOp::verify() {
  std::string reason;
  if (!isReadableConstant(getValue(), reason)) return emitOpError("has a value that ") << reason;
  return success();
}

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!isCountable(type.getShape())) return emitOpError("has a result of uncountable shape ") << describe(type);
  if (getAxis() < 0 || getAxis() >= type.getRank())
    return emitOpError("has axis ") << getAxis() << " on " << describe(type) << " of rank " << type.getRank();
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto from = getOperand().getType(), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError("changes the element type from ") << from.getElementType() << " to " << to.getElementType();
  if (from.getNumElements() != to.getNumElements())
    return emitOpError("reshapes ") << from.getNumElements() << " elements of " << describe(from) << " to "
                                    << to.getNumElements() << " of " << describe(to);
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto from = getOperand().getType(), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError("changes the element type from ") << from.getElementType() << " to " << to.getElementType();
  auto shape = broadcastShapes(from.getShape(), to.getShape());
  if (failed(shape) || ArrayRef<int64_t>(*shape) != to.getShape())
    return emitOpError("does not broadcast ") << describe(from) << " to " << describe(to);
  if (!isCountable(to.getShape())) return emitOpError("has a result of uncountable shape ") << describe(to);
  return success();
}

LogicalResult CastOp::verify() {
  if (getOperand().getType().getShape() != getType().getShape())
    return emitOpError("changes the shape of ")
           << describe(getOperand().getType()) << " to that of " << describe(getType());
  return success();
}

LogicalResult BitcastOp::verify() {
  auto from = getOperand().getType(), to = getType();
  if (from.getShape() != to.getShape())
    return emitOpError("changes the shape of ") << describe(from) << " to that of " << describe(to);
  if (from.getElementTypeBitWidth() != to.getElementTypeBitWidth())
    return emitOpError("reads ") << from.getElementTypeBitWidth() << " bits of " << from.getElementType() << " as "
                                 << to.getElementTypeBitWidth() << " bits of " << to.getElementType();
  return success();
}

LogicalResult ParamOp::verify() {
  std::string reason;
  if (!isReadableConstant(getValue(), reason)) return emitOpError("has a value that ") << reason;
  return success();
}

LogicalResult GetParamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getParamAttr());
  if (!symbol) return emitOpError("reads parameter '") << getParam() << "', which is not declared";
  auto param = dyn_cast<ParamOp>(symbol);
  if (!param) {
    auto diagnostic = emitOpError("reads '") << getParam() << "', which is no nn.param";
    diagnostic.attachNote(symbol->getLoc()) << "declared here";
    return diagnostic;
  }
  if (param.getTensorType() == getType()) return success();
  auto diagnostic = emitOpError("reads ") << describe(getType()) << " from parameter '" << getParam() << "' of type "
                                          << describe(param.getTensorType());
  diagnostic.attachNote(param.getLoc()) << "declared here";
  return diagnostic;
}

} // namespace sprig::nn
