// How files of dimension rules attach them: a function `ruleOf(OpT)` in namespace sprig::ir, and where attributes count
// positions `fitParts(OpT part, sizes)`. For dialects/NN/Dimension*.cpp; NNDialect.cpp calls the functions at the end.
#pragma once
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/Interfaces/DimensionRule.h"
#include "dialects/NN/NNDialect.h"

namespace sprig::ir {

/// Corrects the attributes of an operation on parts, whose types are right; the rule is that of the whole operation.
template <typename OpT> void fitParts(OpT part, const DimensionRule &rule, llvm::ArrayRef<int64_t> sizes) {}

template <typename OpT> struct DimensionModel : DimensionRuleOpInterface::ExternalModel<DimensionModel<OpT>, OpT> {
  DimensionRule getDimensionRule(mlir::Operation *op) const { return ruleOf(llvm::cast<OpT>(op)); }
  mlir::Operation *buildOnParts(mlir::Operation *op, mlir::OpBuilder &builder, mlir::ValueRange operands,
                                llvm::ArrayRef<int64_t> sizes) const {
    DimensionRule rule = ruleOf(llvm::cast<OpT>(op));
    mlir::Operation *part = sprig::detail::cloneLocal(op, rule, builder, operands, sizes);
    fitParts(llvm::cast<OpT>(part), rule, sizes);
    return part;
  }
};
template <typename... OpTs> void attachDimensionRules(mlir::MLIRContext *context) {
  (OpTs::template attachInterface<DimensionModel<OpTs>>(*context), ...);
}

/// A dimension that an operand and a result share, and along which `kind` is done where the result has none.
inline void passDim(DimensionRule &rule, mlir::Operation *op, unsigned operand, int64_t dim, int64_t resultDim) {
  unsigned factor = rule.addFactor(tensorOf(op->getOperand(operand)).getDimSize(dim));
  rule.operand(operand, dim, factor);
  for (unsigned i = 0; i < op->getNumResults(); ++i) rule.result(i, resultDim, factor);
}

void attachElementwiseDimensionRules(mlir::MLIRContext *context);
void attachContractionDimensionRules(mlir::MLIRContext *context);
void attachReductionDimensionRules(mlir::MLIRContext *context);
void attachShapeDimensionRules(mlir::MLIRContext *context);
void attachGatherDimensionRules(mlir::MLIRContext *context);
void attachControlDimensionRules(mlir::MLIRContext *context);
void attachLossDimensionRules(mlir::MLIRContext *context);
void attachNormDimensionRules(mlir::MLIRContext *context);

} // namespace sprig::ir
