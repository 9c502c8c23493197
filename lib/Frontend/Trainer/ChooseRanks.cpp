#include "lib/Frontend/Trainer/ChooseRanks.h"
#include "lib/Frontend/Base/Devices.h"
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Record.h"
#include "lib/Frontend/Trainer/Fit.h"
#include "runtime/comm/RankLimits.h"
#include <algorithm>

namespace sprig::frontend {

namespace {

// Of the time of one rank, whose bits are those of any other machine; what is expected is rarely nearer than a tenth.
constexpr double kWorthRanks = 0.9;

std::string countOf(int64_t number, const std::string &what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// The fewest samples of any pass, of batches of so many.
int64_t leastPass(const data::Loader &train, int64_t batch, int64_t passes) {
  const int64_t rest = train.dataset().size() % batch;
  return (rest && !train.options().dropLast ? rest : batch) / passes;
}

/// Of the fields of a batch of so many samples.
std::vector<TensorType> typesOf(const data::Loader &train, int64_t samples, Source at) {
  data::LoaderOptions options = train.options();
  options.workers = 0;
  options.shuffle = {};
  data::Loader some(train.dataset(), options, at);
  std::vector<TensorType> types;
  const data::Batch first = *some.begin();
  for (size_t i = 0; i < first.fields(); ++i) {
    types.push_back(first[{i, at}].type(at));
    types.back().shape[0] = samples;
  }
  return types;
}

std::string microseconds(double seconds) { return std::to_string(std::llround(seconds * 1e6)) + " us"; }

} // namespace

ChosenRanks chooseRanks(const Training &training, const TrainerOptions &options, const data::Loader &train, Source at) {
  std::vector<Parameter> parameters = training.module->parameters();
  const Device device = parameters.empty() ? defaultDevice() : parameters[0].value(at).device();
  if (device.kind() != Device::Kind::cpu) return {1, "its parameters are on " + device.name()};
  if (!options.compile) return {1, "its steps are not compiled, so none is known beforehand"};
  const int threads = sprig_rt_default_threads();
  const int64_t batch = train.options().batch, least = leastPass(train, batch, options.accumulate);
  // Every pass has a sample for each, also the last of an epoch.
  auto hasEnough = [&](int ranks) {
    return leastPass(train, options.scaleBatch ? batch * ranks : batch, options.accumulate) >= ranks;
  };
  int ranks = std::clamp(threads, 1, int(rt::comm::kMostThreadRanks));
  while (ranks > 1 && (threads % ranks || !hasEnough(ranks))) --ranks;
  if (ranks == 1)
    return {1, countOf(threads, "thread") +
                   (threads > 1 ? ", as a pass may have " + countOf(least, "sample") + " alone" : "")};
  if (!training.module->isTraining()) training.module->train();
  ProgramOptions program = programOptions(options);
  double alone = TrainingPrograms::expectedSeconds(training, program, typesOf(train, batch, at), batch, threads, at);
  const int64_t more = options.scaleBatch ? ranks : 1; // samples of all ranks, for each of one alone
  double together = 0;
  dist::asFirstOf(ranks, [&](dist::Group &group) {
    program.group = &group;
    auto [begin, end] = group.rowsOf(batch * more);
    together = TrainingPrograms::expectedSeconds(training, program, typesOf(train, end - begin, at), batch * more,
                                                 threads / ranks, at);
  });
  alone *= double(more);
  std::string times = "a step is expected to take " + microseconds(together) + " on " + countOf(ranks, "rank") +
                      " of " + countOf(threads / ranks, "thread") + ", " + microseconds(alone) + " on one of " +
                      countOf(threads, "thread") + (more > 1 ? ", of as many samples" : "");
  return {together < alone * kWorthRanks ? ranks : 1, times};
}

} // namespace sprig::frontend
