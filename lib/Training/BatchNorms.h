// Batch norms of a network that is trained: which of them keep their running statistics, and by which names.
// For the step builder and the forms that it writes.
#pragma once
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNState.h"
#include "lib/Training/TrainConfig.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sprig::training {

/// Whether a parameter's value, or what it is in another precision, is a running statistic of a batch norm.
bool isRunningStatistic(mlir::Value value);

/// The running statistic that an operand of a batch norm is; null where it is computed.
ir::GetParamOp runningStatistic(mlir::Value operand);

/// Whether a step normalises by the batch, and moves the norm's running statistics: unless `batch_norm.frozen` of the
/// configuration has the norm, by its scale's name, or its running mean's where the scale is no parameter.
bool movesStatistics(ir::BatchNormOp norm, const TrainConfig &config);

/// Throws badInput, naming `model`, where `batch_norm.frozen` has a name or a glob of no norm, or where a frozen norm
/// has a running statistic that another norm moves.
void checkFrozen(mlir::func::FuncOp forward, const TrainConfig &config, const std::string &model);

/// A warning that names the norms whose statistics a step moves although it trains neither their scales nor their
/// shifts. Empty: none, or the configuration does not choose what is trained.
std::string warningOfMoved(mlir::func::FuncOp forward, const TrainConfig &config, llvm::ArrayRef<std::string> trained);

} // namespace sprig::training
