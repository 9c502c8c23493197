// Steps that nobody waits for: the queue is bounded, so memory is, and throughput does not suffer.
#include "sprig/rt/memory.h"
#include "tools/sprig/bench/Imperative.h"
#include <algorithm>

namespace sprig::cli {
namespace {

constexpr int64_t kFloodSteps = 10000, kRound = 100, kFloodBatch = 64, kFeatures = 256;

/// A step's own inputs, made anew each time as a loader does: what lies in the queue holds them.
struct Steps {
  std::vector<float> host = std::vector<float>(size_t(kFloodBatch * kFeatures), 0.5f);
  Parameter weight{mul(randn({kFeatures, kFeatures}), 0.01)};
  Function<std::function<Tensor(Tensor)>> step = compile(std::function<Tensor(Tensor)>([this](Tensor x) {
                                                           Tensor y = tanh(matmul(x, weight));
                                                           weight.set(weight * 0.999 + 0.001);
                                                           return mean(y);
                                                         }),
                                                         {.name = "flooded step"});
  int64_t bytes() const { return int64_t(host.size() * sizeof(float)); }
  Tensor run() const { return step(Tensor::from(host, {kFloodBatch, kFeatures})); }
};

struct Flood {
  double seconds = 1e300;
  uint64_t peak = 0; ///< bytes above what was there before
};

Flood flood(const Steps &steps, int64_t count, bool readEach) {
  synchronize();
  uint64_t before = rt::memory::describe().allocated;
  sprig_rt_memory_reset_peak();
  auto start = Clock::now();
  Tensor last;
  for (int64_t i = 0; i < count; ++i) {
    last = steps.run();
    if (readEach) last.wait();
  }
  synchronize();
  return {secondsSince(start), rt::memory::describe().peak - before};
}

} // namespace

void benchFlood(const ExperimentOptions &, ExperimentReport &report) {
  Steps steps;
  steps.run().wait();
  const int bound = maxInFlight();
  // Memory over all steps; throughput in short rounds in turn, of which the least disturbed counts.
  Flood few = flood(steps, kFloodSteps / 10, false), free = flood(steps, kFloodSteps, false);
  setMaxInFlight(4);
  Flood tight = flood(steps, kFloodSteps, false);
  setMaxInFlight(bound);
  Flood each = flood(steps, kFloodSteps / 10, true);
  auto keep = [&](Flood &best, int64_t count, bool readEach) {
    double seconds = flood(steps, kRound, readEach).seconds * double(count) / kRound;
    best.seconds = std::min(best.seconds, seconds);
  };
  for (int round = 0; round < 100; ++round) {
    keep(free, kFloodSteps, false);
    keep(few, kFloodSteps / 10, false);
    keep(each, kFloodSteps / 10, true);
    setMaxInFlight(4);
    keep(tight, kFloodSteps, false);
    setMaxInFlight(bound);
  }
  // In flight, one that is being made, and a few small values of each.
  auto most = [&](int inFlight) { return uint64_t((inFlight + 2) * (steps.bytes() + 4096)); };
  report.table("flood", {"steps that nobody waits for", "in flight", "peak KB", "steps/s"});
  auto row = [&](const std::string &name, int inFlight, const Flood &f, int64_t count) {
    report.row({name, inFlight, double(f.peak) / 1e3, double(count) / f.seconds});
  };
  row(std::to_string(kFloodSteps / 10), bound, few, kFloodSteps / 10);
  row(std::to_string(kFloodSteps), bound, free, kFloodSteps);
  row(std::to_string(kFloodSteps), 4, tight, kFloodSteps);
  row(std::to_string(kFloodSteps / 10) + ", each read", 1, each, kFloodSteps / 10);
  report.verdict("memory is that of the bound, not of the number of steps",
                 formatBytes(double(free.peak)) + " of at most " + formatBytes(double(most(bound))) + ", with 4 " +
                     formatBytes(double(tight.peak)) + " of " + formatBytes(double(most(4))),
                 free.peak <= most(bound) && few.peak <= most(bound) && tight.peak <= most(4));
  report.timed("not waiting is no slower than reading each step (within 10%)",
               formatDouble(10 * each.seconds / free.seconds, 3) + " times as many steps a second",
               free.seconds <= 1.1 * 10 * each.seconds);
}

} // namespace sprig::cli
