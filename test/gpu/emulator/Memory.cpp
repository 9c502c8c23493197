// Accesses of the checked version: bounds, alignment, races, effects, traffic.
#include "test/gpu/emulator/Block.h"
#include "test/gpu/emulator/Hooks.h"
#include <algorithm>
#include <bit>
#include <cstdio>

using namespace sprig::gpu;

static std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}
static const char *verb(uint32_t flags) { return flags & SPRIG_GPU_WRITE ? " writes " : " reads "; }

static void checkAlignment(Thread &thread, const char *space, uint64_t address, uint32_t bytes, uint32_t flags,
                           uint32_t line) {
  // Other sizes are those of asynchronous copies with a part of zeros: their addresses were checked.
  if (!std::has_single_bit(bytes) || address % bytes == 0) return;
  Block &block = *thread.owner;
  block.fail(Fault::Misaligned, &thread, line, 0,
             block.where(thread) + verb(flags) + std::to_string(bytes) + " bytes of " + space + " memory at " +
                 hex(address));
}

void Block::countRequest(Thread &thread, bool isShared, uint64_t address, uint32_t bytes, uint32_t flags,
                         uint32_t line) {
  if (!launch.options.counters) return;
  if (thread.visits.size() <= line) thread.visits.resize(line + 64);
  Warp &warp = *thread.warp;
  warp.requests.add(thread.laneid, thread.visits[line]++, warp.alive, line, isShared, flags & SPRIG_GPU_WRITE, address,
                    bytes, launch.traffic);
}

void Block::complainOfRace(const Thread &thread, const char *space, uint64_t address, uint32_t bytes, uint32_t flags,
                           uint32_t line, const Rival &rival) {
  std::string other = whereIndex(rival.stamp.thread());
  if (rival.stamp.block() != clock.block) {
    uint32_t index = rival.stamp.block();
    other += " of block (" + std::to_string(index % launch.grid.x) + ", " +
             std::to_string(index / launch.grid.x % launch.grid.y) + ", " +
             std::to_string(index / launch.grid.x / launch.grid.y) + ")";
  }
  complain(Fault::Race, &thread, line, rival.line,
           where(thread) + verb(flags) + std::to_string(bytes) + " bytes of " + space + " memory at " + hex(address) +
               ", which " + other + (rival.isWrite ? " writes" : " reads") + " at line " + std::to_string(rival.line) +
               ", and nothing orders the two");
}

void Block::checkSharedBounds(Thread &thread, uint64_t offset, uint32_t bytes, uint32_t line, const char *what) {
  if (offset <= sharedSize && bytes <= sharedSize - offset) return;
  fail(Fault::OutOfBounds, &thread, line, 0,
       where(thread) + what + std::to_string(bytes) + " bytes of shared memory at " + hex(offset) + ", the block has " +
           std::to_string(sharedSize));
}

void Block::accessShared(Thread &thread, uint64_t offset, uint32_t bytes, uint32_t flags, uint32_t line) {
  checkSharedBounds(thread, offset, bytes, line, verb(flags));
  checkAlignment(thread, "shared", offset, bytes, flags, line);
  countRequest(thread, true, offset, bytes, flags, line);
  if (!findsRaces()) return;
  Rival rival;
  bool isUninitialised = false;
  Access access{thread.index, line, (flags & SPRIG_GPU_WRITE) != 0, (flags & SPRIG_GPU_STRONG) != 0};
  if (sharedRaces.isInFlight(offset, bytes, rival))
    complain(Fault::Race, &thread, line, rival.line,
             where(thread) + verb(flags) + "shared memory at " + hex(offset) + ", where an asynchronous copy of " +
                 whereIndex(rival.stamp.thread()) + " at line " + std::to_string(rival.line) + " is on its way");
  else if (sharedRaces.access(offset, bytes, access, clock, thread.order, false, rival, isUninitialised))
    complainOfRace(thread, "shared", offset, bytes, flags, line, rival);
  if (isUninitialised)
    complain(Fault::UninitialisedShared, &thread, line, 0,
             where(thread) + " reads shared memory at " + hex(offset) + ", which nobody has written");
}

void Block::accessGlobal(Thread &thread, uint64_t address, uint32_t bytes, uint32_t flags, uint32_t line) {
  const LaunchOptions &options = launch.options;
  // Most accesses of a line are in one allocation.
  Range &last = launch.lastTouched[line % std::size(launch.lastTouched)];
  if (options.knowsAllocations && (address < last.begin || address > last.end || bytes > last.end - address)) {
    auto after = std::upper_bound(options.allocations.begin(), options.allocations.end(), address,
                                  [](uint64_t a, const Range &range) { return a < range.begin; });
    bool isInside =
        after != options.allocations.begin() && address <= (after - 1)->end && bytes <= (after - 1)->end - address;
    if (isInside)
      last = *(after - 1);
    else
      fail(Fault::OutOfBounds, &thread, line, 0,
           where(thread) + verb(flags) + std::to_string(bytes) + " bytes of global memory at " + hex(address) +
               ", where no allocation is");
  }
  checkAlignment(thread, "global", address, bytes, flags, line);
  countRequest(thread, false, address, bytes, flags, line);
  if (options.effects && !(flags & hasOwnEffects))
    flags &SPRIG_GPU_WRITE ? launch.effects.write(address, bytes) : launch.effects.read(address, bytes);
  if (!findsRaces()) return;
  Rival rival;
  Access access{thread.index, line, (flags & SPRIG_GPU_WRITE) != 0, (flags & SPRIG_GPU_STRONG) != 0};
  if (launch.globalRaces.access(address, bytes, access, clock, thread.order, rival))
    complainOfRace(thread, "global", address, bytes, flags, line, rival);
}

