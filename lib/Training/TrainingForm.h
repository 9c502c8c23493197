// A network's inference graph inside a step, in its training or its inference form.
// For the step builder. Training: batch norms use and update statistics, dropout drops, quantisers let
// gradients through. Inference: none of it.
#pragma once
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNState.h"
#include "lib/Training/RankShares.h"
#include "lib/Training/StateAccess.h"
#include "lib/Training/TrainConfig.h"

namespace sprig::training {

struct RandomState {
  mlir::Value key, counter; ///< tensor<i64>
};

/// A forward pass of a step: how many samples it has, of which a rank has its share.
struct ForwardPass {
  RankShares ranks;
  int64_t samples;
};

/// What a batch norm has found of one rank's samples: what running statistics are to move by is the mean over the
/// ranks, each by its share of the samples.
struct OwnStatistics {
  ir::BatchNormOp norm;
  mlir::Value mean, variance; ///< the variance is the unbiased one
  double weight;
};

/// Writes the body of `forward` at the insertion point, on the given inputs; returns what it gives. Parameters are read
/// through `state`, which takes the new running statistics. Batch norms have the statistics of all ranks' samples, or
/// where the configuration wants those of replicas put theirs into `own`. Dropouts drop what they drop where one rank
/// has all samples, and random words are other ones in each pass: `differs` becomes true where the form is one rank's
/// alone for that. Throws unsupported where it cannot be.
llvm::SmallVector<mlir::Value> writeTrainingForm(mlir::OpBuilder &b, mlir::func::FuncOp forward,
                                                 mlir::ValueRange inputs, StateAccess &state, const TrainConfig &config,
                                                 RandomState random, const ForwardPass &pass, bool &differs,
                                                 llvm::SmallVectorImpl<OwnStatistics> &own);
/// Moves running statistics by those of all ranks, so that they are the same on each.
void moveStatistics(mlir::OpBuilder &b, llvm::ArrayRef<OwnStatistics> own, StateAccess &state,
                    const TrainConfig &config, const RankShares &ranks);
/// Of the parameters in `averaged`, the moving average is read.
llvm::SmallVector<mlir::Value> writeInferenceForm(mlir::OpBuilder &b, mlir::func::FuncOp forward,
                                                  mlir::ValueRange inputs, StateAccess &state,
                                                  llvm::ArrayRef<std::string> averaged);

/// Marks the operations of these layers (names or globs of an operation's name, or of its beginning up to a slash) for
/// remat, which computes what they give again. Throws badInput, naming `model`, where a layer has no operation.
void markRecomputed(mlir::func::FuncOp forward, llvm::ArrayRef<std::string> layers, const std::string &model);

/// Takes the dropouts out of a function that infers, or of an operation's regions; random words are those of any call.
void dropDropouts(mlir::Operation *op);

/// Whether the parameter is a running statistic of a batch norm in the function.
bool isRunningStatistic(ir::GetParamOp read);

} // namespace sprig::training
