#include "lib/Machine/Latency.h"
#include "lib/Machine/Rates.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

namespace sprig::machine {

static void linkShuffled(int64_t *data, int64_t lines) {
  std::vector<int64_t> order(static_cast<size_t>(lines));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937_64(7));
  for (int64_t i = 0; i < lines; ++i) data[order[size_t(i)] * 8] = order[size_t((i + 1) % lines)] * 8;
}

// Shuffling what no cache holds takes long. For a count of lines with the prime factors 2, 3, 5 and 7 only, x -> a x +
// c is one cycle when a - 1 is a multiple of 4, 3, 5 and 7 and c of none of them: jumps of about the golden section,
// which no prefetcher foresees, written in one pass.
static void linkInJumps(int64_t *data, int64_t lines) {
  int64_t a = int64_t(0.618 * double(lines) / 420) * 420 + 1, c = 11;
  for (int64_t i = 0; i < lines; ++i) data[i * 8] = (i * a + c) % lines * 8;
}

double chaseSeconds(int64_t workingSet) {
  int64_t base = 1;
  while (base * 8 * 64 <= workingSet) base *= 2;
  int64_t lines = base * std::clamp<int64_t>(workingSet / (base * 64), 1, 7);
  MeasuredMemory memory(lines * 64);
  int64_t *data = memory.as<int64_t>();
  lines < (1 << 16) ? linkShuffled(data, lines) : linkInJumps(data, lines);
  constexpr int64_t kSteps = 1 << 13;
  int rounds = int(std::clamp<int64_t>(2 * lines / kSteps, 12, 32));
  int64_t at = 0;
  double best = quickestRound(1, rounds, [&](int) {
    for (int64_t i = 0; i < kSteps; ++i) at = data[at];
    asm volatile("" : : "r"(at) : "memory");
  });
  return best / kSteps;
}

std::vector<LatencyPoint> latencyCurve(int64_t largest, int sweeps) {
  std::vector<LatencyPoint> points;
  for (int64_t base = 4 << 10; base <= largest; base *= 2)
    for (int64_t quarter = 4; quarter < 8 && base * quarter / 4 <= largest; quarter += base < (4 << 20) ? 1 : 2)
      points.push_back({base * quarter / 4, 1e30});
  // Who disturbs one point may be gone when it has its second turn.
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (LatencyPoint &point : points) point.ns = std::min(point.ns, chaseSeconds(point.workingSet) * 1e9);
  return points;
}

std::vector<int64_t> findKnees(std::vector<LatencyPoint> points) {
  // A larger set is never quicker: what says so was disturbed.
  for (size_t i = points.size(); i-- > 1;) points[i - 1].ns = std::min(points[i - 1].ns, points[i].ns);
  std::vector<int64_t> knees;
  for (size_t i = 0; i + 1 < points.size();) {
    size_t start = i;
    auto steep = [&](size_t at) {
      double doublings = std::log2(double(points[at + 1].workingSet) / double(points[at].workingSet));
      return std::log2(points[at + 1].ns / points[at].ns) > 0.2 * doublings;
    };
    while (i + 1 < points.size() && steep(i)) ++i;
    if (i == start) {
      ++i;
      continue;
    }
    if (points[i].ns < 1.5 * points[start].ns) continue;
    // Half way up, in ratios, the level below holds as much as it can.
    double middle = std::sqrt(points[start].ns * points[i].ns);
    size_t knee = start;
    while (points[knee + 1].ns < middle) ++knee;
    knees.push_back(points[knee].workingSet);
  }
  return knees;
}

namespace {

// The step is not known here, so that there is one loop for all and no vector of neighbours. Four sums hide the
// latency of the additions.
[[gnu::noinline]] int64_t sum(const int32_t *data, int64_t count, int64_t step) {
  int64_t a = 0, b = 0, c = 0, d = 0, i = 0;
  for (; i + 4 <= count; i += 4, data += 4 * step) {
    a += data[0];
    b += data[step];
    c += data[2 * step];
    d += data[3 * step];
  }
  for (; i < count; ++i, data += step) a += *data;
  return a + b + c + d;
}

void keepInteger(int64_t value) { asm volatile("" : : "r"(value) : "memory"); }

} // namespace

double stridedNs(int64_t count, int64_t stride) {
  MeasuredMemory memory(count * std::abs(stride) * int64_t(sizeof(int32_t)));
  const int32_t *first = memory.as<int32_t>() + (stride < 0 ? (count - 1) * -stride : 0);
  return quickestRound(1, 16, [&](int) { keepInteger(sum(first, count, stride)); }) / double(count) * 1e9;
}

double matrixNs(int64_t size, int64_t columns, bool byColumn) {
  MeasuredMemory memory(size * size * int64_t(sizeof(int32_t)));
  const int32_t *data = memory.as<int32_t>();
  double seconds = quickestRound(1, 12, [&](int) {
    if (byColumn)
      for (int64_t c = 0; c < columns; ++c) keepInteger(sum(data + c, size, size));
    else
      for (int64_t r = 0; r < size; ++r) keepInteger(sum(data + r * size, columns, 1));
  });
  return seconds / double(size * columns) * 1e9;
}

} // namespace sprig::machine
