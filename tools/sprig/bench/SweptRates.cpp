#include "tools/sprig/bench/SweptRates.h"
#include <algorithm>
#include <cmath>

namespace sprig::cli {

static constexpr size_t kSeedsToJudge = 3;

const SweptRun *RateRuns::diverged() const {
  auto found = std::find_if(runs.begin(), runs.end(), [](const SweptRun *each) { return !each->outcome; });
  return found == runs.end() ? nullptr : *found;
}

double RateRuns::mean(double (*valueOf)(const SweptRun &)) const {
  double sum = 0;
  for (const SweptRun *each : runs) sum += valueOf(*each);
  return sum / double(runs.size());
}

double RateRuns::spread() const {
  double squares = 0, middle = accuracy();
  for (const SweptRun *each : runs) squares += std::pow(accuracyOf(*each) - middle, 2);
  return runs.size() > 1 ? std::sqrt(squares / double(runs.size() - 1)) : 0;
}

const RateRuns *bestRateOf(const RateCurve &curve, double from, double below) {
  const RateRuns *best = nullptr;
  for (const RateRuns &each : curve)
    if (each.rate >= from && each.rate < below && !each.diverged() && (!best || each.accuracy() > best->accuracy()))
      best = &each;
  return best;
}

// A larger batch takes fewer steps, so it has no use for smaller ones.
void judgeRates(const std::vector<RateCurve> &curves, ExperimentReport &report) {
  if (curves.size() < 2) return;
  const RateRuns *first = bestRateOf(curves.front()), *own = bestRateOf(curves.back());
  if (!first || !own) return;
  std::string found =
      "best are " + formatDouble(first->rate, 3) + " and, with the larger batch, " + formatDouble(own->rate, 3);
  if (first->runs.size() < kSeedsToJudge) {
    report.note(found + "; runs of one seed are no measure of what chance does: --seeds " +
                std::to_string(kSeedsToJudge) + " judges");
    return;
  }
  const RateRuns *below = bestRateOf(curves.back(), 0, first->rate), *above = bestRateOf(curves.back(), first->rate);
  auto text = [](const RateRuns *each) {
    return !each ? std::string("none")
                 : formatDouble(100 * each->accuracy(), 3) + "+-" + formatDouble(100 * each->spread(), 2) + "% at " +
                       formatDouble(each->rate, 3);
  };
  // By no more than two standard errors of the difference.
  double chance = 0;
  for (const RateRuns *each : {below, above})
    if (each) chance += each->spread() * each->spread() / double(each->runs.size());
  bool holds = !below || (above && below->accuracy() - above->accuracy() <= 2 * std::sqrt(chance));
  report.verdict("the best rate does not fall as the batch grows",
                 found + ": below the first's " + text(below) + ", from there on " + text(above), holds);
}

} // namespace sprig::cli
