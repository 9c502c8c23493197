// A model's training program: what `sprig train` asks of the compiler, and what comes out.
// The functions are defined in libsprig_compiler.so (CompilerLibrary.h). They throw what of the model does not fit the
// configuration.
#pragma once
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/train/RankChoices.h"
#include <span>

namespace sprig::cli {

/// What entries a training program has. Sizes are numbers of samples; entries of one name differ in them alone.
struct TrainRequest : RankChoices {
  training::TrainConfig config;     ///< resolved
  std::vector<int64_t> steps;       ///< of entries `train_step`: (inputs, targets) -> loss and, withNorm, the norm
  std::vector<int64_t> evaluations; ///< of `evaluate`: (inputs, targets) -> sum of losses, correct, counted
  std::vector<int64_t> inferences;  ///< of `main`
  int64_t samples = 0;              ///< of the training set that the configuration was resolved for
  bool withNorm = true;             ///< the gradient's norm before clipping is wanted at every step
  std::vector<std::string> allow;   ///< kinds of ExportFindings.h that are trained as they stand
  bool announce = true;             ///< warn of what an exporter did to the model
};

struct CompiledTraining : Compiled {
  std::vector<std::string> trainable;
  /// The number of classes of each output, 0 where its loss is not one of classes.
  std::vector<int64_t> classes;
  int64_t bucketBytes = 0;              ///< as chosen or given; 0: one rank
  std::optional<int64_t> turn = {};     ///< the same of TrainRequest::turn
  std::vector<std::string> collectives; ///< the same of TrainRequest::collectives
  std::string communication;            ///< what its all-reduces are expected to take, in words (-v); of one rank empty
  std::string factors;                  ///< of which gradients the factors are gathered, in words (-v)
};

/// Compiles the entries of a model that is no package. They share one state: parameters and statistics under the
/// model's own names, and what lib/Training/StateNames.h lists. `cpus` is what to make code for when the settings do
/// not say.
CompiledTraining compileTraining(const Model &model, const TrainRequest &request, const Settings &settings,
                                 const std::vector<std::string> &cpus);

/// The entries as text: the IR after the phase that --compile-to names, or before all phases.
std::string trainingToText(const Model &model, const TrainRequest &request, const Settings &settings);

/// Runs one step in the reference interpreter, from this state and on these inputs (targets last). Says which operation
/// made the first number that is not finite of the loss, a gradient or a next state; empty when all of them are finite.
std::string findNonFinite(const Model &model, const TrainRequest &request, const Settings &settings,
                          std::span<const data::Array> state, std::span<const data::Array> inputs);

/// The model's ONNX file with these arrays as its initializers, by name; with integers for weights where it is of
/// quantisation-aware training.
std::vector<char> exportTrained(const Model &model, std::span<const data::Array> parameters);

} // namespace sprig::cli
