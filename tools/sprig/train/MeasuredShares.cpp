#include "tools/sprig/train/MeasuredShares.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/train/TrainRunners.h"
#include <algorithm>
#include <chrono>
#include <numeric>

namespace sprig::cli {

namespace {

// The quickest counts: what else the machine does comes and goes.
constexpr int kLeastSteps = 3;
constexpr double kLeastSeconds = 0.1;

} // namespace

std::vector<double> measureSpeeds(const Model &model, TrainRequest request, const Settings &settings,
                                  const RunnerOptions &options, const TrainData &data, sprig_rt_group *group) {
  using Clock = std::chrono::steady_clock;
  auto rank = size_t(sprig_rt_group_rank(group)), ranks = size_t(sprig_rt_group_ranks(group));
  request.rank = 0, request.ranks = 1;
  request.weights.clear();
  request.evaluations.clear();
  request.announce = false;
  request.steps.resize(1);
  std::vector<int64_t> samples(size_t(request.steps.front()));
  std::iota(samples.begin(), samples.end(), int64_t(0));
  TrainProgram program(std::move(loadTraining(model, request, 1, settings, options).runners.front()));
  program.start(request.config.optimizer.lr, request.config.seed);
  program.step(data, samples);

  double none = 0;
  check(sprig_rt_group_all_reduce(group, SPRIG_RT_F64, SPRIG_RT_SUM, &none, 1, "the beginning of measuring"));
  double quickest = 0;
  auto begin = Clock::now();
  for (int i = 0; i < kLeastSteps || Clock::now() - begin < std::chrono::duration<double>(kLeastSeconds); ++i) {
    auto start = Clock::now();
    program.step(data, samples);
    quickest = std::max(quickest, 1 / std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::vector<double> speeds(ranks);
  speeds[rank] = quickest;
  check(sprig_rt_group_all_reduce(group, SPRIG_RT_F64, SPRIG_RT_SUM, speeds.data(), speeds.size(), "speeds"));
  return speeds;
}

std::string speedsText(const std::vector<double> &speeds) {
  std::string text;
  for (double speed : speeds) text += (text.empty() ? "" : ", ") + formatNanoseconds(1e9 / speed);
  return text;
}

} // namespace sprig::cli
