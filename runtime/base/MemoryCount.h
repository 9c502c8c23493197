// Counters of the memory that the runtime holds, and blocks for arrays that outlive calls.
// For Block and MappedFile, which count what they hold, and the C ABI, which shows it. Off the path of calls.
#ifndef SPRIG_RUNTIME_BASE_MEMORYCOUNT_H
#define SPRIG_RUNTIME_BASE_MEMORYCOUNT_H

#include "runtime/base/Status.h"

#include <cstdint>

namespace sprig::rt::core {

struct MemoryCount {
  uint64_t allocated = 0, reserved = 0, peak = 0, mapped = 0;
};
MemoryCount memoryCount();
void resetPeak();

// `asked` bytes came into use, for which the system gave `granted`; with countReleased they go.
void countAllocated(uint64_t asked, uint64_t granted);
void countReleased(uint64_t asked, uint64_t granted);
void countMapped(int64_t bytes);

// Blocks for arrays: released ones of 64 KiB and more are kept for the next of their size.
Status allocateArray(uint64_t bytes, void *&memory);
void releaseArray(void *memory, uint64_t bytes);
uint64_t emptyArrayCache();

} // namespace sprig::rt::core

#endif
