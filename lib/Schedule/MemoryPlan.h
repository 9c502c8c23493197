// Places for buffers with lifetimes in one arena.
// For plan-memory; knows nothing of the IR. The same requests always give the same plan.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace sprig {

struct MemoryRequest {
  int64_t bytes = 0;
  // First and last command that touches the buffer, in an order in which the commands can run.
  int64_t first = 0, last = 0;
};

/// Whether two requests, by their indices, may be alive at the same time although their commands are apart in the order
/// that `first` and `last` count.
using MayMeet = llvm::function_ref<bool(size_t, size_t)>;

struct MemoryPlan {
  llvm::SmallVector<int64_t> offsets; // in the order of the requests
  int64_t bytes = 0;                  // of the arena
  int64_t lowerBound = 0;             // the most bytes alive at one time: no plan needs less
};

/// Places buffers one by one, each as low as those before it allow, in several orders (size, area, lifetime, time) and
/// keeps the smallest arena. If that is above the lower bound, it searches on: all orders of a few buffers, which finds
/// the optimum; of more, random exchanges with a fixed seed and a limit on the work. Thousands of buffers that are
/// alive at once are placed in the order of time alone. Without `mayMeet`, the order of time is the only one, as on one
/// lane.
MemoryPlan planMemory(llvm::ArrayRef<MemoryRequest> requests, int64_t alignment, MayMeet mayMeet = nullptr);

} // namespace sprig
