// Training for C++ programs: a model and a configuration in, a package that trains out.
// For embedders; the package needs no compiler to run. What is wrong with the model or the configuration is thrown as
// sprig::Error.
//
//   auto bytes = sprig::compileTraining(sprig::Model::file("mlp.onnx"), config, {.steps = {64}});
//   auto package = sprig::rt::Package::fromMemory(std::move(bytes));
//   sprig::rt::State state(package);
//   sprig::rt::Context context(package, {.state = &state});
//   context.invoke({x, y}, {loss});    // one step: forward, backward, update of the state
#pragma once
#include "sprig/compile.h"

namespace sprig {

/// Numbers of samples that the entries take. All entries share the package's state.
struct TrainingSizes {
  std::vector<int64_t> steps = {};       ///< train_step: (inputs, targets) -> loss; with `gradientNorm` its norm, too
  std::vector<int64_t> evaluations = {}; ///< evaluate: (inputs, targets) -> sum of losses, correct, counted
  std::vector<int64_t> inferences = {};  ///< main: inputs -> outputs
  bool gradientNorm = false;
  /// Above 1 (Keras: steps_per_execution) there is train_steps, too, which takes so many steps of the largest size in
  /// one call, up to 256: (inputs, targets) of the first, of the second, ... -> the loss of each, with `gradientNorm`
  /// each with its norm. The bits are those of so many calls of train_step.
  int64_t stepsPerCall = 1;
  /// What an exporter did to the model that is trained as it stands (docs/training.md): "folded", "merged", ..., "all".
  std::vector<std::string> allow = {};
};

/// `config` is the text of a configuration (docs/training.md); its length is given in steps. The first dimension of
/// every input of the model counts samples and is symbolic, or has the one size that is asked for.
SPRIG_API std::vector<uint8_t> compileTraining(const Model &model, const std::string &config,
                                               const TrainingSizes &sizes, const CompileOptions &options = {});

} // namespace sprig
