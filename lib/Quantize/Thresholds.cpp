// Ranges that leave rare numbers out, so that the others get smaller steps.
#include "lib/Quantize/Observer.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sprig::quantize {
namespace {

double total(const std::vector<double> &bins) { return std::accumulate(bins.begin(), bins.end(), 0.0); }

/// The number below which are `amount` of what was counted: the near end of the bin in which it lies.
double lowerBound(const Observer &observer, double amount) {
  double width = observer.centre(1) - observer.centre(0), sum = 0;
  for (int i = 0; i < Observer::kBins; ++i) {
    sum += observer.histogram()[size_t(i)];
    if (sum > amount) return observer.centre(i) - width / 2;
  }
  return observer.extremes().high;
}
double upperBound(const Observer &observer, double amount) {
  double width = observer.centre(1) - observer.centre(0), sum = 0;
  for (int i = Observer::kBins - 1; i >= 0; --i) {
    sum += observer.histogram()[size_t(i)];
    if (sum > amount) return observer.centre(i) + width / 2;
  }
  return observer.extremes().low;
}

double squaredError(const Observer &observer, Range range, const QuantizerType &type) {
  Quantizer quantizer = quantizerOf(range, type);
  double scale = quantizer.scale, sum = 0;
  for (int i = 0; i < Observer::kBins; ++i) {
    double count = observer.histogram()[size_t(i)];
    if (count == 0) continue;
    double x = observer.centre(i);
    double q = std::clamp(std::nearbyint(x / scale) + quantizer.zero, double(type.least()), double(type.most()));
    double error = (q - quantizer.zero) * scale - x;
    sum += count * error * error;
  }
  return sum;
}

/// How often absolute values are in each of the equal parts from 0 to the largest.
std::vector<double> magnitudes(const Observer &observer, double largest) {
  std::vector<double> result(Observer::kBins);
  for (int i = 0; i < Observer::kBins; ++i) {
    int bin = int(std::abs(observer.centre(i)) / largest * Observer::kBins);
    result[size_t(std::min(bin, Observer::kBins - 1))] += observer.histogram()[size_t(i)];
  }
  return result;
}

/// Divergence of the first `size` bins in `levels` steps from the same with all that is above in the last one. The
/// steps have no share of what is above, so that a range that leaves out most numbers is far from them.
double divergence(const std::vector<double> &bins, int size, int levels) {
  double above = std::accumulate(bins.begin() + size, bins.end(), 0.0);
  std::vector<double> p(bins.begin(), bins.begin() + size), q(p.size());
  p.back() += above;
  for (int level = 0; level < levels; ++level) {
    int first = int(int64_t(level) * size / levels), last = int(int64_t(level + 1) * size / levels), filled = 0;
    double sum = 0;
    for (int i = first; i < last; ++i) sum += bins[size_t(i)], filled += p[size_t(i)] != 0;
    for (int i = first; i < last; ++i)
      if (p[size_t(i)] != 0) q[size_t(i)] = sum / filled;
  }
  double all = total(p);
  if (all == 0 || total(q) == 0) return std::numeric_limits<double>::infinity();
  // Numbers that quantisation leaves no room for weigh much, but not without bound.
  constexpr double kLeast = 1e-4;
  double result = 0;
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] > 0) result += p[i] / all * std::log(p[i] / std::max(q[i], kLeast));
  return result;
}

} // namespace

Range percentileRange(const Observer &observer, double percentile, bool symmetric) {
  Range all = observer.extremes();
  double out = total(observer.histogram()) * (1 - percentile / 100);
  // A side on which nothing lies has nothing to leave out.
  bool oneSided = all.low >= 0 || all.high <= 0;
  if (symmetric || oneSided) {
    double low = all.low >= 0 ? all.low : lowerBound(observer, oneSided ? out : out / 2);
    double high = all.high <= 0 ? all.high : upperBound(observer, oneSided ? out : out / 2);
    return {float(std::max(low, double(all.low))), float(std::min(high, double(all.high)))};
  }
  return {std::max(float(lowerBound(observer, out / 2)), all.low),
          std::min(float(upperBound(observer, out / 2)), all.high)};
}

Range leastErrorRange(const Observer &observer, const QuantizerType &type) {
  constexpr int kSteps = 64;
  constexpr float kSmallest = 0.1f; // of the whole range
  Range all = observer.extremes(), best = {std::min(all.low, 0.0f), std::max(all.high, 0.0f)};
  all = best;
  double least = squaredError(observer, best, type);
  auto attempt = [&](Range range) {
    double error = squaredError(observer, range, type);
    if (error < least) least = error, best = range;
  };
  auto share = [&](int step) { return 1 - (1 - kSmallest) * float(step) / kSteps; };
  for (int step = 1; step <= kSteps; ++step) attempt({all.low * share(step), all.high * share(step)});
  // Each end by itself, from the best of both.
  if (!type.symmetric)
    for (int round = 0; round < 2; ++round) {
      Range start = best;
      for (int step = 0; step <= kSteps; ++step) attempt({all.low * share(step), start.high});
      start = best;
      for (int step = 0; step <= kSteps; ++step) attempt({start.low, all.high * share(step)});
    }
  return best;
}

Range leastDivergenceRange(const Observer &observer, const QuantizerType &type) {
  Range all = observer.extremes();
  // A few numbers do not say how often each occurs.
  if (total(observer.histogram()) < Observer::kBins) return all;
  double largest = std::max(std::abs(all.low), std::abs(all.high));
  bool oneSided = !type.symmetric && (all.low >= 0 || all.high <= 0);
  int levels = oneSided ? 256 : 128;
  std::vector<double> bins = magnitudes(observer, largest);
  bins[0] = bins[1]; // zeros, which every quantiser has exactly, would outweigh all else behind a ReLU
  int best = Observer::kBins;
  double least = divergence(bins, best, levels);
  for (int size = levels; size < Observer::kBins; size += 8) {
    double found = divergence(bins, size, levels);
    if (found < least) least = found, best = size;
  }
  float bound = float(largest * best / Observer::kBins);
  return {std::max(all.low, -bound), std::min(all.high, bound)};
}

} // namespace sprig::quantize
