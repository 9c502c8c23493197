#include "runtime/base/MemoryCount.h"

#include "runtime/base/Memory.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace sprig::rt::core {

static std::atomic<uint64_t> allocated{0}, reserved{0}, peak{0}, mapped{0};

MemoryCount memoryCount() { return {allocated.load(), reserved.load(), peak.load(), mapped.load()}; }

void resetPeak() { peak.store(allocated.load()); }

static void countInUse(uint64_t bytes) {
  uint64_t now = allocated.fetch_add(bytes) + bytes, seen = peak.load();
  while (seen < now && !peak.compare_exchange_weak(seen, now)) {
  }
}

void countAllocated(uint64_t asked, uint64_t granted) {
  reserved.fetch_add(granted);
  countInUse(asked);
}

void countReleased(uint64_t asked, uint64_t granted) {
  allocated.fetch_sub(asked);
  reserved.fetch_sub(granted);
}

void countMapped(int64_t bytes) { mapped.fetch_add(uint64_t(bytes)); }

namespace {

constexpr uint64_t kLeastKept = 64 << 10, kMostKept = 256 << 20;

// Small arrays come and go by the thousand, made by one thread and released by another, which the C library is slow at.
constexpr uint64_t kMostSmall = 16 << 10, kStep = 64, kMostSmallKept = 4 << 20;

struct SmallCache {
  struct Link {
    Link *next;
  };
  std::mutex lock;
  Link *first[kMostSmall / kStep + 1] = {};
  uint64_t bytes = 0;

  void *take(uint64_t rounded) {
    std::lock_guard guard(lock);
    Link *&head = first[rounded / kStep];
    if (!head) return nullptr;
    bytes -= rounded;
    return std::exchange(head, head->next);
  }
  bool give(void *memory, uint64_t rounded) {
    std::lock_guard guard(lock);
    if (bytes + rounded > kMostSmallKept) return false;
    bytes += rounded;
    Link *&head = first[rounded / kStep];
    head = new (memory) Link{head};
    return true;
  }
};

SmallCache &smallCache() {
  static SmallCache &cache = *new SmallCache;
  return cache;
}

// Blocks by size. Lives as long as the process: arrays may be released by destructors of static objects.
struct ArrayCache {
  std::mutex lock;
  std::map<uint64_t, std::vector<void *>> blocks;
  uint64_t bytes = 0;
};

ArrayCache &arrayCache() {
  static ArrayCache &cache = *new ArrayCache;
  return cache;
}

uint64_t roundedArray(uint64_t bytes) { return std::max<uint64_t>((bytes + 63) / 64 * 64, 64); }

} // namespace

Status allocateArray(uint64_t bytes, void *&memory) {
  if (bytes > UINT64_MAX / 2) return {SPRIG_RT_OUT_OF_MEMORY, concat("no memory for an array of ", bytes, " bytes")};
  uint64_t rounded = roundedArray(bytes);
  if (rounded <= kMostSmall && (memory = smallCache().take(rounded))) {
    countInUse(bytes);
    return {};
  }
  if (rounded >= kLeastKept) {
    ArrayCache &cache = arrayCache();
    std::lock_guard guard(cache.lock);
    auto found = cache.blocks.find(rounded);
    if (found != cache.blocks.end() && !found->second.empty()) {
      memory = found->second.back();
      found->second.pop_back();
      cache.bytes -= rounded;
      countInUse(bytes);
      return {};
    }
  }
  memory = Allocator().allocate(rounded);
  if (!memory) return {SPRIG_RT_OUT_OF_MEMORY, concat("no memory for an array of ", bytes, " bytes")};
  countAllocated(bytes, Allocator().granted(rounded));
  return {};
}

void releaseArray(void *memory, uint64_t bytes) {
  if (!memory) return;
  uint64_t rounded = roundedArray(bytes);
  if (rounded <= kMostSmall && smallCache().give(memory, rounded)) {
    allocated.fetch_sub(bytes);
    return;
  }
  if (rounded >= kLeastKept) {
    ArrayCache &cache = arrayCache();
    std::lock_guard guard(cache.lock);
    if (cache.bytes + rounded <= kMostKept) {
      cache.blocks[rounded].push_back(memory);
      cache.bytes += rounded;
      allocated.fetch_sub(bytes);
      return;
    }
  }
  Allocator().release(memory, rounded);
  countReleased(bytes, Allocator().granted(rounded));
}

uint64_t emptyArrayCache() {
  uint64_t given = 0;
  for (uint64_t size = kStep; size <= kMostSmall; size += kStep)
    while (void *memory = smallCache().take(size)) {
      Allocator().release(memory, size);
      countReleased(0, size);
      given += size;
    }
  ArrayCache &cache = arrayCache();
  std::lock_guard guard(cache.lock);
  for (auto &[bytes, blocks] : cache.blocks)
    for (void *memory : blocks) {
      Allocator().release(memory, bytes);
      countReleased(0, Allocator().granted(bytes));
      given += Allocator().granted(bytes);
    }
  cache.blocks.clear();
  cache.bytes = 0;
  return given;
}

} // namespace sprig::rt::core
