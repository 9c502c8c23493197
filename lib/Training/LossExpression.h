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

/// Of a part of a batch: what the means of the whole are there.
struct LossShare {
  double weight = 1; ///< part of the samples
  /// Of each loss that is a mean over what counts, how much counts in the whole batch: a scalar of the losses' type.
  /// Null for others.
  llvm::SmallVector<mlir::Value> counts;
};

/// The element type that losses of outputs of these types are added up in: f64 where one of them is, else f32.
mlir::Type lossElement(mlir::TypeRange outputs);
/// The sum of the losses of all outputs, a scalar of that type: of a part of a batch its part of the sum.
mlir::Value totalLoss(ir::Expression &e, mlir::ValueRange outputs, mlir::ValueRange targets, const TrainConfig &config,
                      const LossShare &share = {});
/// What the losses of some samples are made of, scalars of the losses' type, so that they add up over batches and
/// ranks.
struct LossSums {
  mlir::Value added;                            ///< losses that are sums; null where there is none
  llvm::SmallVector<mlir::Value> sums, weights; ///< of each mean: what it is of, and what it is divided by
};
LossSums lossSums(ir::Expression &e, mlir::ValueRange outputs, mlir::ValueRange targets, const TrainConfig &config,
                  llvm::ArrayRef<int64_t> classes);
/// How much of the targets counts in the mean of a loss of so many classes: the weights of the targets' classes,
/// without what is ignored; a scalar of this element type.
mlir::Value countedWeight(ir::Expression &e, const LossConfig &loss, mlir::Value targets, int64_t classes,
                          mlir::Type element);
/// Whether a loss is a mean over samples alone or a sum, so that it adds up over parts of a batch.
bool addsUp(const LossConfig &loss);

struct Accuracy {
  mlir::Value correct, count; ///< tensor<i64>
};
/// Of classes: the largest logit is the target's. Of binary losses: on the right side of one half.
Accuracy accuracy(ir::Expression &e, mlir::ValueRange outputs, mlir::ValueRange targets, const TrainConfig &config);

} // namespace sprig::training
