// A network's inference graph inside a step, in its training or its inference form.
// For the step builder. Training: batch norms use and update statistics unless they are frozen, dropout drops,
// quantisers let gradients through. Inference: none of it.
#pragma once
#include "lib/Training/StateAccess.h"
#include "lib/Training/TrainConfig.h"

namespace sprig::training {

struct RandomState {
  mlir::Value key, counter; ///< tensor<i64>
};

/// Writes the body of `forward` at the insertion point, on the given inputs; returns what it gives. Parameters are read
/// through `state`, which takes the new running statistics. Dropouts drop, and random words are other ones in each
/// pass. `groups` are those of nn.batch_norm_train; null: none. Throws unsupported where it cannot be.
llvm::SmallVector<mlir::Value> writeTrainingForm(mlir::OpBuilder &b, mlir::func::FuncOp forward,
                                                 mlir::ValueRange inputs, StateAccess &state, const TrainConfig &config,
                                                 RandomState random, mlir::ArrayAttr groups);
/// Of the parameters in `averaged`, the moving average is read.
llvm::SmallVector<mlir::Value> writeInferenceForm(mlir::OpBuilder &b, mlir::func::FuncOp forward,
                                                  mlir::ValueRange inputs, StateAccess &state,
                                                  llvm::ArrayRef<std::string> averaged);

/// Marks the operations of these layers (names or globs of an operation's name, or of its beginning up to a slash) for
/// remat, which computes what they give again. Throws badInput, naming `model`, where a layer has no operation.
void markRecomputed(mlir::func::FuncOp forward, llvm::ArrayRef<std::string> layers, const std::string &model);

/// Takes the dropouts out of a function that infers, or of an operation's regions; random words are those of any call.
void dropDropouts(mlir::Operation *op);

} // namespace sprig::training
