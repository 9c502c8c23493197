// What memory a run holds, by class, and when most of it is in use.
// For sprig profile --memory.
#pragma once
#include "tools/sprig/Report.h"
#include "tools/sprig/run/Runner.h"
#include <string>
#include <vector>

namespace sprig::cli {

struct MemoryUse {
  struct Item {
    std::string name;
    uint64_t bytes = 0;
  };
  /// weights, optimizer, averages, counters, cache, activations, workspace, inputs, outputs; of states, those there are
  std::vector<Item> classes;
  uint64_t peakActivations = 0;    ///< bytes of the arena in use at once
  std::string peakAt;              ///< the command during which they are
  std::vector<Item> largestAtPeak; ///< of the arena's buffers
  std::vector<Item> largestWeights;
  uint64_t processPeak = 0; ///< resident bytes of this process at most, the compiler's included
};

MemoryUse memoryUse(const Runner &runner, uint32_t entry);
void printMemoryUse(const MemoryUse &use);
Json toJson(const MemoryUse &use);

} // namespace sprig::cli
