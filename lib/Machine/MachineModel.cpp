#include "lib/Machine/MachineModel.h"
#include "lib/Machine/Calibrate.h"
#include "lib/Machine/MachineFile.h"

namespace sprig::machine {
namespace {

// Rates between one thread and all of them are on a straight line; what more threads add than were measured is unknown,
// so caches and units of their own count on, and what is shared does not.
double between(double one, double all, int measured, int threads, bool shared) {
  if (threads <= 1) return one;
  if (measured <= 1) return shared ? one : one * threads;
  if (threads <= measured) return one + (all - one) * (threads - 1) / (measured - 1);
  return shared ? all : all * threads / measured;
}

// Round figures of common cores of that level at about 3 GHz; docs/memory.md has the table.
struct Defaults {
  std::string_view isa;
  double fma;
  int64_t l1, l2, l3;
  double readL1, readL2, readL3, readMemory;
};
constexpr Defaults kDefaults[] = {
    {"x86-64-v2", 24e9, 32 << 10, 256 << 10, 8 << 20, 48e9, 30e9, 20e9, 10e9},
    {"x86-64-v3", 96e9, 32 << 10, 512 << 10, 16 << 20, 180e9, 80e9, 50e9, 12e9},
    {"x86-64-v4", 110e9, 32 << 10, 1024 << 10, 32 << 20, 190e9, 100e9, 80e9, 15e9},
};
constexpr int kDefaultThreads = 2;

// Between memories that are both the host's: a thread that waits, and each byte read and written.
Link linkOf(const MachineModel &model) { return {model.handOff, model.memory().read / 2}; }

} // namespace

double MachineModel::flopRate(int threadCount) const {
  return between(fmaFlops, fmaFlopsAll, threads, threadCount, /*shared=*/false);
}

const MemoryLevel &MachineModel::levelOf(int64_t workingSet, int threadCount) const {
  for (const MemoryLevel &level : levels)
    if (level.bytes > 0 && workingSet / (level.shared ? 1 : std::max(threadCount, 1)) <= level.bytes) return level;
  return levels.back();
}

double MachineModel::readRate(int64_t workingSet, int threadCount) const {
  const MemoryLevel &level = levelOf(workingSet, threadCount);
  return between(level.read, level.readAll, threads, threadCount, level.shared);
}

double MachineModel::seconds(double flops, double bytes, int64_t workingSet, int threadCount) const {
  return std::max(flops / flopRate(threadCount), bytes / readRate(workingSet, threadCount));
}

double MachineModel::shareOf(int64_t tiles) const {
  if (!lanesShareDevice() || tiles < 1) return 1;
  int64_t turns = (tiles + multiprocessors - 1) / multiprocessors;
  return double(tiles) / double(turns * multiprocessors);
}

double MachineModel::laneHandOff(double bytes) const {
  if (lanesShareDevice()) return branchHandOff; // all of them read the same cache
  return handOff + crossCore.seconds(cachedBytes(bytes)) - crossCore.latency;
}

double MachineModel::kernelSeconds(double flops, double bytes) const {
  return std::max(flops / fmaFlops, bytes / l2().read) / kKernelEfficiency;
}

double MachineModel::cachedBytes(double bytes) const { return std::min(bytes, double(l2().bytes)); }

double MachineModel::fetchSeconds(double bytes) const {
  if (bytes <= 0) return 0;
  double cached = cachedBytes(bytes), scattered = std::min(cached, double(l1().bytes));
  return crossCore.seconds(scattered / kScatteredShare + (cached - scattered));
}

MachineModel defaultModel(std::string_view isa) {
  const Defaults *row = std::find_if(std::begin(kDefaults), std::end(kDefaults), [&](auto &d) { return d.isa == isa; });
  if (row == std::end(kDefaults)) row = kDefaults;
  MachineModel model;
  model.isa = row->isa;
  model.threads = kDefaultThreads;
  model.fmaFlops = row->fma;
  model.fmaFlopsAll = row->fma * kDefaultThreads;
  model.levels = {{{row->l1, false, row->readL1, row->readL1 * kDefaultThreads},
                   {row->l2, false, row->readL2, row->readL2 * kDefaultThreads},
                   {row->l3, true, row->readL3, row->readL3 * kDefaultThreads},
                   // One core does not reach what the memory can give, two nearly do.
                   {INT64_MAX, true, row->readMemory, row->readMemory * 1.5}}};
  model.memoryLatency = 100e-9;
  model.handOff = 500e-9;
  model.crossCore = {500e-9, 16e9};
  model.link = linkOf(model);
  return model;
}

MachineModel modelOf(const Calibration &found) {
  MachineModel model = defaultModel(found.isa);
  model.measured = true;
  model.threads = found.threads;
  model.fmaFlops = found.fmaFlops;
  model.fmaFlopsAll = found.fmaFlopsAll;
  for (size_t i = 0; i < model.levels.size(); ++i) {
    model.levels[i].bytes = i == 3 ? INT64_MAX : 0;
    for (const LevelRates &rates : found.levels) {
      if (rates.level != (i == 3 ? 0 : int(i) + 1)) continue;
      bool memory = rates.level == 0;
      model.levels[i] = {memory ? INT64_MAX : rates.bytes, memory || rates.instances < found.threads, rates.read,
                         rates.readAll};
    }
  }
  model.memoryLatency = found.randomSeconds;
  model.handOff = found.handOffSeconds;
  model.crossCore = found.crossCore;
  model.link = linkOf(model);
  return model;
}

MachineModel modelFor(std::span<const std::string> cpus) {
  if (cpus.size() == 1 && cpus[0] == "native") {
    auto kept = keptCalibration();
    return kept ? modelOf(*kept) : defaultModel(machineIdentity().isa);
  }
  // A level and what it has beyond itself ("x86-64-v4-vnni") has the level's rates.
  std::string least = "x86-64-v4";
  for (const std::string &cpu : cpus)
    least = std::min(least, cpu == "native" ? machineIdentity().isa : cpu.substr(0, least.size()));
  return defaultModel(least);
}

} // namespace sprig::machine
