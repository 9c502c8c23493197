// The dialect: registration, constants, generated code.
#include "dialects/NN/NN.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/WinogradOp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sprig::nn;

#include "dialects/NN/NNDialect.cpp.inc"
#include "dialects/NN/NNEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/NN/NNAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/NN/NNWinograd.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/NN/NNAttributes.cpp.inc"
      >();
  registerNNDialectOperations(this); // defined in shares: NNOpsShard.cpp.in
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/NNWinograd.cpp.inc"
      >();
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type) return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}
