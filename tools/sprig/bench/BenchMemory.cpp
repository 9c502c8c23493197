// sprig bench memory: how this machine's memory answers to sizes, orders and alignments.
#include "lib/Machine/Latency.h"
#include "lib/Machine/HandOff.h"
#include "lib/Machine/Rates.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/Timing.h"
#include "tools/sprig/inspect/MachineFile.h"
#include <algorithm>

namespace sprig::cli {
namespace {

void streams(const machine::Calibration &found, ExperimentReport &report) {
  report.table("streams", {"GB/s", "read", "read, all threads", "write", "copy"});
  bool falls = true, second = true;
  for (size_t i = 0; i < found.levels.size(); ++i) {
    const machine::LevelRates &rates = found.levels[i];
    report.row({rates.name(), rates.read / 1e9, rates.readAll / 1e9, rates.write / 1e9, rates.copy / 1e9});
    if (i) falls &= rates.read <= 1.05 * found.levels[i - 1].read;
    second &= rates.readAll >= 0.97 * rates.read;
  }
  report.timed("a level further away reads no faster",
               "from " + formatDouble(found.levels.front().read / 1e9, 3) + " to " +
                   formatDouble(found.levels.back().read / 1e9, 3) + " GB/s",
               falls);
  if (found.threads > 1)
    report.timed("all threads read no slower than one",
                 times(found.levels.back().readAll / found.levels.back().read) + " from memory", second);
}

void latencies(const machine::Cpu &cpu, const machine::Calibration &found, ExperimentReport &report) {
  report.table("latency", {"working set", "ns a dependent load"});
  for (size_t i = 0; i < found.latency.size(); ++i)
    if (int64_t set = found.latency[i].workingSet; (set & (set - 1)) == 0)
      report.row({formatBinaryBytes(double(set)), found.latency[i].ns});
  for (const machine::Cache &cache : cpu.caches) {
    if (cache.type == "instruction") continue;
    auto near = [&](int64_t knee) { return knee * 2 >= cache.bytes && knee <= cache.bytes * 2; };
    auto knee = std::find_if(found.cacheKnees.begin(), found.cacheKnees.end(), near);
    report.timed("the latency steps up near the end of L" + std::to_string(cache.level) + " (" +
                     formatBinaryBytes(double(cache.bytes)) + ")",
                 knee == found.cacheKnees.end() ? "no step within a factor of 2"
                                                : "at " + formatBinaryBytes(double(*knee)),
                 knee != found.cacheKnees.end());
  }
  double burst = 8 / found.levels.back().read, ratio = found.randomSeconds / burst;
  report.timed("a load at a random place takes far longer than the next of a stream",
               formatNanoseconds(found.randomSeconds * 1e9) + " and " + formatDouble(burst * 1e9, 3) +
                   " ns for 8 bytes, " + times(ratio),
               ratio > 10);
}

// An offset of half a vector makes loads cross lines.
void alignment(ExperimentReport &report) {
  report.table("alignment", {"offset in bytes", "L1 GB/s", "memory GB/s"});
  double aligned = 0, worst = 1e30;
  for (int64_t offset : {0, 4, 16, 32, 60}) {
    double near = machine::readRateAtOffset(16 << 10, offset);
    report.row({offset, near / 1e9, machine::readRateAtOffset(64 << 20, offset) / 1e9});
    if (offset == 0) aligned = near;
    worst = std::min(worst, near);
  }
  report.timed("reading aligned vectors is no slower than others, and loads that cross lines cost",
               times(aligned / worst) + " the rate of the worst offset in L1", aligned > 1.05 * worst);
}

void orders(ExperimentReport &report) {
  constexpr int64_t kCount = 1'000'000;
  report.table("stride", {"stride in 4-byte elements", "ns a load"});
  double sequential = 0, line = 0, second = 0;
  for (int64_t stride : {1, 2, 4, 8, 16, 32, 64}) {
    double ns = machine::stridedNs(kCount, stride);
    report.row({stride, ns});
    if (stride == 1) sequential = ns;
    if (stride == 2) second = ns;
    if (stride == 16) line = ns;
  }
  report.timed("a load of neighbours is no slower than of every second one", times(second / sequential) + " as long",
               sequential <= 1.1 * second);
  report.timed("the cost grows until each load has a line of its own",
               times(line / sequential) + " as long at 64 bytes", line > 1.3 * sequential);
  double backward = machine::stridedNs(kCount, -1);
  report.table("order", {"order", "ns a load"});
  report.row({"forward", sequential});
  report.row({"backward", backward});
  double byRow = machine::matrixNs(4096, 100, false), byColumn = machine::matrixNs(4096, 100, true);
  report.row({"100 columns of 4096 x 4096, row by row", byRow});
  report.row({"100 columns of 4096 x 4096, column by column", byColumn});
  double ratio = backward / sequential;
  report.timed("backward is as fast as forward", times(ratio) + " as long", ratio > 0.8 && ratio < 1.2);
  report.timed("column by column is slower than row by row", times(byColumn / byRow) + " as long", byColumn > byRow);
}

void sharing(const machine::Calibration &found, ExperimentReport &report) {
  if (found.threads < 2) {
    report.note("one processor: nothing to say of threads that share lines");
    return;
  }
  machine::CountingCost cost = machine::countingCost(2);
  report.table("false sharing", {"two threads count, each in a word", "ns an increment"});
  report.row({"of its own line", cost.ownLines * 1e9});
  report.row({"of one line", cost.sameLine * 1e9});
  report.timed("words of one line slow two threads down", times(cost.sameLine / cost.ownLines) + " as long",
               cost.sameLine > 1.2 * cost.ownLines);
}

} // namespace

void benchMemory(const ExperimentOptions &, ExperimentReport &report) {
  machine::Cpu cpu = machine::readCpu();
  machine::Calibration found = measureMachine(cpu, {});
  report.note(keepSteadier(found));
  streams(found, report);
  latencies(cpu, found, report);
  alignment(report);
  orders(report);
  sharing(found, report);
}

} // namespace sprig::cli
