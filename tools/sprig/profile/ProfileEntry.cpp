#include "tools/sprig/profile/ProfileEntry.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/StateNames.h"
#include "tools/sprig/run/RandomInputs.h"
#include "tools/sprig/train/TrainModel.h"
#include <algorithm>

namespace sprig::cli {
namespace {

std::string nameOf(const Runner &runner, size_t entry) {
  sprig_rt_entry_info info = runner.entryInfo(entry);
  return info.name;
}

/// The size of the first dimension of an entry's first input; nothing without one.
std::optional<int64_t> samplesOf(const Runner &runner, size_t entry) {
  auto inputs = runner.inputs(entry);
  if (inputs.empty() || inputs.front().shape.empty()) return std::nullopt;
  return inputs.front().shape.front();
}

/// "main, train_step (32, 29 samples)"
std::string listEntries(const Runner &runner) {
  std::vector<std::pair<std::string, std::string>> names;
  for (size_t i = 0; i < runner.entryCount(); ++i) {
    std::string name = nameOf(runner, i), size = samplesOf(runner, i) ? std::to_string(*samplesOf(runner, i)) : "";
    auto found = std::find_if(names.begin(), names.end(), [&](auto &pair) { return pair.first == name; });
    if (found == names.end())
      names.push_back({name, size});
    else
      found->second += ", " + size;
  }
  std::string text;
  for (auto &[name, sizes] : names)
    text += (text.empty() ? "" : "; ") + name + (sizes.empty() ? "" : " (" + sizes + " samples)");
  return text.empty() ? "none" : text;
}

/// The sizes that --dim asks for, of whatever symbol: a package's entries differ in their samples alone.
std::vector<int64_t> sizesAskedFor(const Settings &settings) {
  std::vector<int64_t> sizes;
  for (auto &dims : settings.entryDims()) {
    if (dims.size() > 1)
      badUse("--entry: expected one --dim, which says the samples, got " + std::to_string(dims.size()));
    for (auto &[symbol, size] : dims) sizes.push_back(size);
  }
  return sizes;
}

} // namespace

ProfileTarget targetOf(const Runner &runner, size_t entry, uint64_t seed, const std::vector<std::string> &inputs) {
  ProfileTarget target{entry, "", {}};
  std::vector<InputSpec> specs;
  for (const TensorSpec &spec : runner.inputs(entry)) {
    InputSpec input{spec.name, std::string(data::name(spec.dtype)), {}, true};
    for (int64_t size : spec.shape) input.dims.push_back({size, ""});
    specs.push_back(std::move(input));
  }
  if (auto samples = samplesOf(runner, entry)) target.dims = "batch=" + std::to_string(*samples);
  target.arrays = readInputs(inputs, specs);
  std::map<std::string, int64_t> none; // all sizes are the entry's
  bindDims(specs, target.arrays, none);
  fillRandom(runner, specs, seed, none, target.arrays);
  return target;
}

int64_t stepsOfEntry(const Runner &runner, size_t entry) {
  if (nameOf(runner, entry) != training::kStepsEntry) return 1;
  for (size_t i = 0; i < runner.entryCount(); ++i)
    if (nameOf(runner, i) == training::kStepEntry)
      return std::max<int64_t>(1, int64_t(runner.inputs(entry).size() / runner.inputs(i).size()));
  return 1;
}

bool isChosenByShape(const Runner &runner, const std::string &entry) {
  if (!entry.empty()) return false;
  for (size_t i = 0; i < runner.entryCount(); ++i)
    if (nameOf(runner, i) == training::kStepEntry) return false;
  return true;
}

std::vector<ProfileTarget> targetsOf(const Runner &runner, std::vector<BoundInputs> entries, uint64_t seed) {
  std::vector<ProfileTarget> targets;
  for (auto &[specs, arrays, request] : entries) {
    ProfileTarget target{std::nullopt, "", std::move(arrays)};
    for (auto &[symbol, size] : request.dims)
      if (!symbol.empty()) target.dims += (target.dims.empty() ? "" : " ") + symbol + "=" + std::to_string(size);
    fillRandom(runner, specs, seed, request.dims, target.arrays);
    targets.push_back(std::move(target));
  }
  return targets;
}

std::vector<ProfileTarget> chooseTargets(const Runner &runner, const std::string &given, const Settings &settings,
                                         uint64_t seed, const std::vector<std::string> &inputs) {
  std::string name = given.empty() ? std::string(training::kStepEntry) : given;
  std::vector<ProfileTarget> targets;
  std::vector<size_t> named;
  for (size_t i = 0; i < runner.entryCount(); ++i)
    if (nameOf(runner, i) == name) named.push_back(i);
  if (named.empty()) badUse("--entry " + name + ": there is no such entry, only: " + listEntries(runner));
  std::vector<int64_t> sizes = sizesAskedFor(settings);
  if (sizes.empty()) {
    // The largest: of steps the whole batch, not an epoch's rest.
    size_t largest = *std::max_element(named.begin(), named.end(), [&](size_t a, size_t b) {
      return samplesOf(runner, a).value_or(0) < samplesOf(runner, b).value_or(0);
    });
    return {targetOf(runner, largest, seed, inputs)};
  }
  for (int64_t size : sizes) {
    auto found = std::find_if(named.begin(), named.end(), [&](size_t i) { return samplesOf(runner, i) == size; });
    if (found == named.end())
      badUse("--entry " + name + ": has no form for " + std::to_string(size) +
             " samples; there are: " + listEntries(runner));
    targets.push_back(targetOf(runner, *found, seed, inputs));
  }
  return targets;
}

Runner compileSteps(const Model &model, const std::string &config, const std::vector<std::string> &allow,
                    const Settings &settings, const RunnerOptions &options, const StepOfRank &of) {
  if (model.kind == ModelKind::package)
    badUse("--train: " + model.path + " is a package, which trains by itself or not at all");
  return compileSteps(model, training::readTrainConfig(config), allow, settings, options, of);
}

Runner compileSteps(const Model &model, training::TrainConfig config, const std::vector<std::string> &allow,
                    const Settings &settings, const RunnerOptions &options, const StepOfRank &of) {
  TrainRequest request;
  request.config = std::move(config);
  if (of.hasWholeBatch) {
    request.config.batch *= of.ranks;
    if (request.config.evalBatch) *request.config.evalBatch *= of.ranks;
  }
  int64_t samples = request.config.batch * request.config.accumulate;
  // One epoch of one step: the schedule and the length cost a step nothing.
  training::resolve(request.config, samples);
  request.samples = samples;
  request.steps = {samples};
  request.evaluations = {request.config.evalBatch.value_or(request.config.batch)};
  request.allow = allow;
  request.withNorm = false;
  request.announce = of.warns;
  static_cast<RankChoices &>(request) = of;
  CompiledTraining compiled = compileTraining(model, request, settings, {"native"});
  Runner runner = Runner::load(std::move(compiled.package), model.path, options);
  runner.placements = std::move(compiled.placements);
  return runner;
}

} // namespace sprig::cli
