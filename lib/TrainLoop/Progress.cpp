#include "lib/TrainLoop/Progress.h"
#include "runtime/base/Decimal.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <unistd.h>

namespace sprig::training {
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

Progress::Progress(int64_t steps, const BatchSource::Epoch &epoch, std::optional<int64_t> every)
    : steps(steps), epoch(epoch), every(every), terminal(::isatty(2)), start(Clock::now()), shown(start) {
  if (every == 0) this->every = steps > epoch.steps ? epoch.steps : std::max<int64_t>(steps / kLines, 1);
}

void Progress::onStep(const StepMetrics &metrics) {
  if (first < 0) first = metrics.step;
  done = metrics.step + 1;
  if (since < 0) since = metrics.seconds - secondsOf(Clock::now() - start);
  waited += metrics.waitSeconds.value_or(0);
  averageLoss += double(metrics.loss);
  ++averaged;
  bool lasting = every && (done == steps || metrics.evalLoss || done % *every == 0);
  if (lasting) return show(metrics, true);
  if (!terminal) return;
  auto now = Clock::now();
  if (now - shown < kRenew) return;
  shown = now;
  show(metrics, false);
}

void Progress::show(const StepMetrics &metrics, bool lasting) {
  double seconds = secondsOf(Clock::now() - start);
  double rate = seconds > 0 ? double(epoch.samplesUpTo(done) - epoch.samplesUpTo(first)) / seconds : 0;
  std::string line = "step " + std::to_string(done) + "/" + std::to_string(steps);
  if (steps > epoch.steps)
    line = "epoch " + std::to_string(metrics.step / epoch.steps + 1) + "/" +
           std::to_string((steps + epoch.steps - 1) / epoch.steps) + "  " + line;
  line += "  loss " + decimal::general(averageLoss / double(averaged), 4);
  if (metrics.evalLoss) line += "  eval loss " + decimal::general(*metrics.evalLoss, 4);
  if (metrics.evalAccuracy) line += "  accuracy " + decimal::general(*metrics.evalAccuracy * 100, 4) + "%";
  line += "  " + decimal::scaled(rate, 1000, {"", "K", "M", "G", "T"}) + "samples/s";
  if (double span = metrics.seconds - since; span > 0)
    line += "  data " + decimal::general(std::min(100.0, 100 * waited / span), 2) + "%";
  if (done < steps && rate > 0)
    line += "  " + formatDuration(double(epoch.samplesUpTo(steps) - epoch.samplesUpTo(done)) / rate) + " left";
  if (terminal)
    std::cerr << "\r\x1b[K" << line << (lasting ? "\n" : "") << std::flush;
  else
    std::cerr << line << '\n';
  lineOpen = terminal && !lasting;
  if (lasting) averageLoss = waited = 0, averaged = 0, since = metrics.seconds;
}

void Progress::onEnd() {
  if (lineOpen) std::cerr << "\r\x1b[K" << std::flush;
  lineOpen = false;
}

} // namespace sprig::training
