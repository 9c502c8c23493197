// Losses of a network's outputs against the targets of a data set, and how many predictions are right.
// For the step builder.
#pragma once
#include "dialects/NN/ExpressionBuilder.h"
#include "lib/Training/TrainConfig.h"

namespace sprig::training {

/// Whether the loss compares with the index of a class (in the last axis of the output).
bool isOfClasses(const LossConfig &loss);

/// The targets of each output: those of one output as they are; of several, cut from the last axis.
llvm::SmallVector<mlir::Value> splitTargets(ir::Expression &e, mlir::ValueRange outputs, const TrainConfig &config,
                                            mlir::Value targets);

/// The sum of the losses of all outputs, a tensor<f32>. What is a mean over the samples is taken `weight` times: of a
/// part of them.
mlir::Value totalLoss(ir::Expression &e, mlir::ValueRange outputs, mlir::ValueRange targets, const TrainConfig &config,
                      double weight = 1);
/// Whether a loss is a mean over samples alone or a sum, so that it adds up over parts of a batch.
bool addsUp(const LossConfig &loss);

struct Accuracy {
  mlir::Value correct, count; ///< tensor<i64>
};
/// Of classes: the largest logit is the target's. Of binary losses: on the right side of one half.
Accuracy accuracy(ir::Expression &e, mlir::ValueRange outputs, mlir::ValueRange targets, const TrainConfig &config);

} // namespace sprig::training
