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

TrainProgress::TrainProgress(int64_t steps, const Epoch &epoch, int64_t done, int64_t every)
    : steps(steps), epoch(epoch), first(done), done(done),
      every(every                 ? every
            : steps > epoch.steps ? epoch.steps
                                  : std::max<int64_t>(steps / kLines, 1)),
      terminal(::isatty(2)), quiet(isQuiet()), start(Clock::now()), shown(start) {}

int64_t TrainProgress::samplesUpTo(int64_t step) const {
  return step / epoch.steps * epoch.samples + std::min(step % epoch.steps * epoch.samplesPerStep, epoch.samples);
}

double TrainProgress::samplesPerSecond() const {
  double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return seconds > 0 ? double(samplesUpTo(done) - samplesUpTo(first)) / seconds : 0;
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
  if (steps > epoch.steps)
    line = "epoch " + std::to_string(metrics.step / epoch.steps + 1) + "/" +
           std::to_string((steps + epoch.steps - 1) / epoch.steps) + "  " + line;
  line += "  loss " + formatDouble(averageLoss / double(averaged), 4);
  if (metrics.evalLoss) line += "  eval loss " + formatDouble(*metrics.evalLoss, 4);
  if (metrics.evalAccuracy) line += "  accuracy " + formatDouble(*metrics.evalAccuracy * 100, 4) + "%";
  line += "  " + formatCount(rate, "samples/s");
  if (double span = metrics.seconds - since; span > 0)
    line += "  data " + formatDouble(std::min(100.0, 100 * waited / span), 2) + "%";
  if (done < steps && rate > 0)
    line += "  " + formatDuration(double(samplesUpTo(steps) - samplesUpTo(done)) / rate) + " left";
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
