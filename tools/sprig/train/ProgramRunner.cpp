#include "tools/sprig/train/ProgramRunner.h"
#include "lib/Data/SamplesHash.h"
#include "lib/Loader/ArraySet.h"
#include "lib/Training/Plateau.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/Schedule.h"
#include "lib/Training/StateNames.h"
#include "tools/sprig/RankWeights.h"
#include "tools/sprig/Report.h"
#include <algorithm>
#include <cstring>
#include <utility>

namespace sprig::cli {

namespace {

// What fails in a call is told with the numbers of its steps.
template <typename Do> auto inSteps(int64_t first, int64_t count, Do act) {
  try {
    return act();
  } catch (const Error &error) {
    throw Error(error.kind(),
                (count == 1 ? "step " + std::to_string(first)
                            : "steps " + std::to_string(first) + " to " + std::to_string(first + count - 1)) +
                    ": " + error.what());
  }
}

/// The instruction set of the code that runs here, with what it uses beyond that.
std::string codeKind(const Runner &runner) {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  std::string kind;
  for (uint32_t i = 0; i < info.image_count; ++i) {
    sprig_rt_image_info image;
    check(sprig_rt_package_image(runner.package(), i, &image));
    if (!image.loaded) continue;
    kind += (kind.empty() ? "" : ", ") + std::string(image.isa);
    if (*image.features) kind += " with " + std::string(image.features);
  }
  return kind;
}

std::string hashText(const TrainData &data) {
  data::SamplesHash hash;
  auto add = [&](const data::Samples &samples) {
    hash.add(data::describe(samples.dtype(), samples.shape()));
    const int64_t each = samples.sampleElements() * int64_t(data::size(samples.dtype()));
    hash.addSamples(samples.count(), each, [&](int64_t begin, int64_t end) {
      hash.add({samples.bytes() + begin * each, size_t((end - begin) * each)});
    });
  };
  for (const data::Samples &samples : data.inputs) add(samples);
  if (data.targets) add(*data.targets);
  return hash.text();
}

/// A JSON object of texts by their numbers.
std::string numbered(const std::vector<std::string> &texts) {
  Json json = Json::object();
  for (const std::string &text : texts) json[std::to_string(json.size() + 1)] = text;
  return json.dump();
}

/// `specs` are the inputs of one step, the targets last.
data::Dataset datasetOf(const TrainData &data, const std::vector<TensorSpec> &specs) {
  std::vector<data::Samples> fields = data.inputs;
  fields.push_back(*data.targets);
  data::Dataset set = data::arrays(std::move(fields));
  for (size_t i = 0; i < specs.size(); ++i)
    set = set.as(i, {data::tensorType(specs[i].dtype), specs[i].shape}, scalesBytes(i, specs.size()), Source());
  return set;
}

} // namespace

void ProgramRunner::submit(const training::Call &call) {
  const training::CallSamples &samples = call.samples;
  inSteps(call.first, samples.steps, [&] {
    if (samples.batches.empty())
      ranks.submit(data, samples.indices, samples.steps);
    else
      ranks.submit(samples.batches, call.begin);
  });
  underWay.push_back({call.first, samples.steps});
}

// A call that is under way on a device is not asked whether it has ended: one lies ready behind it.
std::span<const StepResult> ProgramRunner::collect(bool wait) {
  if (!wait) return {};
  const Steps steps = underWay.front();
  underWay.erase(underWay.begin());
  std::span<const StepResult> results = inSteps(steps.first, steps.count, [&] { return ranks.finish(); });
  told.assign(results.begin(), results.end());
  sprig_rt_group_times now = ranks.communication();
  for (size_t i = 0; i < told.size(); ++i) {
    told[i].lr = rateAt(steps.first + int64_t(i));
    // Of communication that nothing hid, each step's part; of one rank nothing.
    if (now.collectives) told[i].exposedSeconds = double(now.exposed_ns - exposedBefore) * 1e-9 / double(steps.count);
  }
  exposedBefore = now.exposed_ns;
  return told;
}

void ProgramRunner::restore(const std::vector<data::Array> &arrays) {
  ranks.restore(arrays);
  for (const data::Array &array : arrays)
    if (array.name == training::kLr) std::memcpy(&base, array.bytes.data(), sizeof base);
}

double ProgramRunner::rateAt(int64_t step) const { return training::lrAt(config.schedule, base, step); }

bool ProgramRunner::lowerRates(const training::ScheduleConfig &schedule) {
  const double before = std::exchange(base, training::loweredRate(schedule, base));
  if (base != before) ranks.start(base, config.seed);
  return base != before;
}

void checkBeginning(const TrainRanks &ranks, const TrainData &data, const TrainData *evaluation,
                    const training::TrainConfig &config, const TrainBeginning &beginning) {
  if (!ranks.areProcesses()) return;
  const RankShare &share = ranks.first().rankShare();
  const training::Fact facts[] = {
      {"kinds of code", codeKind(ranks.first().package())},
      {"numbers of samples", std::to_string(data.count())},
      {"numbers of samples to evaluate", std::to_string(evaluation ? evaluation->count() : 0)},
      {"shares", textOf(share.weights, share.ranks)},
      {"configurations", training::toJson(config), /*isJson=*/true},
      {"hashes of the samples", hashText(data)},
      {"hashes of the samples to evaluate", evaluation ? hashText(*evaluation) : ""},
      {"steps to go on from", std::to_string(beginning.steps)},
      {"collectives", numbered(beginning.collectives), /*isJson=*/true}};
  ranks.checkBeginning(facts);
}

TrainSource::TrainSource(const TrainProgram &program, const TrainData &data, const training::TrainConfig &config,
                         const LoaderFlags &flags) {
  const int64_t each = config.batch * config.accumulate;
  if (!flags.wanted()) {
    source = std::make_unique<training::IndexSource>(data::Batches::Options{.samples = data.count(),
                                                                            .batch = each,
                                                                            .shuffle = config.shuffle,
                                                                            .dropLast = config.dropLast,
                                                                            .seed = config.seed});
    return;
  }
  data::LoaderOptions options = loaderOptions(flags);
  options.batch = each;
  if (config.shuffle) options.shuffle = config.seed;
  options.dropLast = config.dropLast;
  loader.emplace(datasetOf(data, program.inputs()), options, Source());
  source = std::make_unique<training::LoaderSource>(*loader, each);
}

training::LoopOptions loopOptions(const training::TrainConfig &config, bool evaluates) {
  training::LoopOptions loop;
  loop.steps = *config.steps;
  loop.evaluates = evaluates;
  loop.evaluateEvery = config.evalEvery;
  loop.replacesHandlers = true;
  if (config.schedule.kind == training::ScheduleKind::plateau) {
    loop.plateau = config.schedule;
    loop.plateauField = "lr_schedule.metric";
    if (config.schedule.byAccuracy && !evaluates)
      badUse("lr_schedule.metric: found \"accuracy\", expected data to evaluate on (--eval-x and "
             "--eval-y), which it is measured on");
    if (evaluates && config.evalEvery == 0)
      badUse("eval.every: found 0, expected evaluations at the ends of epochs, which lr_schedule 'plateau' goes by");
  }
  if (config.stopPatience || config.restoreBest) {
    loop.early = training::EarlyStop{.patience = config.stopPatience.value_or(0),
                                     .minDelta = config.stopMinDelta.value_or(0),
                                     .keepsBest = config.restoreBest};
    loop.monitor = config.stopMetric;
    loop.monitorField = "early_stop.metric";
  }
  return loop;
}

void PrintWarnings::onWarning(const std::string &text) { warn(text); }

} // namespace sprig::cli
