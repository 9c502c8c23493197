// sprig bench pipeline: a network in two stages on two shares of the cores. A batch goes through in micro-batches, so
// that the second stage computes one while the first has the next: what that gains, and how long stages wait.
#include "tools/sprig/bench/Shares.h"
#include "lib/Data/Largest.h"
#include <algorithm>
#include <cmath>
#include <memory>

namespace sprig::cli {
namespace {

constexpr int kStages = 2, kParts[] = {1, 2, 4, 8};
// Of the largest result: sums over as many numbers, whatever the number of rows.
constexpr double kMostDifference = 1e-5;
// Handing over commands and values takes a little more for each micro-batch.
constexpr double kMostBeyond = 0.1, kMostIdleApart = 0.03;
// Of the time in turn, which two stages side by side could halve.
constexpr double kMostMeasured = 0.9;

struct StagedNetwork {
  std::string name;
  std::vector<int64_t> stages[kStages]; ///< widths; the last of one is the first of the next
};

const StagedNetwork kNetworks[] = {
    {"784-512-256 and 256-128-10", {{784, 512, 256}, {256, 128, 10}}}, // 567434 parameters
    {"stages of equal work, 512-512-512 each", {{512, 512, 512}, {512, 512, 512}}},
};

// "%w0", "%b0", ...: of all layers of both stages.
std::string layerName(const char *what, int layer) { return "%" + std::string(what) + std::to_string(layer); }

// One micro-batch, from %xI to %yI: dense layers with ReLU between them, each stage in its place.
std::string writePart(const StagedNetwork &network, int part, int64_t samples, bool placed) {
  std::string body, number = std::to_string(part), value = "%x" + number;
  int layer = 0;
  for (int stage = 0; stage < kStages; ++stage) {
    std::string on = placed ? placedOn(stage) : "";
    const std::vector<int64_t> &widths = network.stages[stage];
    for (size_t i = 0; i + 1 < widths.size(); ++i, ++layer) {
      bool isLast = stage == kStages - 1 && i + 2 == widths.size();
      std::string tail = number + "_" + std::to_string(layer), type = matrixType(samples, widths[i + 1]);
      body += "  %p" + tail + " = nn.matmul " + value + ", " + layerName("w", layer) + on + " : " +
              matrixType(samples, widths[i]) + ", " + matrixType(widths[i], widths[i + 1]) + "\n";
      value = isLast ? "%y" + number : "%s" + tail;
      body += "  " + value + " = nn.add %p" + tail + ", " + layerName("b", layer) + on + " : " + type + ", " +
              matrixType(1, widths[i + 1]) + "\n";
      if (isLast) break;
      body += "  %r" + tail + " = nn.relu " + value + on + " : " + type + "\n";
      value = "%r" + tail;
    }
  }
  return body;
}

// The second stage joins the results.
Model stagedModel(const StagedNetwork &network, int64_t batch, int parts, bool placed) {
  int64_t outputs = network.stages[kStages - 1].back();
  std::string body, arguments, results, types;
  for (int part = 0; part < parts; ++part) {
    int64_t samples = shareOf(batch, parts, part);
    std::string number = std::to_string(part);
    arguments += "%x" + number + ": " + matrixType(samples, network.stages[0].front()) + ", ";
    body += writePart(network, part, samples, placed);
    types += (part ? ", " : "") + matrixType(samples, outputs);
    results += (part ? ", %y" : "%y") + number;
  }
  std::string result = matrixType(batch, outputs);
  if (parts > 1) {
    body += "  %y = nn.concat " + results + " axis = 0" + (placed ? placedOn(kStages - 1) : "") + " : " + types + "\n";
    results = "%y";
  }
  int layer = 0;
  for (const std::vector<int64_t> &widths : network.stages)
    for (size_t i = 0; i + 1 < widths.size(); ++i, ++layer)
      arguments += (layer ? ", " : "") + layerName("w", layer) + ": " + matrixType(widths[i], widths[i + 1]) + ", " +
                   layerName("b", layer) + ": " + matrixType(1, widths[i + 1]);
  return textModel("stages", "func.func @main(" + arguments + ") -> " + result + " {\n" + body + "  return " + results +
                                 " : " + result + "\n}\n");
}

// What share of two devices' time is not `work`.
double idleShare(double work, double seconds) { return 1 - work / (kStages * seconds); }

// One network over all numbers of micro-batches.
void benchNetwork(const StagedNetwork &network, int64_t batch, const ExperimentOptions &options,
                  ExperimentReport &report) {
  std::vector<std::unique_ptr<TimedProgram>> programs;
  std::vector<TimedProgram *> turns;
  std::vector<int> parts;
  auto add = [&](int count, bool placed, const Settings &settings) {
    turns.push_back(
        programs.emplace_back(std::make_unique<TimedProgram>(stagedModel(network, batch, count, placed), settings))
            .get());
    parts.push_back(count);
  };
  // One device is a share of the cores, too.
  Settings alone = options.settings;
  alone.threads = std::max(1, options.threads / kStages);
  add(1, false, alone);
  for (int count : kParts)
    if (count <= batch) add(count, true, onShares(options, kStages));
  std::vector<double> best = bestInTurn(turns, 5, 0.3);

  report.table(network.name, {"devices", "micro-batches", "us", "times one device", "simulated us", "from stages us",
                              "idle %", "idle % from stages"});
  std::vector<int64_t> shape = {batch, network.stages[0].front()};
  std::vector<float> expected = resultOf(*turns[0], shape, 1);
  report.row({1, 1, best[0] * 1e6, 1.0, simulatedSeconds(*turns[0]) * 1e6, nullptr, nullptr, nullptr});
  double difference = 0, beyond = 0, idleApart = 0, inTurn = 0, last = 0;
  std::vector<double> stages;
  for (size_t i = 1; i < turns.size(); ++i) {
    int count = parts[i];
    difference = data::largest(difference, largestDifference(expected, resultOf(*turns[i], shape, count)));
    SimulatedCall call = simulatedCall(*turns[i]);
    if (i == 1) stages = call.busy, inTurn = call.seconds;
    double work = stages[0] + stages[1];
    // The first micro-batch goes through both stages; behind it one ends each time the longer one is through.
    double derived = (work + (count - 1) * std::max(stages[0], stages[1])) / count;
    double idle = idleShare(work, call.seconds), derivedIdle = idleShare(work, derived);
    beyond = data::largest(beyond, std::abs(call.seconds / derived - 1));
    idleApart = data::largest(idleApart, std::abs(idle - double(kStages - 1) / (count + kStages - 1)));
    last = call.seconds;
    report.row({kStages, count, best[i] * 1e6, best[i] / best[0], call.seconds * 1e6, derived * 1e6, 100 * idle,
                100 * derivedIdle});
  }
  report.verdict("in micro-batches or whole, the results are the same",
                 network.name + ": they differ by " + formatDouble(difference, 2) + " of the largest at most",
                 difference <= kMostDifference);
  report.verdict("simulated, a batch takes what the stages' times say (within 10%)",
                 network.name + ": " + formatDouble(100 * beyond, 2) + "% apart at most", beyond <= kMostBeyond);
  report.verdict("simulated, micro-batches take less than stages in turn",
                 network.name + ": " + formatDouble(last * 1e6, 4) + " us in " + std::to_string(parts.back()) +
                     ", in turn " + formatDouble(inTurn * 1e6, 4),
                 last < inTurn);
  if (network.stages[0] != network.stages[1]) return;
  report.verdict("of stages of equal work (p - 1) / (m + p - 1) is idle, simulated",
                 formatDouble(100 * idleApart, 2) + " points apart at most", idleApart <= kMostIdleApart);
  if (options.threads == 1 || turns.size() < 3) return;
  double quickest = *std::min_element(best.begin() + 2, best.end()) / best[1];
  report.timed("measured, stages of equal work take less in micro-batches than in turn",
               formatDouble(quickest, 3) + " times as long, by the formula " +
                   formatDouble(double(parts.back() + kStages - 1) / (kStages * parts.back()), 3),
               quickest <= kMostMeasured);
}

} // namespace

void benchPipeline(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t batch = options.n ? options.n : 256;
  for (const StagedNetwork &network : kNetworks) benchNetwork(network, batch, options, report);
  if (options.threads == 1) report.note("one thread: both shares have it between them, so there is nothing to gain");
}

} // namespace sprig::cli
