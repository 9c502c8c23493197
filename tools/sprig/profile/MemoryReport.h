// What a compiled model takes of memory: the plan of the arena and everything beside it, as text, JSON and a drawing.
// For inspect, which has it from a model before there is code, or from a package.
#pragma once
#include "sprig/rt/memory.h"
#include "tools/sprig/inspect/CopyReport.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// A buffer of the arena and when it is in use: from the first command that touches it to the last.
struct ArenaBuffer {
  std::string name;
  uint64_t offset = 0, size = 0;
  size_t firstCommand = 0, lastCommand = 0;
};
struct MemoryPlan {
  std::string entry;
  uint64_t arenaBytes = 0;
  uint64_t lowerBound = 0; ///< most bytes in use at one command: no plan can take less
  size_t commandCount = 0;
  int64_t pieces = 1; ///< that a call has its samples in: the plan is one piece's, in the memory of a thread
  std::vector<ArenaBuffer> buffers;
  double ratio() const { return lowerBound ? double(arenaBytes) / double(lowerBound) : 1; }
};

/// Of all entries together.
struct MemoryNeeds {
  std::vector<MemoryPlan> entries;
  /// Of each entry's name, in the order of the package: what lies on devices beside what is meant there.
  std::vector<std::pair<std::string, std::vector<DeviceCopy>>> copies;
  sprig_rt_memory_plan runtime = {}; ///< what the runtime holds
  int threads = 1;
  uint64_t arrays = 0; ///< inputs and outputs of the entry with the most
  /// What the runtime allocates for one context.
  uint64_t allocated() const {
    return runtime.arena + runtime.scratch + runtime.states + runtime.constants_repeated + runtime.constants_copied;
  }
  /// With what it maps and what the caller holds.
  uint64_t total() const { return allocated() + runtime.constants_mapped + arrays; }
};

/// The lower bound of a plan's buffers, from their places and lives.
uint64_t mostInUse(const MemoryPlan &plan);

Json toJson(const MemoryNeeds &needs);
void printMemory(const MemoryNeeds &needs);
/// A drawing of the arena over time: a rectangle a buffer, commands to the right, offsets upwards.
std::string memoryPlanToSvg(const MemoryPlan &plan);

} // namespace sprig::cli
