// The training program of an imported model: its steps beside the forward functions, and what the package says of it.
// For the command line and the JIT; throws what of the model does not fit the configuration.
#pragma once
#include "lib/Model/ReadModel.h"
#include "lib/Training/StepBuilder.h"
#include "sprig/options.h"
#include <functional>

namespace sprig {

struct TrainingProgram {
  training::TrainConfig config; ///< resolved
  training::TrainingEntries entries;
  int64_t samples = 0; ///< of the training set that the configuration was resolved for
  int zero = 0;        ///< 1: ranks share the optimizer's state
  /// Kinds of lib/Import/ONNX/ExportFindings.h that are trained as they stand, and what the caller knows this list by.
  std::vector<std::string> allow = {};
  std::string allowedBy = "--allow";
  /// Told of what an exporter did to the model that may be no error, and of what is not trained by default.
  std::function<void(const std::string &)> warn = {}, inform = {};
};

/// What was found to be trained, and the number of classes of each output (0 where its loss has none).
struct TrainedModel {
  std::vector<std::string> trainable;
  std::vector<int64_t> classes;
};

/// The options that every training program is compiled with. The configuration's `remat` goes before the options'.
CompileOptions trainingOptions(CompileOptions options, const training::TrainConfig &config);

/// `module`: of ONNX a function for each of the entries' forward sizes, in their order; of text whatever there is, of
/// which each function is for the samples of its first input.
TrainedModel addTraining(mlir::ModuleOp module, const ModelSource &model, const TrainingProgram &program);

} // namespace sprig
