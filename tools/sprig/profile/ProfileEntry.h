// Which entries a profile is taken of, with the arrays that they are called with.
// For sprig profile and sprig simulate: a model's entries, or those of a package or a training step, by name.
#pragma once
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/run/Runner.h"
#include "tools/sprig/train/RankChoices.h"
#include "tools/sprig/Settings.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

struct ProfileTarget {
  std::optional<size_t> entry; ///< absent: the runtime chooses by the arrays' shapes
  std::string dims;            ///< "batch=32", for people
  std::map<std::string, data::Array> arrays;
};

/// What --entry and --dim choose of a loaded package by name; of one that trains the default is a step. Files of inputs
/// are as --input gives them, all else is random. Throws usage errors that list the entries there are.
std::vector<ProfileTarget> chooseTargets(const Runner &runner, const std::string &entry, const Settings &settings,
                                         uint64_t seed, const std::vector<std::string> &inputs = {});
/// The entries that are chosen by the sizes of their inputs; what these lack is random.
std::vector<ProfileTarget> targetsOf(const Runner &runner, std::vector<BoundInputs> entries, uint64_t seed);

/// An entry with arrays of files, and random ones.
ProfileTarget targetOf(const Runner &runner, size_t entry, uint64_t seed, const std::vector<std::string> &inputs = {});

/// How many training steps a call of an entry takes: 1 of all but `train_steps`.
int64_t stepsOfEntry(const Runner &runner, size_t entry);

/// Whether no entry is named and the package has no steps: then the sizes of the inputs choose.
bool isChosenByShape(const Runner &runner, const std::string &entry);

/// Of ranks that take a step together, whose program it is.
struct StepOfRank : RankChoices {
  bool hasWholeBatch = false; ///< the configuration's batch is each rank's, else that of all
  bool warns = true;          ///< of what an exporter did to the model
};

/// A model's training step and evaluation of whole batches, compiled as the configuration in a file says.
Runner compileSteps(const Model &model, const std::string &config, const std::vector<std::string> &allow,
                    const Settings &settings, const RunnerOptions &options, const StepOfRank &of = {});
Runner compileSteps(const Model &model, training::TrainConfig config, const std::vector<std::string> &allow,
                    const Settings &settings, const RunnerOptions &options, const StepOfRank &of = {});

} // namespace sprig::cli
