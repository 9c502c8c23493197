// Verifiers of operations whose result types are given, and of symbols.
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/Infer.h"

using namespace mlir;

namespace sprig::ir {

LogicalResult ConstantOp::verify() {
  std::string reason;
  if (!isReadableConstant(getValue(), reason)) return emitOpError("has a value that ") << reason;
  return success();
}

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!isCountable(type.getShape())) return emitOpError("has a result of uncountable shape ") << describe(type);
  if (int64_t axis = getAxis(); axis < 0 || axis >= type.getRank())
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
  if (getSymName().contains('\0')) return emitOpError("has a name with a NUL: ") << getSymNameAttr();
  std::string reason;
  if (!isReadableConstant(getValue(), reason)) return emitOpError("has a value that ") << reason;
  return success();
}

/// Checks a use of a parameter by an operation that `does` something with a value of this type.
static LogicalResult verifyParamUse(Operation *op, FlatSymbolRefAttr name, Type type, StringRef does,
                                    SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(op, name);
  if (!symbol) return op->emitOpError(does) << " parameter '" << name.getValue() << "', which is not declared";
  auto param = dyn_cast<ParamOp>(symbol);
  if (!param)
    return (op->emitOpError(does) << " '" << name.getValue() << "', which is no nn.param").attachNote(symbol->getLoc())
           << "declared here";
  if (param.getTensorType() == type) return success();
  return (op->emitOpError(does) << " " << describe(type) << (does == "reads" ? " from" : " as") << " parameter '"
                                << name.getValue() << "' of type " << describe(param.getTensorType()))
             .attachNote(param.getLoc())
         << "declared here";
}

LogicalResult GetParamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyParamUse(*this, getParamAttr(), getType(), "reads", symbols);
}

LogicalResult SetParamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyParamUse(*this, getParamAttr(), getValue().getType(), "sets", symbols))) return failure();
  // The operations in front of this one were checked before it.
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode())
    if (auto other = dyn_cast<SetParamOp>(op); other && other.getParam() == getParam())
      return (emitOpError("sets parameter '") << getParam() << "' a second time").attachNote(other.getLoc())
             << "first set here";
  return success();
}

} // namespace sprig::ir
