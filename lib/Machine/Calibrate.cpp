#include "lib/Machine/Calibrate.h"
#include "lib/Machine/HandOff.h"
#include "lib/Machine/MachineFile.h"
#include "lib/Machine/MachineModel.h"
#include "lib/Machine/Rates.h"
#include <algorithm>

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

Calibration calibrate(const Cpu &cpu) {
  Calibration result;
  result.model = machineIdentity().model;
  result.isa = machineIdentity().isa;
  result.threads = cpu.defaultThreads();
  result.fmaFlops = fmaRate(1);
  result.fmaFlopsAll = result.threads > 1 ? std::max(result.fmaFlops, fmaRate(result.threads)) : result.fmaFlops;
  int64_t below = 0;
  for (int level = 1; level <= 3; ++level)
    if (const Cache *cache = cpu.cache(level)) {
      result.levels.push_back(measureLevel(cache, below, result.threads));
      below = cache->bytes;
    }
  result.levels.push_back(measureLevel(nullptr, below, result.threads));
  result.latency = latencyCurve(std::clamp<int64_t>(below * 4, 64 << 20, 128 << 20));
  result.cacheKnees = findKnees(result.latency);
  result.randomSeconds = result.latency.back().ns * 1e-9;
  bool isAlone = result.threads == 1;
  result.handOffSeconds = isAlone ? defaultModel(result.isa).handOff : handOffSeconds();
  result.crossCore = isAlone ? defaultModel(result.isa).crossCore : crossCoreLink();
  return result;
}

} // namespace sprig::machine
