// Places for buffers with lifetimes in one arena.
// For plan-memory; knows nothing of the IR. The same requests always give the same plan.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace sprig {

struct MemoryRequest {
  int64_t bytes = 0;
  // First and last command that touches the buffer, in the order of its lane.
  int64_t first = 0, last = 0;
  // Buffers that are touched by several lanes have lane -1: nothing is known about their order with others.
  int lane = 0;
};

struct MemoryPlan {
  llvm::SmallVector<int64_t> offsets; // in the order of the requests
  int64_t bytes = 0;                  // of the arena
  int64_t lowerBound = 0;             // the most bytes alive at one time: no plan needs less
};

/// Greedy: largest first (and longest-lived first, keeping the better plan), each at the lowest gap that fits best.
MemoryPlan planMemory(llvm::ArrayRef<MemoryRequest> requests, int64_t alignment);

} // namespace sprig
