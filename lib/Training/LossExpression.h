// Losses of a network's outputs against the targets of a data set, and how many predictions are right.
// For the step builder.
#pragma once
#include "dialects/NN/ExpressionBuilder.h"
#include "lib/Training/TrainConfig.h"

namespace sprig::training {

/// Whether the loss compares with the index of a class (in the last axis of the output).
bool isOfClasses(const LossConfig &loss);

/// The targets of outputs of these types: those of one output as they are; of several, cut from the last axis.
llvm::SmallVector<mlir::Value> splitTargets(ir::Expression &e, mlir::TypeRange outputs, const TrainConfig &config,
                                            mlir::Value targets);

/// The sum of the losses of all outputs, a scalar: f64 where an output is, else f32.
mlir::Value totalLoss(ir::Expression &e, mlir::ValueRange outputs, mlir::ValueRange targets, const TrainConfig &config);
/// What the losses of some samples are made of, scalars of the losses' type, so that they add up over batches and
/// ranks.
struct LossSums {
  mlir::Value added;                            ///< losses that are sums; null where there is none
  llvm::SmallVector<mlir::Value> sums, weights; ///< of each mean: what it is of, and what it is divided by
};
LossSums lossSums(ir::Expression &e, mlir::ValueRange outputs, mlir::ValueRange targets, const TrainConfig &config,
                  llvm::ArrayRef<int64_t> classes);
struct Accuracy {
  mlir::Value correct, count; ///< tensor<i64>
};
/// Of classes: the largest logit is the target's. Of binary losses: on the right side of one half.
Accuracy accuracy(ir::Expression &e, mlir::ValueRange outputs, mlir::ValueRange targets, const TrainConfig &config);

} // namespace sprig::training
