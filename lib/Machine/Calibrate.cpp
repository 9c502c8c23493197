#include "lib/Machine/Calibrate.h"
#include "lib/Machine/DotRates.h"
#include "lib/Machine/HandOff.h"
#include "lib/Machine/MachineFile.h"
#include "lib/Machine/MachineModel.h"
#include "lib/Machine/Rates.h"
#include <algorithm>
#include <tuple>

namespace sprig::machine {

double Calibration::bandwidthAt(int64_t workingSet) const {
  for (const LevelRates &rates : levels)
    if (rates.level == 0 || workingSet <= rates.bytes) return rates.read;
  return levels.empty() ? 0 : levels.back().read;
}

// Well inside of the level and well outside of the one before it.
static int64_t workingSetIn(int64_t bytes, int64_t below) {
  return std::max(std::min(bytes / 2, below * 8), std::min(bytes * 3 / 4, below * 2 + bytes / 4));
}

static LevelRates measureLevel(const Cache *cache, int64_t below, int threads) {
  LevelRates rates;
  int64_t workingSet = std::clamp<int64_t>(below * 8, 64 << 20, 256 << 20);
  bool own = false; // whether each thread has a cache of this level for itself
  if (cache) {
    rates.level = cache->level;
    rates.bytes = cache->bytes;
    rates.instances = cache->instances;
    workingSet = workingSetIn(cache->bytes, below);
    own = cache->instances >= threads;
  }
  rates.read = streamRate(Stream::read, workingSet, 1);
  rates.write = streamRate(Stream::write, workingSet, 1);
  rates.copy = streamRate(Stream::copy, workingSet, 1);
  // A second thread never reads slower than one alone: it can be left away.
  rates.readAll = threads > 1
                      ? std::max(rates.read, streamRate(Stream::read, own ? workingSet : workingSet / threads, threads))
                      : rates.read;
  return rates;
}

// Everything once. With a single sweep to come, the curve of latencies is swept twice.
static Calibration measureOnce(const Cpu &cpu, bool isOnly) {
  Calibration result;
  result.model = machineIdentity().model;
  result.isa = machineIdentity().isa;
  result.threads = cpu.defaultThreads();
  result.fmaFlops = fmaRate(1);
  result.fmaFlopsAll = result.threads > 1 ? std::max(result.fmaFlops, fmaRate(result.threads)) : result.fmaFlops;
  result.byteDots = dotRate(Factors::bytes, 1);
  result.bf16Dots = dotRate(Factors::bf16, 1);
  int64_t below = 0;
  for (int level = 1; level <= 3; ++level)
    if (const Cache *cache = cpu.cache(level)) {
      result.levels.push_back(measureLevel(cache, below, result.threads));
      below = cache->bytes;
    }
  result.levels.push_back(measureLevel(nullptr, below, result.threads));
  result.latency = latencyCurve(std::clamp<int64_t>(below * 4, 64 << 20, 128 << 20), isOnly ? 2 : 1);
  bool isAlone = result.threads == 1;
  result.handOffSeconds = isAlone ? defaultModel(result.isa).handOff : handOffSeconds();
  result.crossCore = isAlone ? defaultModel(result.isa).crossCore : crossCoreLink();
  return result;
}

// Of a few lines and of many: neither part of a link is better alone.
static double crossCoreSeconds(const Link &link) { return link.seconds(4 << 10) + link.seconds(64 << 10); }

Calibration bestOf(std::span<const Calibration> sweeps) {
  Calibration best = sweeps.front();
  for (const Calibration &each : sweeps.subspan(1)) {
    best.fmaFlops = std::max(best.fmaFlops, each.fmaFlops);
    best.fmaFlopsAll = std::max(best.fmaFlopsAll, each.fmaFlopsAll);
    best.byteDots = std::max(best.byteDots, each.byteDots);
    best.bf16Dots = std::max(best.bf16Dots, each.bf16Dots);
    for (size_t i = 0; i < best.levels.size(); ++i)
      for (auto rate : {&LevelRates::read, &LevelRates::readAll, &LevelRates::write, &LevelRates::copy})
        best.levels[i].*rate = std::max(best.levels[i].*rate, each.levels[i].*rate);
    for (size_t i = 0; i < best.latency.size(); ++i)
      best.latency[i].ns = std::min(best.latency[i].ns, each.latency[i].ns);
    best.handOffSeconds = std::min(best.handOffSeconds, each.handOffSeconds);
    if (crossCoreSeconds(each.crossCore) < crossCoreSeconds(best.crossCore)) best.crossCore = each.crossCore;
  }
  best.cacheKnees = findKnees(best.latency);
  best.randomSeconds = best.latency.back().ns * 1e-9;
  return best;
}

// What programs are reckoned with, as times: less is better.
static std::vector<std::pair<std::string, double>> figuresOf(const Calibration &found) {
  std::vector<std::pair<std::string, double>> figures = {{"f32 peak", 1 / found.fmaFlops},
                                                         {"f32 peak of all threads", 1 / found.fmaFlopsAll}};
  if (found.byteDots > 0) figures.emplace_back("products of bytes", 1 / found.byteDots);
  if (found.bf16Dots > 0) figures.emplace_back("products of bf16", 1 / found.bf16Dots);
  for (const LevelRates &rates : found.levels) {
    figures.emplace_back("read " + rates.name(), 1 / rates.read);
    figures.emplace_back("read " + rates.name() + " with all threads", 1 / rates.readAll);
    figures.emplace_back("write " + rates.name(), 1 / rates.write);
    figures.emplace_back("copy " + rates.name(), 1 / rates.copy);
  }
  figures.emplace_back("latency of memory", found.latency.back().ns);
  figures.emplace_back("hand-off", found.handOffSeconds);
  figures.emplace_back("read what another core wrote", crossCoreSeconds(found.crossCore));
  return figures;
}

std::pair<std::string, double> widestSpread(std::span<const Calibration> sweeps) {
  std::pair<std::string, double> widest;
  if (sweeps.size() < 2) return widest;
  std::vector<std::vector<std::pair<std::string, double>>> figures;
  for (const Calibration &sweep : sweeps) figures.push_back(figuresOf(sweep));
  for (size_t i = 0; i < figures[0].size(); ++i) {
    std::vector<double> times;
    for (const auto &each : figures) times.push_back(each[i].second);
    std::partial_sort(times.begin(), times.begin() + 2, times.end());
    double spread = times[1] / times[0] - 1;
    if (widest.first.empty() || spread > widest.second) widest = {figures[0][i].first, spread};
  }
  return widest;
}

Calibration calibrate(const Cpu &cpu, SweepLimits limits, const std::function<void(int)> &onSweep) {
  ProcessorWatch watch;
  Steadiness steadiness;
  std::vector<Calibration> sweeps;
  do {
    if (onSweep) onSweep(int(sweeps.size()) + 1);
    sweeps.push_back(measureOnce(cpu, limits.most == 1));
    steadiness.sweeps = int(sweeps.size());
    std::tie(steadiness.furthest, steadiness.spread) = widestSpread(sweeps);
    watch.read(steadiness);
  } while (steadiness.sweeps < limits.least ||
           (!steadiness.isSteady() && steadiness.sweeps < limits.most && steadiness.seconds < limits.seconds));
  Calibration best = bestOf(sweeps);
  best.steadiness = steadiness;
  return best;
}

} // namespace sprig::machine
