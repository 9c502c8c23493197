#include "tools/sprig/train/TrainProgress.h"
#include "tools/sprig/Report.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <unistd.h>

namespace sprig::cli {
namespace {

constexpr auto kRenew = std::chrono::milliseconds(100);
// A run that is not by epochs gets about this many lines where there is no terminal.
constexpr int64_t kLines = 10;

} // namespace

std::string formatDuration(double seconds) {
  constexpr double kLongest = 1e15; // what is left of a run that hardly moves
  auto whole = int64_t(std::llround(seconds > 0 ? std::min(seconds, kLongest) : 0));
  char text[64];
  if (whole < 60)
    std::snprintf(text, sizeof text, "%lld s", static_cast<long long>(whole));
  else if (whole < 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(whole / 60),
                  static_cast<long long>(whole % 60));
  else
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", static_cast<long long>(whole / 3600),
                  static_cast<long long>(whole / 60 % 60), static_cast<long long>(whole % 60));
  return text;
}

TrainProgress::TrainProgress(int64_t steps, int64_t stepsPerEpoch, int64_t samplesPerStep, int64_t done, int64_t every)
    : steps(steps), stepsPerEpoch(stepsPerEpoch), samplesPerStep(samplesPerStep), first(done), done(done),
      every(every                   ? every
            : steps > stepsPerEpoch ? stepsPerEpoch
                                    : std::max<int64_t>(steps / kLines, 1)),
      terminal(::isatty(2)), quiet(isQuiet()), start(Clock::now()), shown(start) {}

double TrainProgress::samplesPerSecond() const {
  double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return seconds > 0 ? double((done - first) * samplesPerStep) / seconds : 0;
}

void TrainProgress::step(const training::StepMetrics &metrics) {
  done = metrics.step + 1;
  if (quiet) return;
  if (since < 0) since = metrics.seconds - std::chrono::duration<double>(Clock::now() - start).count();
  waited += metrics.waitSeconds.value_or(0);
  averageLoss += double(metrics.loss);
  ++averaged;
  bool lasting = done == steps || metrics.evalLoss || done % every == 0;
  if (lasting) return show(metrics, true);
  if (!terminal) return;
  auto now = Clock::now();
  if (now - shown < kRenew) return;
  shown = now;
  show(metrics, false);
}

void TrainProgress::show(const training::StepMetrics &metrics, bool lasting) {
  double rate = samplesPerSecond();
  std::string line = "step " + std::to_string(done) + "/" + std::to_string(steps);
  if (steps > stepsPerEpoch)
    line = "epoch " + std::to_string(metrics.step / stepsPerEpoch + 1) + "/" +
           std::to_string((steps + stepsPerEpoch - 1) / stepsPerEpoch) + "  " + line;
  line += "  loss " + formatDouble(averageLoss / double(averaged), 4);
  if (metrics.evalLoss) line += "  eval loss " + formatDouble(*metrics.evalLoss, 4);
  if (metrics.evalAccuracy) line += "  accuracy " + formatDouble(*metrics.evalAccuracy * 100, 4) + "%";
  line += "  " + formatCount(rate, "samples/s");
  if (double span = metrics.seconds - since; span > 0)
    line += "  data " + formatDouble(std::min(100.0, 100 * waited / span), 2) + "%";
  if (done < steps && rate > 0) line += "  " + formatDuration(double((steps - done) * samplesPerStep) / rate) + " left";
  if (terminal)
    std::cerr << "\r\x1b[K" << line << (lasting ? "\n" : "") << std::flush;
  else
    std::cerr << line << '\n';
  lineOpen = terminal && !lasting;
  if (lasting) averageLoss = waited = 0, averaged = 0, since = metrics.seconds;
}

void TrainProgress::finish() {
  if (lineOpen) std::cerr << "\r\x1b[K" << std::flush;
  lineOpen = false;
}

} // namespace sprig::cli
