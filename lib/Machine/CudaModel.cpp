#include "lib/Machine/CudaModel.h"
#include <algorithm>
#include <climits>

namespace sprig::machine {
namespace {

// f32 FLOP/s, bytes of the second-level cache, bytes/s that the memory gives.
struct Defaults {
  std::string_view architecture;
  double fma;
  int64_t l2;
  double memory;
};
constexpr Defaults kDefaults[] = {
    {"sm_80", 19.5e12, 40 << 20, 1.55e12}, // A100
    {"sm_86", 35e12, 6 << 20, 0.94e12},    // RTX 3090
    {"sm_89", 82e12, 72 << 20, 1.0e12},    // RTX 4090
    {"sm_90", 67e12, 50 << 20, 3.35e12},   // H100
    {"sm_100", 75e12, 126 << 20, 8.0e12},  // B200
    {"sm_120", 105e12, 96 << 20, 1.8e12},  // RTX 5090
};
// What the second-level cache gives beyond the memory.
constexpr double kCacheFactor = 2.5;

} // namespace

MachineModel cudaModel(std::string_view architecture) {
  const Defaults *row = std::find_if(std::begin(kDefaults), std::end(kDefaults),
                                     [&](const Defaults &each) { return each.architecture == architecture; });
  if (row == std::end(kDefaults)) row = kDefaults;
  MachineModel model;
  model.isa = row->architecture;
  model.threads = 1;
  model.fmaFlops = model.fmaFlopsAll = row->fma;
  double cached = row->memory * kCacheFactor;
  // Caches of single multiprocessors hold nothing from one kernel to the next.
  model.levels = {
      {{0, true, 0, 0}, {row->l2, true, cached, cached}, {0, true, 0, 0}, {INT64_MAX, true, row->memory, row->memory}}};
  model.memoryLatency = 600e-9;
  model.handOff = 2.5e-6;
  model.crossCore = {2.5e-6, cached};
  model.link = {10e-6, 25e9}; // PCIe 4.0, 16 lanes
  return model;
}

} // namespace sprig::machine
