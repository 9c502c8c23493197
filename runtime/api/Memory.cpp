#include "sprig/rt/memory.h"

#include "runtime/api/Handles.h"
#include "runtime/machine/Machine.h"
#include "runtime/base/MemoryCount.h"

#include <algorithm>
#include <cstring>

using namespace sprig::rt::core;

void sprig_rt_memory_describe(sprig_rt_memory_info *info) {
  if (!info) return;
  MemoryCount count = memoryCount();
  sprig_rt_memory_info full = {info->size, count.allocated, count.reserved, count.peak, count.mapped};
  // An older caller has room for fewer fields.
  std::memcpy(info, &full, std::min(info->size, sizeof full));
}

void sprig_rt_memory_reset_peak(void) { resetPeak(); }

sprig_rt_status *sprig_rt_memory_allocate(uint64_t bytes, void **memory) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(memory, "place for the address"));
    return allocateArray(bytes, *memory);
  });
}

void sprig_rt_memory_release(void *memory, uint64_t bytes) {
  try {
    releaseArray(memory, bytes);
  } catch (const std::exception &) {
    // Only the cache's own list may lack memory; the block is lost then.
  }
}

uint64_t sprig_rt_memory_empty_cache(void) { return emptyArrayCache(); }

static sprig_rt_memory_plan planOf(const Package &package, uint64_t threads) {
  sprig_rt_memory_plan plan = {};
  const Program &program = package.program();
  for (uint32_t i = 0; i < program.devices.size(); ++i) plan.arena += package.maxArena(i);
  auto aligned = [](uint64_t bytes) { return (bytes + 63) / 64 * 64; };
  plan.scratch = aligned(package.maxScratch()) + aligned(package.helperScratch()) * (threads - 1);
  for (const StateType &state : program.states) plan.states += state.tensor.bytes;
  for (const Constant &constant : program.constants)
    if (constant.isRead && constant.isMade()) plan.constants_repeated += constant.size;
  (package.copiesConstants() ? plan.constants_copied : plan.constants_mapped) = package.keptConstants();
  return plan;
}

sprig_rt_status *sprig_rt_package_memory(const sprig_rt_package *package, int32_t threads, sprig_rt_memory_plan *plan) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(package, "package"));
    SPRIG_RETURN_IF_ERROR(requireHandle(plan, "place for the plan"));
    if (threads < 0) return {SPRIG_RT_INVALID_ARGUMENT, concat("expected a number of threads, found ", threads)};
    sprig_rt_memory_plan full = planOf(*package->package, uint64_t(threads ? threads : defaultThreads()));
    full.size = plan->size;
    std::memcpy(plan, &full, std::min(plan->size, sizeof full));
    return {};
  });
}
