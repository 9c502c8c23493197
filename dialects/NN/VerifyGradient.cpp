// Verifiers of the requests for gradients: types on both sides agree.
#include "dialects/NN/NNGradient.h"

using namespace mlir;

namespace sprig::ir {

/// Whether the types of two lists agree, one by one; `what` names the lists in a diagnostic.
static LogicalResult verifyTypes(Operation *op, TypeRange got, TypeRange wanted, StringRef gotName,
                                 StringRef wantedName) {
  if (got.size() != wanted.size())
    return op->emitOpError("has ") << got.size() << " " << gotName << " for " << wanted.size() << " " << wantedName;
  for (auto [i, types] : llvm::enumerate(llvm::zip_equal(got, wanted)))
    if (std::get<0>(types) != std::get<1>(types))
      return op->emitOpError("has ") << describe(std::get<0>(types)) << " as number " << i << " of its " << gotName
                                     << " where its " << wantedName << " have " << describe(std::get<1>(types));
  return success();
}

LogicalResult GradientOp::verify() {
  if (getCotangents().empty()) {
    if (getOutputs().size() != 1 || cast<RankedTensorType>(getOutputs()[0].getType()).getNumElements() != 1)
      return emitOpError("has no seed, so it takes one output of one element, got ")
             << getOutputs().size() << " outputs, the first " << describe(getOutputs()[0].getType());
  } else if (failed(verifyTypes(*this, getCotangents().getTypes(), getOutputs().getTypes(), "cotangents", "outputs"))) {
    return failure();
  }
  return verifyTypes(*this, getResultTypes(), getTargets().getTypes(), "results", "targets");
}

LogicalResult JvpOp::verify() {
  if (failed(verifyTypes(*this, getTangents().getTypes(), getTargets().getTypes(), "tangents", "targets")))
    return failure();
  return verifyTypes(*this, getResultTypes(), getOutputs().getTypes(), "results", "outputs");
}

/// A region that stands for a part of the function: its arguments and what it yields.
static LogicalResult verifyPart(Operation *op, Region &region, ArrayRef<Type> arguments, TypeRange yielded,
                                StringRef name) {
  Block &block = region.front();
  std::string argumentsName = ("arguments of " + name).str(), yieldName = ("values that " + name + " yields").str();
  if (failed(verifyTypes(op, block.getArgumentTypes(), arguments, argumentsName, "operands"))) return failure();
  return verifyTypes(op, block.getTerminator()->getOperandTypes(), yielded, yieldName,
                     name == "backward" ? "operands" : "results");
}

LogicalResult CheckpointOp::verify() {
  return verifyPart(*this, getBody(), llvm::to_vector(getOperandTypes()), getResultTypes(), "body");
}

LogicalResult CustomGradientOp::verify() {
  if (failed(verifyPart(*this, getForward(), llvm::to_vector(getOperandTypes()), getResultTypes(), "forward")))
    return failure();
  SmallVector<Type> arguments(getOperandTypes());
  llvm::append_range(arguments, getResultTypes());
  llvm::append_range(arguments, getResultTypes());
  return verifyPart(*this, getBackward(), arguments, getOperandTypes(), "backward");
}

} // namespace sprig::ir
