#include "lib/Parallel/MemoryPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <map>
#include <tuple>

using namespace llvm;
using namespace sprig;

static bool conflict(const MemoryRequest &a, const MemoryRequest &b) {
  if (a.lane != b.lane || a.lane < 0) return true;
  return a.first <= b.last && b.first <= a.last;
}

// Places the requests in the given order; sizes are multiples of the alignment already.
static MemoryPlan placeInOrder(ArrayRef<MemoryRequest> requests, ArrayRef<size_t> order) {
  MemoryPlan plan;
  plan.offsets.assign(requests.size(), 0);
  SmallVector<size_t> placed; // by offset
  for (size_t index : order) {
    const MemoryRequest &request = requests[index];
    if (request.bytes == 0) continue;
    // The smallest gap between conflicting neighbours that is large enough, else behind all of them.
    int64_t end = 0, best = -1, bestGap = INT64_MAX;
    for (size_t other : placed) {
      if (!conflict(request, requests[other])) continue;
      int64_t gap = plan.offsets[other] - end;
      if (gap >= request.bytes && gap < bestGap) best = end, bestGap = gap;
      end = std::max(end, plan.offsets[other] + requests[other].bytes);
    }
    plan.offsets[index] = best >= 0 ? best : end;
    plan.bytes = std::max(plan.bytes, plan.offsets[index] + request.bytes);
    placed.insert(
        llvm::upper_bound(placed, index, [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }), index);
  }
  return plan;
}

// The most bytes alive at one time, over the lanes together.
static int64_t peak(ArrayRef<MemoryRequest> requests) {
  int64_t always = 0, most = 0;
  std::map<int, std::map<int64_t, int64_t>> changes; // per lane and time
  for (const MemoryRequest &request : requests) {
    if (request.lane < 0) {
      always += request.bytes;
      continue;
    }
    changes[request.lane][request.first] += request.bytes;
    changes[request.lane][request.last + 1] -= request.bytes;
  }
  for (auto &[lane, times] : changes) {
    int64_t alive = 0, laneMost = 0;
    for (auto &[time, change] : times) laneMost = std::max(laneMost, alive += change);
    // Buffers of different lanes never share bytes.
    most += laneMost;
  }
  return always + most;
}

MemoryPlan sprig::planMemory(ArrayRef<MemoryRequest> given, int64_t alignment) {
  SmallVector<MemoryRequest> requests(given);
  for (MemoryRequest &request : requests) request.bytes = (request.bytes + alignment - 1) / alignment * alignment;
  auto bySize = llvm::to_vector(llvm::seq<size_t>(0, requests.size()));
  auto byLife = bySize;
  // Ties by index: the plan must not depend on the sorting algorithm.
  auto sortDown = [&](SmallVector<size_t> &order, auto key) {
    llvm::sort(order, [&](size_t a, size_t b) { return std::tuple(key(b), a) < std::tuple(key(a), b); });
  };
  sortDown(bySize, [&](size_t i) { return requests[i].bytes; });
  sortDown(byLife, [&](size_t i) {
    const MemoryRequest &r = requests[i];
    return std::tuple(r.lane < 0, r.last - r.first, r.bytes);
  });
  MemoryPlan plan = placeInOrder(requests, bySize), other = placeInOrder(requests, byLife);
  if (other.bytes < plan.bytes) plan = std::move(other);
  plan.lowerBound = peak(requests);
  return plan;
}
