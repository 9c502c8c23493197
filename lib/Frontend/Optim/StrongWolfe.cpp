#include "lib/Frontend/Optim/StrongWolfe.h"
#include <algorithm>
#include <cmath>
#include <utility>

namespace sprig::optim {

namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9; // of the conditions
constexpr int64_t kMost = 25;                        // trials

/// Where the cubic through two points has its minimum, within bounds; their middle where it has none.
double cubicMinimum(const LinePoint &a, const LinePoint &b, double low, double high) {
  double d = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t), square = d * d - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const LinePoint &left = a.t <= b.t ? a : b, &right = a.t <= b.t ? b : a;
  double root = std::sqrt(square);
  double at = right.t - (right.t - left.t) * ((right.slope + root - d) / (right.slope - left.slope + 2 * root));
  return std::min(std::max(at, low), high);
}
double cubicMinimum(const LinePoint &a, const LinePoint &b) {
  return cubicMinimum(a, b, std::min(a.t, b.t), std::max(a.t, b.t));
}

class Search {
public:
  Search(const LinePoint &start, double longest, double tolerance, const std::function<LinePoint(double)> &evaluate)
      : start(start), longest(longest), tolerance(tolerance), evaluate(evaluate) {}

  LineSearch run(double t) {
    bracket(t);
    if (!isDone) zoom();
    return {low, evaluations};
  }

private:
  const LinePoint &start;
  double longest, tolerance;
  const std::function<LinePoint(double)> &evaluate;
  LinePoint low, high; ///< an interval that has such a step; low is the one with the lower loss
  bool isDone = false; ///< low is such a step
  int64_t evaluations = 0, trials = 0;

  LinePoint tryAt(double t) {
    ++evaluations;
    return evaluate(t);
  }
  bool isTooHigh(const LinePoint &point) const { return point.loss > start.loss + kDecrease * point.t * start.slope; }
  bool isFlat(const LinePoint &point) const { return std::fabs(point.slope) <= -kCurvature * start.slope; }
  void between(const LinePoint &a, const LinePoint &b) {
    bool isFirstLower = a.loss <= b.loss;
    low = isFirstLower ? a : b;
    high = isFirstLower ? b : a;
  }

  /// Longer and longer steps until there is one between two.
  void bracket(double t) {
    LinePoint before = start, now = tryAt(t);
    for (; trials < kMost; ++trials) {
      if (isTooHigh(now) || (trials > 1 && now.loss >= before.loss)) return between(before, now);
      if (isFlat(now)) {
        low = now;
        isDone = true;
        return;
      }
      if (now.slope >= 0) return between(before, now);
      double next = cubicMinimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
      before = std::exchange(now, tryAt(next));
    }
    between(start, now);
  }

  void zoom() {
    bool isStuck = false; // the last trial was at an end of the interval
    for (; !isDone && trials < kMost && std::fabs(high.t - low.t) * longest >= tolerance; ++trials) {
      double least = std::min(low.t, high.t), most = std::max(low.t, high.t), margin = 0.1 * (most - least);
      double t = cubicMinimum(low, high);
      bool isAtEnd = std::min(most - t, t - least) < margin;
      if (isAtEnd && (isStuck || t >= most || t <= least)) {
        t = std::fabs(t - most) < std::fabs(t - least) ? most - margin : least + margin;
        isAtEnd = false;
      }
      isStuck = isAtEnd;
      LinePoint now = tryAt(t);
      if (isTooHigh(now) || now.loss >= low.loss) {
        between(low, now);
        continue;
      }
      isDone = isFlat(now);
      if (!isDone && now.slope * (high.t - low.t) >= 0) high = low;
      low = now;
    }
  }
};

} // namespace

LineSearch strongWolfe(const LinePoint &start, double t, double longest, double tolerance,
                       const std::function<LinePoint(double)> &evaluate) {
  return Search(start, longest, tolerance, evaluate).run(t);
}

} // namespace sprig::optim
