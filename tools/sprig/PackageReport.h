// What is inside of a package, from the runtime's introspection. For inspect.
#pragma once
#include "tools/sprig/Report.h"
#include "tools/sprig/Runner.h"
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
  std::vector<ArenaBuffer> buffers;
};
MemoryPlan memoryPlan(const Runner &runner, size_t entry);

Json packageToJson(const Runner &runner);
void printPackage(const Runner &runner);
void printMemoryPlan(const MemoryPlan &plan);

/// A drawing of the arena over time: a rectangle a buffer, commands to the right, offsets upwards.
std::string memoryPlanToSvg(const MemoryPlan &plan);

} // namespace sprig::cli