// Which space a generic address is in.
static uint32_t spaceOf(const Thread &thread, uint64_t address) {
  if (address - reinterpret_cast<uint64_t>(thread.shared) < thread.owner->sharedBytes()) return SPRIG_GPU_SHARED;
  if (address - reinterpret_cast<uint64_t>(thread.local) < thread.owner->launch.kernel.localBytes)
    return SPRIG_GPU_LOCAL;
  return SPRIG_GPU_GLOBAL;
}
uint32_t hooks_impl::isSpace(SprigGpuThread *self, uint64_t address, uint32_t space) {
  return spaceOf(Block::thread(self), address) == space;
}

void hooks_impl::access(SprigGpuThread *self, uint64_t address, uint32_t bytes, uint32_t flags, uint32_t line) {
  Thread &thread = Block::thread(self);
  Block &block = *thread.owner;
  uint32_t space = flags & SPRIG_GPU_SPACE_MASK;
  if (space == SPRIG_GPU_GENERIC) {
    space = spaceOf(thread, address);
    if (space == SPRIG_GPU_SHARED) address -= reinterpret_cast<uint64_t>(thread.shared);
  }
  if (space == SPRIG_GPU_SHARED) return block.accessShared(thread, address, bytes, flags, line);
  if (space != SPRIG_GPU_LOCAL) return block.accessGlobal(thread, address, bytes, flags, line);
  uint64_t offset = address - reinterpret_cast<uint64_t>(thread.local), size = block.launch.kernel.localBytes;
  if (offset > size || bytes > size - offset)
    block.fail(Fault::OutOfBounds, &thread, line, 0,
               block.where(thread) + verb(flags) + std::to_string(bytes) + " bytes outside of its local memory");
  checkAlignment(thread, "local", offset, bytes, flags, line);
}

// Fences and ordered accesses. What a relaxed read saw at an address is taken up by the next fence; what a thread had
// done before its last fence is what a relaxed write leaves.
void hooks_impl::fence(SprigGpuThread *self, uint32_t, uint32_t) {
  Thread &thread = Block::thread(self);
  Block &block = *thread.owner;
  if (!block.findsRaces()) return;
  block.clock.acquire(thread.order, thread.order.observed);
  thread.order.observed = nullptr;
  thread.order.fenced = block.clock.release(thread.index, thread.order);
}

void hooks_impl::order(SprigGpuThread *self, uint64_t address, uint32_t flags, uint32_t order, uint32_t line) {
  Thread &thread = Block::thread(self);
  Block &block = *thread.owner;
  bool isShared = (flags & SPRIG_GPU_SPACE_MASK) == SPRIG_GPU_SHARED, isWrite = flags & SPRIG_GPU_WRITE;
  uint64_t place = isShared ? reinterpret_cast<uint64_t>(thread.shared) + address : address;
  if (block.findsRaces()) {
    OrderSnapshot &released = block.launch.globalRaces.releasedAt(place);
    MemoryOrder kind = MemoryOrder(order);
    if (isWrite)
      released = kind == MemoryOrder::Release ? block.clock.release(thread.index, thread.order) : thread.order.fenced;
    else if (kind == MemoryOrder::Acquire)
      block.clock.acquire(thread.order, released);
    else
      thread.order.observed = joined(thread.order.observed, released);
  }
  if (!isWrite) block.poll(thread, place, line);
}

// Called at each read of a place that other threads may change. Whoever reads the same one again and again waits for
// them.
void Block::poll(Thread &thread, uint64_t address, uint32_t line) {
  constexpr uint32_t patience = 1024, most = 1 << 22;
  if (thread.polledAddress != address) thread.polledAddress = address, thread.polls = 0;
  if (++thread.polls % patience) return;
  if (thread.polls >= most)
    fail(Fault::Deadlock, &thread, line, 0,
         where(thread) + " has read memory at " + hex(address) + " " + std::to_string(most) + " times and waits still");
  if (!launch.kernel.cooperates || ready.empty()) return;
  ready.push_back(&thread);
  leave();
}

void hooks_impl::trap(SprigGpuThread *self, uint32_t line) {
  Thread &thread = Block::thread(self);
  thread.owner->fail(Fault::Trap, &thread, line, 0, thread.owner->where(thread) + " traps");
}
void hooks_impl::leave(SprigGpuThread *self) { Block::thread(self).owner->endThread(); }
void hooks_impl::divideByZero(SprigGpuThread *self, uint32_t line) {
  Thread &thread = Block::thread(self);
  thread.owner->complain(Fault::DivisionByZero, &thread, line, 0,
                         thread.owner->where(thread) + " divides an integer by zero");
}
// A count that grows; it says nothing about time.
uint64_t hooks_impl::clock(SprigGpuThread *) {
  static thread_local uint64_t ticks = 0;
  return ++ticks;
}
