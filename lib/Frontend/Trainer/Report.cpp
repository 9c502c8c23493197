#include "lib/Frontend/Trainer/Report.h"
#include "lib/Data/File.h"
#include "lib/Data/Listed.h"
#include "lib/Frontend/Base/DevicesUsed.h"
#include "lib/Plot/TrainingChart.h"
#include "runtime/base/Decimal.h"
#include <cstdio>

namespace sprig::frontend {

static std::string number(double value) { return decimal::general(value, 4); }

std::string describeEpoch(const EpochReport &report, int64_t epochs) {
  std::string text =
      "epoch " + std::to_string(report.epoch + 1) + "/" + std::to_string(epochs) + "  loss " + number(report.loss);
  if (report.evalLoss) text += "  val loss " + number(*report.evalLoss);
  if (report.accuracy) text += "  val acc " + decimal::fixed(*report.accuracy, 3);
  return text + "  " + decimal::fixed(report.seconds, 2) + " s";
}

// The devices that operations have run on. Several ranks are named with theirs: "rank 0: cpu:0, ranks 1-3: cpu:1".
static std::string describeDevices(const FitResult &result) {
  if (result.ranks == 1) return UsedDevice::list();
  std::vector<std::string> ranks;
  for (size_t first = 0, end = 0; first < result.devices.size(); first = end) {
    const Device &device = result.devices[first];
    while (end < result.devices.size() && result.devices[end] == device) ++end;
    ranks.push_back((end == first + 1 ? "rank " : "ranks ") + std::to_string(first) +
                    (end == first + 1 ? "" : "-" + std::to_string(end - 1)) + ": " + device.name());
  }
  return data::listed(ranks, 8);
}

std::string describeResult(const FitResult &result) {
  std::string text = "loss " + number(result.epochs.empty() ? 0 : result.epochs.back().loss);
  if (!result.epochs.empty()) {
    const EpochReport &last = result.epochs.back();
    if (last.evalLoss) text = "test loss " + number(*last.evalLoss);
    if (last.accuracy) text = "test acc " + decimal::fixed(*last.accuracy, 2);
  }
  return text + ", " + decimal::fixed(result.secondsPerEpoch, 1) + " s/epoch, " +
         decimal::fixed(result.samplesPerSecond, 0) + " samples/s, on [" + describeDevices(result) + "]";
}

static bool knowsAccuracy(const std::vector<SweepRun> &runs) {
  for (const SweepRun &run : runs)
    if (run.result.epochs.empty() || !run.result.epochs.back().accuracy) return false;
  return true;
}

static double measured(const SweepRun &run, bool accuracy) {
  if (run.result.epochs.empty()) return 0;
  const EpochReport &last = run.result.epochs.back();
  return accuracy ? *last.accuracy : last.evalLoss.value_or(last.loss);
}

static double secondsOf(const SweepRun &run) {
  double seconds = 0;
  for (const EpochReport &epoch : run.result.epochs) seconds += epoch.seconds;
  return seconds;
}

void plotSweep(const std::filesystem::path &path, const std::vector<SweepRun> &runs) {
  bool accuracy = knowsAccuracy(runs);
  plot::Sweep sweep{"learning rates", "", "lr", true, accuracy ? "accuracy" : "loss", {}};
  for (const SweepRun &run : runs)
    sweep.points.push_back({decimal::general(run.lr), run.lr, measured(run, accuracy), secondsOf(run)});
  data::writeFile(path, plot::toSvg(plot::sweepChart(sweep)));
}

std::string sweepTable(const std::vector<SweepRun> &runs) {
  bool accuracy = knowsAccuracy(runs);
  std::string text;
  auto row = [&](const std::string &lr, const std::string &loss, const std::string &score, const std::string &seconds) {
    char line[128];
    std::snprintf(line, sizeof line, "%10s %10s %10s %10s\n", lr.c_str(), loss.c_str(), score.c_str(), seconds.c_str());
    text += line;
  };
  row("lr", "loss", accuracy ? "acc" : "val loss", "s");
  for (const SweepRun &run : runs) {
    double loss = run.result.epochs.empty() ? 0 : run.result.epochs.back().loss;
    row(number(run.lr), number(loss), number(measured(run, accuracy)), decimal::fixed(secondsOf(run), 2));
  }
  return text;
}

} // namespace sprig::frontend
