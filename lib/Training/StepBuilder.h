// Whole training steps from a network's inference graph.
// For `sprig train` and packages that train. The network comes as functions of a module that share nn.param state, one
// for each number of samples; what is added shares that state: steps, evaluations, inference. Everything that does not
// fit the configuration is thrown as sprig::Error.
#pragma once
#include "lib/Training/LossExpression.h"
#include "lib/Training/OptimizerUpdate.h"
#include "lib/Training/TrainConfig.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace sprig::training {

/// Type and shape of what one sample of the targets must be.
struct TargetInfo {
  mlir::Type element;
  std::vector<int64_t> sample; ///< without the first dimension, the samples
  /// Of losses against classes: how many there are; 0 for other losses. In the order of the outputs.
  std::vector<int64_t> classes;
};

/// Entries of a training program, by the number of samples that each takes.
struct TrainingEntries {
  std::vector<int64_t> steps, evaluations, inferences;
  bool withNorm = false; ///< steps give the gradient's norm, too
  /// Axes of ranks of which each shard of the samples is to have batch norms with statistics of its own.
  std::vector<std::string> normGroups = {};
  /// Where above 1, another entry takes so many steps of the most samples in one call.
  int64_t stepsPerCall = 1;
  /// The sizes of the forward passes that they consist of, ascending.
  std::vector<int64_t> forwardSizes(const TrainConfig &config) const;
};

/// What a model's file says of its initializers beyond their types, for the choice of what is trained by default.
struct ParameterHints {
  std::vector<std::string> constants; ///< are not trained unless `trainable` names them
  std::vector<std::string> singles;   ///< of one element, and trained all the same
};

class StepBuilder {
public:
  /// `forwards` has the network for every number of samples that is going to be asked for. `model` names the model in
  /// errors.
  StepBuilder(mlir::ModuleOp module, std::map<int64_t, mlir::func::FuncOp> forwards, const TrainConfig &config,
              std::string model, ParameterHints hints = {});

  /// Adds all of these, and drops the forward functions that are not among them.
  void add(const TrainingEntries &entries);

  /// Adds `train_step`: inputs and targets of `samples` samples -> loss (f32), and with `withNorm` the gradient's norm
  /// before clipping (f32). Updates parameters, optimizer, statistics and counters. Several sizes are entries of one
  /// name. More samples than the batch are taken batch by batch (accumulation), the last one may be smaller; there must
  /// be a forward function for each size that occurs. The step knows nothing of ranks: it bears the marks by which a
  /// strategy states how they share it (dialects/NN/Attributes.h, lib/Shard/Strategy).
  mlir::func::FuncOp addTrainStep(int64_t samples, bool withNorm);

  /// Adds `train_steps`, which takes several of these steps in one call (lib/Schedule/RepeatPrograms.cpp makes it): for
  /// each inputs and targets, and what it gives.
  void repeat(mlir::func::FuncOp step, int64_t samples, int64_t times);

  /// Adds `evaluate`: inputs and targets -> sum of the samples' losses (f32), number of correct predictions (i64), and
  /// how many there were (i64; 0 where the loss is not one of classes). Changes nothing.
  void addEvaluation(int64_t samples);

  /// Makes the forward functions of these numbers of samples entries named `main`, and drops the others.
  void finish(const std::vector<int64_t> &inferences);

  const std::vector<std::string> &trainable() const { return trainableNames; }
  const TargetInfo &targets() const { return target; }
  /// What to warn of in the network's batch norms (BatchNorms.h). Before `add`.
  std::string normWarning() const;

private:
  void chooseTrainable();
  void describeTargets();
  mlir::func::FuncOp forward(int64_t samples) const;
  mlir::func::FuncOp makeFunction(llvm::StringRef entry, llvm::ArrayRef<int64_t> passes,
                                  std::vector<std::pair<std::string, mlir::Type>> results);
  void updateParameters(ir::Expression &e, StateAccess &state, const StepScalars &scalars,
                        llvm::ArrayRef<mlir::Value> gradients);

  mlir::ModuleOp module;
  std::map<int64_t, mlir::func::FuncOp> forwards;
  const TrainConfig &config;
  std::string model;
  ParameterHints hints;
  std::vector<std::string> trainableNames;
  TargetInfo target;
  mlir::ArrayAttr normGroups; ///< null: none
};

} // namespace sprig::training
