// Barriers of a block and of a warp.
#include "test/gpu/emulator/Block.h"
#include "test/gpu/emulator/Hooks.h"

using namespace sprig::gpu;

uint32_t Block::arriveAtBarrier(Thread &thread, uint32_t id, uint32_t count, BarrierMode mode, bool isAligned,
                                uint32_t predicate, uint32_t line) {
  std::string name = "barrier " + std::to_string(id);
  if (id >= barriers.size())
    fail(Fault::Divergence, &thread, line, 0, where(thread) + " names " + name + ": there are 16");
  if (count % 32)
    fail(Fault::Divergence, &thread, line, 0,
         where(thread) + " gives " + name + " a count of " + std::to_string(count) +
             ", which is no multiple of a warp");
  Barrier &barrier = barriers[id];
  bool reduces = mode != BarrierMode::Sync && mode != BarrierMode::Arrive;
  if (!barrier.isOpen) {
    barrier = {};
    barrier.isOpen = true;
    barrier.count = count, barrier.line = line;
    barrier.mode = reduces ? mode : BarrierMode::Sync;
    barrier.warpLines.assign(warps.size(), 0);
  } else if (barrier.count != count || barrier.mode != (reduces ? mode : BarrierMode::Sync)) {
    fail(Fault::Divergence, &thread, line, barrier.line,
         where(thread) + " is at " + name + " with another count or operation than those that wait there");
  }
  if (isAligned) {
    uint32_t &warpLine = barrier.warpLines[thread.warp->index];
    if (warpLine && warpLine != line)
      complain(Fault::Divergence, &thread, line, warpLine,
               where(thread) + " is at " + name + " at line " + std::to_string(line) +
                   ", other lanes of its warp at line " + std::to_string(warpLine) + ", though it is an aligned one");
    warpLine = line;
  }
  ++barrier.arrivals;
  barrier.predicates += predicate != 0;
  if (mode == BarrierMode::Arrive) {
    if (findsRaces()) barrier.released = joined(barrier.released, clock.release(thread.index, thread.order));
    releaseIfComplete(barrier, &thread);
    return 0;
  }
  thread.waitFor = id;
  barrier.waiting.push_back(&thread);
  if (!releaseIfComplete(barrier, &thread)) wait(thread, Thread::State::AtBarrier, line);
  return thread.barrierResult;
}

bool Block::releaseIfComplete(Barrier &barrier, Thread *arriving) {
  uint32_t expected = barrier.count ? barrier.count : alive;
  if (barrier.arrivals < expected || !barrier.arrivals) return false;
  orderTogether(barrier.waiting, barrier.released);
  uint32_t result = barrier.mode == BarrierMode::Popc  ? barrier.predicates
                    : barrier.mode == BarrierMode::And ? barrier.predicates == barrier.arrivals
                                                       : barrier.predicates != 0;
  std::vector<Thread *> waiting = std::move(barrier.waiting);
  barrier = {};
  // The one that came last takes its turn among the others.
  for (Thread *thread : inOrder(std::move(waiting))) {
    thread->barrierResult = result;
    if (thread != arriving) wake(*thread);
  }
  return true;
}

uint32_t hooks_impl::barrier(SprigGpuThread *self, uint32_t id, uint32_t count, uint32_t mode, uint32_t predicate,
                             uint32_t line) {
  Thread &thread = Block::thread(self);
  return thread.owner->arriveAtBarrier(thread, id, count, BarrierMode(mode & ~alignedBarrier), mode & alignedBarrier,
                                       predicate, line);
}

void sprig::gpu::warpBarrierOperation(Block &block, Warp &warp, uint32_t lanes, uint32_t) {
  std::vector<Thread *> participants;
  for (; lanes; lanes &= lanes - 1) participants.push_back(warp.lanes[__builtin_ctz(lanes)]);
  block.orderTogether(participants, nullptr);
}
void hooks_impl::warpBarrier(SprigGpuThread *self, uint32_t mask, uint32_t line) {
  Thread &thread = Block::thread(self);
  int nothing = 0;
  thread.owner->meet(thread, mask, line, nothing, warpBarrierOperation);
}
