// sprig bench lanes: products that do not depend on each other, one after the other with all threads in each, and side
// by side, over sizes; and what the scheduler chooses.
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/ProductGroups.h"
#include "tools/sprig/bench/TimedProgram.h"
#include <algorithm>
#include <memory>

namespace sprig::cli {
namespace {

// A lane has at least one group.
int lanesFor(const ExperimentOptions &options) { return std::min(options.threads, kGroups); }

struct Ways {
  std::unique_ptr<TimedProgram> oneThread, oneLane, lanes, chosen;
};

Ways compileWays(int64_t n, const ExperimentOptions &options) {
  Model model = groupsModel(n, kGroups, kProducts);
  Settings settings = options.settings;
  settings.lanes = 1;
  settings.threads = 1;
  Ways ways;
  ways.oneThread = std::make_unique<TimedProgram>(model, settings);
  settings.threads = options.threads;
  ways.oneLane = std::make_unique<TimedProgram>(model, settings);
  Settings on = settings;
  on.compileFrom = "plan";
  ways.lanes = std::make_unique<TimedProgram>(onLanes(model, settings, lanesFor(options)), on);
  settings.lanes = options.threads;
  ways.chosen = std::make_unique<TimedProgram>(model, settings);
  return ways;
}

// What the scheduler's choice takes beside the better of one lane and of lanes.
double lostBy(const std::vector<double> &best) { return best[3] / std::min(best[1], best[2]); }

// All sizes for as long, whoever seems to win: whether a second thread is there at once differs from moment to moment.
std::vector<double> bestOf(const Ways &ways) {
  return bestInTurn({ways.oneThread.get(), ways.oneLane.get(), ways.lanes.get(), ways.chosen.get()}, 5, 0.4);
}

} // namespace

void benchLanes(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t most = options.n ? options.n : 1000;
  std::string side = std::to_string(lanesFor(options)) + " lanes";
  report.table("lanes",
               {"n", "us, 1 thread", "us, 1 lane", "us, " + side, "1 lane / " + side, "us, scheduler's", "its lanes"});
  std::vector<int64_t> sizes;
  for (int64_t n : {16, 32, 64, 128, 256, 512}) // up to the largest, which is always there
    if (n < most) sizes.push_back(n);
  sizes.push_back(most);
  bool same = true;
  double mostGain = 0, gainAtLast = 0, worst = 0;
  int64_t mostAt = 0, worstAt = 0, firstThatPays = 0, lastThatPays = 0;
  for (int64_t n : sizes) {
    Ways ways = compileWays(n, options);
    std::vector<double> best = bestOf(ways);
    double gain = best[1] / best[2];
    report.row({n, best[0] * 1e6, best[1] * 1e6, best[2] * 1e6, gain, best[3] * 1e6, ways.chosen->lanes()});
    if (gain > mostGain) mostGain = gain, mostAt = n;
    gainAtLast = gain;
    if (gain > kPays) {
      if (firstThatPays == 0) firstThatPays = n;
      lastThatPays = n;
    }
    double lost = lostBy(best);
    if (lost > worst) worst = lost, worstAt = n;
    auto bits = ways.oneThread->outputs();
    same &= bits == ways.oneLane->outputs() && bits == ways.lanes->outputs() && bits == ways.chosen->outputs();
  }
  report.verdict("lanes change no bit", same ? "all programs alike" : "other bits", same);
  if (options.threads == 1) {
    report.note("one thread: lanes have nothing to run beside each other on");
    return;
  }
  report.note(side + " are more than 5% faster than one lane, whose products share all threads, " +
              (firstThatPays == 0
                   ? std::string("nowhere")
                   : "from n = " + std::to_string(firstThatPays) + " to " + std::to_string(lastThatPays)));
  report.timed("the scheduler's choice is within 15% of the better of one lane and " + side,
               formatDouble(worst, 3) + " times as long at n = " + std::to_string(worstAt), worst <= kTolerance);
  report.timed("at the largest size lanes lose no more than 3% to one whose products share all threads",
               formatDouble(gainAtLast, 3) + " times as fast at n = " + std::to_string(sizes.back()),
               gainAtLast >= 0.97);
  if (sizes.size() > 3)
    report.timed("what lanes gain falls again as products grow",
                 formatDouble(mostGain, 3) + " times at n = " + std::to_string(mostAt) + ", " +
                     formatDouble(gainAtLast, 3) + " at " + std::to_string(sizes.back()),
                 mostGain > gainAtLast);
}

} // namespace sprig::cli
