// A network's inference graph inside a step, in its training or its inference form.
// For the step builder. Training: batch norms use and update statistics, dropout drops. Inference: neither.
#pragma once
#include "dialects/NN/NNState.h"
#include "lib/Training/StateAccess.h"
#include "lib/Training/TrainConfig.h"

namespace sprig::training {

struct RandomState {
  mlir::Value key, counter; ///< tensor<i64>
};

/// Writes the body of `forward` at the insertion point, on the given inputs; returns what it gives. Parameters are read
/// through `state`, which takes the new running statistics.
llvm::SmallVector<mlir::Value> writeTrainingForm(mlir::OpBuilder &b, mlir::func::FuncOp forward,
                                                 mlir::ValueRange inputs, StateAccess &state, const TrainConfig &config,
                                                 RandomState random);
/// Of the parameters in `averaged`, the moving average is read.
llvm::SmallVector<mlir::Value> writeInferenceForm(mlir::OpBuilder &b, mlir::func::FuncOp forward,
                                                  mlir::ValueRange inputs, StateAccess &state,
                                                  llvm::ArrayRef<std::string> averaged);

/// Takes the dropouts out of a function that infers.
void dropDropouts(mlir::func::FuncOp forward);

/// Whether the parameter is a running statistic of a batch norm in the function.
bool isRunningStatistic(ir::GetParamOp read);

} // namespace sprig::training
