// sprig bench lanes: products that do not depend on each other, one after the other with all threads in each, and side
// by side, over sizes; and what the scheduler chooses.
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/TimedProgram.h"
#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

namespace sprig::cli {
namespace {

constexpr int kGroups = 8, kProducts = 4;
constexpr double kPays = 1.05, kTolerance = 1.15;
constexpr int kMeasured = 10;

// Groups of products in a row, each on inputs of its own; the group's weights are small enough to keep values finite.
Model groupsModel(int64_t n) {
  std::string type = "tensor<" + std::to_string(n) + "x" + std::to_string(n) + "xf32>", arguments, body, results, types;
  for (int g = 0; g < kGroups; ++g) {
    std::string x = "%x" + std::to_string(g), w = "%w" + std::to_string(g);
    arguments += (g ? ", " : "") + x + ": " + type + ", " + w + ": " + type;
    for (int p = 0; p < kProducts; ++p) {
      std::string product = "%p" + std::to_string(g) + "_" + std::to_string(p);
      body += "  " + product + " = nn.matmul " + x + ", " + w + " : " + type + ", " + type + "\n";
      x = product;
    }
    results += (g ? ", " : "") + x;
    types += (g ? ", " : "") + type;
  }
  return textModel("groups of products of " + std::to_string(n), "func.func @main(" + arguments + ") -> (" + types +
                                                                     ") {\n" + body + "  return " + results + " : " +
                                                                     types + "\n}\n");
}

// A lane has at least one group.
int lanesFor(const ExperimentOptions &options) { return std::min(options.threads, kGroups); }

// The buffers that a command names in front of its types.
std::vector<std::string> buffersOf(const std::string &command) {
  std::vector<std::string> found;
  for (size_t at = command.find('%'); at != std::string::npos && at < command.find(" : ");
       at = command.find('%', at + 1))
    found.push_back(command.substr(at, command.find_first_not_of("0123456789", at + 1) - at));
  return found;
}

// A program of one lane, as the phase `schedule` leaves it, on several: what shares buffers, however far, stays
// together, so that no events are needed. The proof of order of the compilation would refuse anything else.
std::string spread(const std::string &program, int lanes) {
  std::istringstream lines(program);
  std::string text, line;
  std::vector<std::string> commands;
  std::map<std::string, size_t> groupOf; // of buffers
  std::vector<std::string> groups;
  bool inLane = false;
  while (std::getline(lines, line)) {
    if (line.find("exec.lane on") != std::string::npos) {
      inLane = true;
      text += "@lanes@\n";
    } else if (inLane && line == "    }") {
      inLane = false;
    } else if (inLane) {
      commands.push_back(line);
    } else {
      text += line + "\n";
    }
  }
  // Until nothing moves: a command's buffers are of one group.
  std::vector<size_t> own(commands.size());
  for (size_t i = 0; i < own.size(); ++i) own[i] = i;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < commands.size(); ++i)
      for (const std::string &buffer : buffersOf(commands[i])) {
        size_t least = std::min(groupOf.try_emplace(buffer, own[i]).first->second, own[i]);
        moved |= least != own[i] || least != groupOf[buffer];
        own[i] = groupOf[buffer] = least;
      }
  }
  std::map<size_t, std::string> byGroup;
  for (size_t i = 0; i < commands.size(); ++i) byGroup[own[i]] += commands[i] + "\n";
  std::vector<std::string> ofLane(static_cast<size_t>(lanes));
  size_t next = 0;
  for (auto &[group, list] : byGroup) ofLane[next++ % ofLane.size()] += list;
  std::string all;
  for (const std::string &list : ofLane)
    if (!list.empty()) all += "    exec.lane on @cpu {\n" + list + "    }\n";
  size_t place = text.find("@lanes@\n");
  return place == std::string::npos ? program : text.replace(place, 8, all);
}

struct Ways {
  std::unique_ptr<TimedProgram> oneThread, oneLane, lanes, chosen;
};

Ways compileWays(int64_t n, const ExperimentOptions &options) {
  Model model = groupsModel(n);
  Settings settings = options.settings;
  settings.lanes = 1;
  settings.threads = 1;
  Ways ways;
  ways.oneThread = std::make_unique<TimedProgram>(model, settings);
  settings.threads = options.threads;
  ways.oneLane = std::make_unique<TimedProgram>(model, settings);
  Settings scheduled = settings;
  scheduled.compileTo = "schedule";
  Settings on = settings;
  on.compileFrom = "plan";
  ways.lanes = std::make_unique<TimedProgram>(
      textModel(model.path + " on lanes",
                spread(compileToText(model, {EntryRequest{}}, scheduled, ""), lanesFor(options))),
      on);
  settings.lanes = options.threads;
  ways.chosen = std::make_unique<TimedProgram>(model, settings);
  return ways;
}

// What the scheduler's choice takes beside the better of one lane and of lanes.
double lostBy(const std::vector<double> &best) { return best[3] / std::min(best[1], best[2]); }

// Whether a second thread is there at once differs from moment to moment, and calls of a few microseconds tell: what
// seems to lose is measured again, all ways in turn as before.
std::vector<double> bestOf(const Ways &ways, double seconds) {
  std::vector<TimedProgram *> programs = {ways.oneThread.get(), ways.oneLane.get(), ways.lanes.get(),
                                          ways.chosen.get()};
  std::vector<double> best = bestInTurn(programs, 3, seconds);
  for (int i = 1; i < kMeasured && lostBy(best) > kTolerance; ++i) {
    std::vector<double> again = bestInTurn(programs, 3, seconds);
    for (size_t way = 0; way < best.size(); ++way) best[way] = std::min(best[way], again[way]);
  }
  return best;
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
    std::vector<double> best = bestOf(ways, n < 200 ? 0.1 : 0.4);
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
  report.verdict("the scheduler's choice is within 15% of the better of one lane and " + side,
                 formatDouble(worst, 3) + " times as long at n = " + std::to_string(worstAt), worst <= kTolerance);
  report.verdict("at the largest size lanes lose no more than 3% to one whose products share all threads",
                 formatDouble(gainAtLast, 3) + " times as fast at n = " + std::to_string(sizes.back()),
                 gainAtLast >= 0.97);
  if (sizes.size() > 3)
    report.verdict("what lanes gain falls again as products grow",
                   formatDouble(mostGain, 3) + " times at n = " + std::to_string(mostAt) + ", " +
                       formatDouble(gainAtLast, 3) + " at " + std::to_string(sizes.back()),
                   mostGain > gainAtLast);
}

} // namespace sprig::cli
