#include "tools/sprig/bench/BenchRanks.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/Timing.h"
#include "tools/sprig/run/RandomInputs.h"
#include "tools/sprig/run/RankThreads.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>

namespace sprig::cli {
namespace {

constexpr int kBarrierRounds = 10;

class RankedCalls {
public:
  RankedCalls(const RankedModel &model, std::vector<Runner> &given, const std::map<std::string, data::Array> &arrays)
      : model(model), runners(given) {
    int first = model.where().isProcess ? model.where().rank : 0;
    for (size_t i = 0; i < runners.size(); ++i) calls.push_back(model.prepareFor(first + int(i), runners[i], arrays));
  }

  /// Nanoseconds of each sample, of so many calls, by the first rank of this process.
  std::vector<double> run(int64_t samples, int64_t callsOfSample) {
    std::vector<double> times;
    onRankThreads(runners, [&](size_t rank) {
      for (int64_t sample = 0; sample < samples; ++sample) {
        auto start = Clock::now();
        for (int64_t call = 0; call < callsOfSample; ++call) calls[rank].invoke();
        if (rank == 0) times.push_back(nsSince(start) / double(callsOfSample));
      }
    });
    return times;
  }

  /// The first rank's number, on all of them: all make as many calls.
  int64_t agree(int64_t own, const char *what) const {
    if (!model.where().isProcess) return own;
    std::vector<uint64_t> number = {model.where().rank == 0 ? uint64_t(own) : 0};
    runners.front().allReduce(number, SPRIG_RT_MAX, what);
    return int64_t(number[0]);
  }

private:
  const RankedModel &model;
  std::vector<Runner> &runners;
  std::vector<PreparedCall> calls;
};

} // namespace

int benchRanks(const Model &model, const Settings &settings, const BenchedRanks &options) {
  auto start = Clock::now();
  RankedModel ranked(model, options.mesh, settings);
  if (!ranked.isFirst()) setQuiet(true);
  BoundInputs inputs = bindInputs(ranked.inputSpecs(), options.inputs, options.seed, settings);
  std::vector<Runner> runners = ranked.runners(inputs.entry);
  double loadNs = nsSince(start);
  drawIndices(runners.front(), options.inputs, options.seed, inputs.arrays);
  ranked.join(runners);
  RankedCalls calls(ranked, runners, inputs.arrays);

  // The first ones wake threads and fill caches.
  calls.run(3, 1);
  std::vector<double> tried = calls.run(5, 1);
  double each = *std::min_element(tried.begin(), tried.end());
  // Reading the clock stays below a percent; a round is as long as it is to be.
  int64_t callsOfSample = calls.agree(std::clamp<int64_t>(int64_t(3000 / each), 1, 1 << 16), "calls of a sample");
  int64_t samples = calls.agree(
      std::max<int64_t>(1, int64_t(options.seconds * 1e9 / kBarrierRounds / (each * double(callsOfSample)))),
      "samples");
  std::vector<double> times;
  for (int round = 0; round < kBarrierRounds; ++round)
    for (double ns : calls.run(samples, callsOfSample)) times.push_back(ns);
  if (!ranked.isFirst()) return kDone;
  std::sort(times.begin(), times.end());

  double least = times.front(), median = times[times.size() / 2], most = times[size_t(double(times.size() - 1) * 0.99)];
  if (options.isJson) {
    Json document = {{"ranks", ranked.where().ranks}, {"processes", ranked.where().isProcess},
                     {"min_us", least / 1e3},         {"median_us", median / 1e3},
                     {"p99_us", most / 1e3},          {"calls_per_second", 1e9 / median},
                     {"load_ms", loadNs / 1e6},       {"peak_memory_bytes", double(peakMemory())}};
    std::cout << toText(document) << '\n';
    return kDone;
  }
  auto us = [](double ns) { return formatDouble(ns / 1e3, 4); };
  Table table({"min us", "median us", "p99 us", "calls/s"});
  table.add({us(least), us(median), us(most), formatDouble(std::round(1e9 / median), 6)});
  table.print();
  std::cout << ranked.describe() << ", read and loaded in " << formatNanoseconds(loadNs) << ", peak memory "
            << formatBytes(double(peakMemory())) << '\n';
  return kDone;
}

} // namespace sprig::cli
