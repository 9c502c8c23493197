// How files of sharding rules attach them: a function `ruleOf(OpT)` in namespace sprig::ir, and where attributes count
// positions `fitParts(OpT part, sizes)`. For dialects/NN/Sharding*.cpp; NNDialect.cpp calls the functions at the end.
#pragma once
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/Interfaces/ShardingRule.h"
#include "dialects/NN/NNDialect.h"

namespace sprig::ir {

/// Corrects the attributes of an operation on parts, whose types are right; the rule is that of the whole operation.
template <typename OpT> void fitParts(OpT part, const ShardingRule &rule, llvm::ArrayRef<int64_t> sizes) {}

template <typename OpT> struct ShardingModel : ShardingOpInterface::ExternalModel<ShardingModel<OpT>, OpT> {
  ShardingRule getShardingRule(mlir::Operation *op) const { return ruleOf(llvm::cast<OpT>(op)); }
  mlir::Operation *buildOnParts(mlir::Operation *op, mlir::OpBuilder &builder, mlir::ValueRange operands,
                                llvm::ArrayRef<int64_t> sizes) const {
    ShardingRule rule = ruleOf(llvm::cast<OpT>(op));
    mlir::Operation *part = sprig::detail::cloneLocal(op, rule, builder, operands, sizes);
    fitParts(llvm::cast<OpT>(part), rule, sizes);
    return part;
  }
};
template <typename... OpTs> void attachShardingRules(mlir::MLIRContext *context) {
  (OpTs::template attachInterface<ShardingModel<OpTs>>(*context), ...);
}

/// A dimension that an operand and a result share, and along which `kind` is done where the result has none.
inline void passDim(ShardingRule &rule, mlir::Operation *op, unsigned operand, int64_t dim, int64_t resultDim) {
  unsigned factor = rule.addFactor(tensorOf(op->getOperand(operand)).getDimSize(dim));
  rule.operand(operand, dim, factor);
  for (unsigned i = 0; i < op->getNumResults(); ++i) rule.result(i, resultDim, factor);
}

void attachElementwiseShardingRules(mlir::MLIRContext *context);
void attachContractionShardingRules(mlir::MLIRContext *context);
void attachReductionShardingRules(mlir::MLIRContext *context);
void attachShapeShardingRules(mlir::MLIRContext *context);
void attachGatherShardingRules(mlir::MLIRContext *context);
void attachControlShardingRules(mlir::MLIRContext *context);

} // namespace sprig::ir
