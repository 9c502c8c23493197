// A dispatch that is being cut into slices, which its driver and all helpers take one by one: the one way in which the
// processor's threads share tiles. One dispatch at a time; helpers may look at any time, also between two.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_SHAREDDISPATCH_H
#define SPRIG_RUNTIME_DEVICE_CPU_SHAREDDISPATCH_H

#include "runtime/format/Units.h"
#include "runtime/load/Program.h"

#include <algorithm>
#include <atomic>

namespace sprig::rt::core {

class Pool;

class SharedDispatch {
public:
  // How many of a pool's threads are worth their hand-off for a dispatch; fewer than two: none beside its driver.
  static int64_t worthyThreads(const Command &command, uint32_t threads) {
    return std::min<int64_t>(threads, command.tiles / command.grain);
  }

  // Offers the tiles; the one before is done.
  void open(const Command &command, void *const *operands, int64_t threads);

  // Takes slices until none is left, by run(command, operands, begin, end); whether there was one. `done()` is called
  // by whoever ends the last one. Some threads take from the front and others from the back (Pool::takesFront), so that
  // from dispatch to dispatch a thread mostly has the same part of the data: lines that another processor wrote come
  // slowly.
  template <typename Run, typename Done> bool takeSlices(bool front, Run run, Done done);

  bool isDone() const { return unitsDone.load(std::memory_order_acquire) == unitCount.load(std::memory_order_relaxed); }

private:
  // A ticket: number of the dispatch, end and begin of what is left of it, in units. One word, so that taking a slice
  // checks all three.
  static constexpr uint64_t makeTicket(uint64_t number, uint32_t begin, uint32_t end) {
    return number << 32 | uint64_t(end) << 16 | begin;
  }
  static constexpr uint32_t beginOf(uint64_t ticket) { return uint32_t(ticket & 0xffff); }
  static constexpr uint32_t endOf(uint64_t ticket) { return uint32_t(ticket >> 16 & 0xffff); }
  static constexpr uint64_t numberOf(uint64_t ticket) { return ticket >> 32; }

  // Slices shrink towards the end of a dispatch: each is a share of what is left, so few are taken and yet the last
  // ones are short, and a late or slow helper does not hold the others up.
  static constexpr uint32_t kShareOfRest = 2;

  alignas(64) std::atomic<uint64_t> ticket{0};
  std::atomic<const Command *> command{nullptr};
  std::atomic<void *const *> operands{nullptr};
  std::atomic<int64_t> unitTiles{0}; // a unit is some tiles
  std::atomic<uint32_t> unitCount{0};
  std::atomic<uint32_t> threads{1}; // that are worth their hand-off
  alignas(64) std::atomic<uint32_t> unitsDone{0};
};

// Wakes a pool's helpers where that pays. Of one driver.
class HelperCalls {
public:
  // There is a dispatch on offer.
  void share(Pool &pool, const Command &command);

private:
  double unshared = 0; // seconds of work that could have been shared since helpers were last woken
};

inline void SharedDispatch::open(const Command &next, void *const *nextOperands, int64_t worthy) {
  int64_t tiles = format::tilesOfUnit(next.tiles, next.grain);
  uint32_t count = uint32_t((next.tiles - 1) / tiles + 1);
  unitsDone.store(0, std::memory_order_relaxed);
  command.store(&next, std::memory_order_relaxed);
  operands.store(nextOperands, std::memory_order_relaxed);
  unitTiles.store(tiles, std::memory_order_relaxed);
  unitCount.store(count, std::memory_order_relaxed);
  threads.store(uint32_t(worthy), std::memory_order_relaxed);
  uint64_t number = numberOf(ticket.load(std::memory_order_relaxed)) + 1;
  ticket.store(makeTicket(number, 0, count), std::memory_order_release);
}

template <typename Run, typename Done> bool SharedDispatch::takeSlices(bool front, Run run, Done done) {
  for (bool took = false;; took = true) {
    uint64_t seen = ticket.load(std::memory_order_acquire);
    uint32_t first = beginOf(seen), last = endOf(seen);
    if (first >= last) return took;
    const Command *own = command.load(std::memory_order_relaxed);
    void *const *ownOperands = operands.load(std::memory_order_relaxed);
    int64_t tiles = unitTiles.load(std::memory_order_relaxed);
    uint32_t share = threads.load(std::memory_order_relaxed) * kShareOfRest;
    uint32_t count = unitCount.load(std::memory_order_relaxed);
    uint32_t units = std::max(1u, (last - first) / share);
    uint64_t rest =
        front ? makeTicket(numberOf(seen), first + units, last) : makeTicket(numberOf(seen), first, last - units);
    uint32_t from = front ? first : last - units;
    // Success means that this dispatch still had the slice to give, hence that what was read above belongs to it.
    if (!ticket.compare_exchange_strong(seen, rest, std::memory_order_acq_rel)) continue;
    int64_t begin = from * tiles;
    run(*own, ownOperands, begin, std::min(begin + units * tiles, own->tiles));
    if (unitsDone.fetch_add(units, std::memory_order_acq_rel) + units == count) done();
  }
}

} // namespace sprig::rt::core

#endif
