// sprig bench lanes --devices cuda:0: products that do not depend on each other, one after the other and as branches of
// a graph, over sizes; what the scheduler chooses; and waiting after each group of products beside waiting at the end.
#include "tools/sprig/bench/OneGpu.h"
#include "tools/sprig/bench/ProductGroups.h"
#include <algorithm>
#include <set>

namespace sprig::cli {
namespace {

constexpr int kInARow = 10;
constexpr double kLost = 1.03;

struct GpuWays {
  std::unique_ptr<DeviceProgram> oneLane, lanes, chosen;
};

GpuWays compileGpuWays(const OneGpu &gpu, int64_t n, Settings settings) {
  Model model = groupsModel(n, kGroups, kProducts);
  GpuWays ways;
  settings.lanes = 1;
  ways.oneLane = std::make_unique<DeviceProgram>(gpu, model, settings);
  Settings on = settings;
  on.compileFrom = "plan";
  ways.lanes = std::make_unique<DeviceProgram>(gpu, onLanes(model, settings, kGroups), on, ways.oneLane.get());
  settings.lanes = kGroups;
  ways.chosen = std::make_unique<DeviceProgram>(gpu, model, settings, ways.oneLane.get());
  return ways;
}

// Calls of one group: waited for each, and all of them at the end.
void waits(const OneGpu &gpu, int64_t n, const Settings &settings, ExperimentReport &report) {
  DeviceProgram group(gpu, groupsModel(n, 1, kInARow), settings);
  auto calls = [&](bool waitsForEach) {
    for (int i = 0; i < kGroups; ++i) {
      group.enqueue();
      if (waitsForEach) gpu.wait(gpu.computes);
    }
    gpu.wait(gpu.computes);
  };
  std::vector<double> best = bestInTurn({[&] { calls(true); }, [&] { calls(false); }}, 5);
  check(sprig_rt_context_wait(group.loaded().runContext()));
  report.row({n, best[0] * 1e6, best[1] * 1e6, best[0] / best[1]});
}

} // namespace

void benchGpuLanes(const ExperimentOptions &options, ExperimentReport &report) {
  OneGpu gpu(options.settings);
  int64_t most = options.n ? options.n : 4000;
  std::vector<int64_t> sizes;
  for (int64_t n : {16, 32, 64, 128, 256, 512, 1024, 2048})
    if (n < most) sizes.push_back(n);
  sizes.push_back(most);
  std::string side = std::to_string(kGroups) + " lanes";
  report.table("lanes", {"n", "us, 1 lane", "us, " + side, "1 lane / " + side, "us, scheduler's", "its lanes"});
  bool same = true;
  double mostGain = 0, gainAtLast = 0, worst = 0;
  int64_t mostAt = 0, worstAt = 0;
  for (int64_t n : sizes) {
    GpuWays ways = compileGpuWays(gpu, n, options.settings);
    double one = 1e30, lanes = 1e30, chosen = 1e30;
    for (int round = 0; round < 3; ++round) {
      one = std::min(one, ways.oneLane->inARow());
      lanes = std::min(lanes, ways.lanes->inARow());
      chosen = std::min(chosen, ways.chosen->inARow());
    }
    report.row({n, one * 1e6, lanes * 1e6, one / lanes, chosen * 1e6, ways.chosen->lanes()});
    if (one / lanes > mostGain) mostGain = one / lanes, mostAt = n;
    gainAtLast = one / lanes;
    double lost = chosen / std::min(one, lanes);
    if (lost > worst) worst = lost, worstAt = n;
    auto bits = ways.oneLane->outputs();
    same &= bits == ways.lanes->outputs() && bits == ways.chosen->outputs();
  }
  report.table("waiting", {"n", "us, waiting after each of 8 groups of 10", "at the end", "each / end"});
  for (int64_t n : std::set<int64_t>{sizes.front(), std::min<int64_t>(most, 512), most})
    waits(gpu, n, options.settings, report);

  auto times = [](double value, int64_t n) { return formatDouble(value, 3) + " times at n = " + std::to_string(n); };
  report.verdict("lanes change no bit", same ? "all programs alike" : "other bits", same);
  report.timed("small products gain by lanes", times(mostGain, mostAt), mostGain > kPays);
  report.timed("at the largest size lanes lose no more than 3%", times(gainAtLast, most), gainAtLast * kLost >= 1);
  report.timed("the scheduler's choice is within 15% of the better of one lane and " + side, times(worst, worstAt),
               worst <= kTolerance);
  if (sizes.size() > 3)
    report.timed("what lanes gain falls again as products grow",
                 times(mostGain, mostAt) + ", " + times(gainAtLast, most), mostGain > gainAtLast);
}

} // namespace sprig::cli
