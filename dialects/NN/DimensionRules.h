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

/// Operands and a result of one rank, which share the dimensions that pass, and have each of the others whole.
inline DimensionRule dimByDimRule(mlir::Operation *op, llvm::function_ref<bool(int64_t)> passes) {
  DimensionRule rule(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getOperand(0)))) {
    std::optional<unsigned> shared;
    if (passes(int64_t(dim))) shared = rule.addFactor(size);
    auto own = [&, dim = dim](mlir::Value value) {
      return shared ? *shared : rule.addFactor(shapeOf(value)[dim], FactorKind::whole);
    };
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) rule.operand(unsigned(i), int64_t(dim), own(operand));
    rule.result(0, int64_t(dim), own(op->getResult(0)));
  }
  return rule;
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
