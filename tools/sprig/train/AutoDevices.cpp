#include "tools/sprig/train/AutoDevices.h"
#include "lib/Machine/Gpu.h"
#include "lib/Machine/TopologyPresets.h"
#include "runtime/comm/RankLimits.h"
#include "sprig/error.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/simulate/SimulatedRanks.h"
#include <algorithm>
#include <optional>

namespace sprig::cli {
namespace {

// Of the time of one rank, whose bits are those of any other machine; what is expected is rarely nearer than a tenth.
constexpr double kWorthRanks = 0.9;

std::string countOf(int64_t number, const std::string &what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

// Code for the processor alone was asked for: then there is nothing to look for.
std::optional<AutoDevices> gpuHere(const Settings &settings) {
  auto isOfProcessor = [](const std::string &target) { return target.starts_with("cpu"); };
  if (std::any_of(settings.targets.begin(), settings.targets.end(), isOfProcessor)) return std::nullopt;
  std::vector<machine::Gpu> gpus = machine::findGpus().gpus;
  if (gpus.empty()) return std::nullopt;
  std::string why = gpus[0].name;
  if (gpus.size() > 1) why += ", the first of " + std::to_string(gpus.size()) + ": GPUs are no ranks yet";
  return AutoDevices{"cuda:0", why};
}

// By the machine's model, in nanoseconds.
double stepOf(const Model &model, const training::TrainConfig &config, const TrainOptions &options, int threads,
              int ranks) {
  Settings settings = options.settings;
  settings.threads = threads / ranks;
  RankSettings of;
  of.ranks = {ranks};
  of.scaling = options.scaleBatch ? Scaling::weak : Scaling::strong;
  static_cast<StepChoices &>(of) = options.mesh.choices();
  of.onOneMachine = true;
  of.isBeside = rt::comm::hasCores(uint64_t(ranks) * (uint64_t(settings.threads) + 1));
  std::vector<std::string> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back("cpu:" + std::to_string(rank));
  RankedSteps steps(model, config, settings, of, options.allow);
  return steps.play(machine::thisMachine(devices, threads), ranks).ns;
}

} // namespace

AutoDevices chooseDevices(const Model &model, const training::TrainConfig &config, int64_t leastPass,
                          const TrainOptions &options) {
  if (auto gpu = gpuHere(options.settings)) return *gpu;
  int threads = options.settings.laneCount() ? options.settings.laneCount() : sprig_rt_default_threads();
  std::string one = "one rank of " + countOf(threads, "thread");
  if (options.mesh.strategy.empty()) return {"cpu", countOf(threads, "thread")};
  int64_t most = std::min<int64_t>(threads, rt::comm::kMostThreadRanks);
  if (!options.scaleBatch) most = std::min(most, leastPass);
  int ranks = int(std::max<int64_t>(1, most));
  while (threads % ranks) --ranks;
  if (ranks == 1)
    return {"cpu",
            one + (threads > 1 ? ", as a forward pass may have " + countOf(leastPass, "sample") + " alone" : "")};
  std::string several = countOf(ranks, "rank") + " of " + countOf(threads / ranks, "thread");
  try {
    double alone = stepOf(model, config, options, threads, 1),
           together = stepOf(model, config, options, threads, ranks);
    // A step of ranks has the batch of each.
    double samples = options.scaleBatch ? ranks : 1;
    std::string times = ": a step is expected to take " + formatNanoseconds(together) + " on " + several + ", " +
                        formatNanoseconds(alone * samples) + " on " + one;
    if (samples > 1) times += ", of as many samples";
    if (together < alone * samples * kWorthRanks) return {"cpu*" + std::to_string(ranks), several + times};
    return {"cpu", one + times};
  } catch (const Error &error) {
    // What ranks cannot share, one has.
    if (error.kind() != ErrorKind::unsupported) throw;
    std::string why = error.what();
    return {"cpu", one + ": " + why.substr(0, why.find('\n'))};
  }
}

AutoDevices devicesOf(const Model &package) {
  Runner runner = loadPackage(package, RunnerOptions{1, "null"});
  uint32_t ranks = 1;
  for (uint32_t entry = 0; entry < runner.entryCount(); ++entry) ranks = std::max(ranks, runner.ranks(entry).ranks);
  std::string why = package.path + " has steps of " + countOf(ranks, "rank");
  return {ranks > 1 ? "cpu*" + std::to_string(ranks) : "cpu", why};
}

} // namespace sprig::cli
