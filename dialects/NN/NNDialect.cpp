// The dialect: registration, constants, generated code.
#include "dialects/NN/NNDialect.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/ExternalModels.h"
#include "dialects/NN/DimensionRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sprig::ir;

#include "dialects/NN/NNDialect.cpp.inc"
#include "dialects/NN/NNEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/NN/NNAttributes.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/NN/NNAttributes.cpp.inc"
      >();
  registerUnaryOperations(*this);
  registerElementwiseOperations(*this);
  registerContractionOperations(*this);
  registerReductionOperations(*this);
  registerShapeOpsOperations(*this);
  registerCompositeOperations(*this);
  registerStateOperations(*this);
  registerRecurrentOperations(*this);
  registerControlOperations(*this);
  registerGradientOperations(*this);
  registerLossOperations(*this);
  registerRandomOperations(*this);
  registerQuantizedOperations(*this);
  registerYieldOperations(*this);
  attachElementwiseDimensionRules(getContext());
  attachContractionDimensionRules(getContext());
  attachReductionDimensionRules(getContext());
  attachShapeDimensionRules(getContext());
  attachGatherDimensionRules(getContext());
  attachControlDimensionRules(getContext());
  attachLossDimensionRules(getContext());
  attachNormDimensionRules(getContext());
  attachIndexRanges(getContext());
  attachTouch(getContext());
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type) return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}
