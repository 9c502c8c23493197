#include "lib/Frontend/Trainer/Report.h"
#include "lib/Data/File.h"
#include "lib/Data/Listed.h"
#include "lib/Frontend/Base/DevicesUsed.h"
#include "lib/Machine/Verdict.h"
#include "lib/Plot/TrainingChart.h"
#include "runtime/base/Decimal.h"
#include <cstdio>

namespace sprig::frontend {

static std::string number(double value) { return decimal::general(value, 4); }

void printLine(const std::string &text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

// "epoch 1/5  loss 0.5312  val loss 0.41  val acc 0.853  1.2 s"
static std::string describeEpoch(const EpochReport &report, int64_t epochs) {
  std::string text =
      "epoch " + std::to_string(report.epoch + 1) + "/" + std::to_string(epochs) + "  loss " + number(report.loss);
  if (report.evalLoss) text += "  val loss " + number(*report.evalLoss);
  if (report.accuracy) text += "  val acc " + decimal::fixed(*report.accuracy, 3);
  for (auto &[name, value] : report.metrics) text += "  " + name + " " + number(value);
  return text + "  " + decimal::fixed(report.seconds, 2) + " s";
}

void TrainerReport::onStep(const training::StepMetrics &line) {
  result.losses.push_back(line.loss);
  if (options.onStep && options.logEvery > 0 && line.step % options.logEvery == 0)
    options.onStep({line.step, line.loss, line.gradNorm, line.lr});
}

bool TrainerReport::onEpoch(const training::EpochSummary &epoch) {
  EpochReport report;
  report.epoch = epoch.number;
  report.steps = epoch.steps;
  report.loss = epoch.loss;
  if (epoch.evaluation) {
    report.evalLoss = epoch.evaluation->loss;
    report.accuracy = epoch.evaluation->accuracy;
  }
  report.metrics = epoch.metrics;
  report.lr = epoch.lr;
  report.seconds = epoch.seconds;
  report.samplesPerSecond = double(epoch.samples) / report.seconds;
  seconds += report.seconds;
  samples += epoch.samples;
  if (options.print) printLine(describeEpoch(report, epochs));
  result.epochs.push_back(report);
  bool goesOn = true;
  for (const auto &callback : options.onEpochEnd)
    if (callback && !callback(report)) goesOn = false;
  return goesOn;
}

void TrainerReport::onWarning(const std::string &text) {
  if (options.print) std::fprintf(stderr, "warning: %s\n", text.c_str());
}

std::vector<double> TrainerReport::state() const {
  std::vector<double> numbers;
  for (const auto &callback : options.onEpochEnd)
    if (const WatchedLoss *watched = watchedOf(callback))
      numbers.insert(numbers.end(), {watched->best, double(watched->without)});
  return numbers;
}

void TrainerReport::restore(std::span<const double> numbers) {
  for (const auto &callback : options.onEpochEnd)
    if (WatchedLoss *watched = watchedOf(callback); watched && numbers.size() >= 2) {
      *watched = {numbers[0], int64_t(numbers[1])};
      numbers = numbers.subspan(2);
    }
}

void TrainerReport::end() {
  if (!result.epochs.empty()) {
    result.secondsPerEpoch = seconds / double(result.epochs.size());
    result.samplesPerSecond = double(samples) / seconds;
    if (options.print) printLine(describeResult(result));
  }
  const machine::TimeShares shares =
      machine::sharesOfRun(result.time.seconds, result.time.waiting, result.time.computing);
  if (std::string text = machine::dataWarning(shares, int64_t(result.losses.size())); !text.empty()) onWarning(text);
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
