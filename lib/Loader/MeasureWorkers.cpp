#include "lib/Loader/MeasureWorkers.h"
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace sprig::data {
namespace {

constexpr int kTried[] = {0, 1, 2, 4, 8};
constexpr double kSeconds = 0.05; // of each
constexpr double kAsGood = 0.95;  // of the most batches a second

// From the start on, and in whole rounds of all workers: the batches of a round come nearly together.
double batchesPerSecond(const Dataset &set, const LoaderOptions &options) {
  using Clock = std::chrono::steady_clock;
  Loader loader(set, options, Source());
  const int64_t round = std::max(options.workers, 1);
  int64_t batches = 0;
  double seconds = 0;
  auto start = Clock::now();
  auto at = loader.begin();
  while (seconds < kSeconds || batches < 2 * round || batches % round) {
    if (at == loader.end()) at = loader.begin();
    ++batches;
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
    ++at;
  }
  return double(batches) / seconds;
}

} // namespace

int measureWorkers(const Dataset &set, LoaderOptions options) {
  // Draws nothing from the process's random numbers: another order, and what transformations draw, cost the same.
  if (options.shuffle) options.shuffle = options.shuffle.seed().value_or(0);
  options.seed = options.seed.value_or(0);
  std::vector<std::pair<int, double>> rates;
  double best = 0;
  for (int workers : kTried) {
    options.workers = workers;
    rates.push_back({workers, batchesPerSecond(set, options)});
    best = std::max(best, rates.back().second);
  }
  return std::find_if(rates.begin(), rates.end(), [&](auto &rate) { return rate.second >= kAsGood * best; })->first;
}

} // namespace sprig::data
