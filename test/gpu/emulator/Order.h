// What orders two accesses to memory. Each thread has a clock, which grows when it synchronises; an access carries its
// block, thread and clock. A thread knows of others up to which clock what they did has happened before what it does
// now:
//  - a barrier of the whole block orders everything before it: one floor for all clocks, no vectors;
//  - other barriers (some threads, .arrive, bar.warp.sync) join the knowledge of those who take part;
//  - a release (an operation with .release or .acq_rel, or a relaxed one behind a fence) leaves what its thread knows
//  at the
//    address, an acquire there (likewise, or a relaxed one before a fence) takes it up, across blocks too.
// Shuffles, votes and matrix operations order nothing, as PTX has it. Scopes are not told apart: .cta counts like .gpu.
#ifndef SPRIG_TEST_GPU_EMULATOR_ORDER_H
#define SPRIG_TEST_GPU_EMULATOR_ORDER_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace sprig::gpu {

// An access: block, thread and clock in one number; 0: none.
struct Stamp {
  uint64_t bits = 0;
  Stamp() = default;
  Stamp(uint32_t block, uint32_t thread, uint32_t clock)
      : bits(uint64_t(block) << 33 | uint64_t(thread) << 22 | (clock & 0x3fffff)) {}
  uint32_t block() const { return uint32_t(bits >> 33); }
  uint32_t thread() const { return bits >> 22 & 0x7ff; }
  uint32_t clock() const { return bits & 0x3fffff; }
  explicit operator bool() const { return bits; }
};

// What is known of one block: all below the floor, and each thread up to (with) its clock.
struct BlockKnowledge {
  uint32_t floor = 0;
  std::vector<uint32_t> clocks;
  bool knows(uint32_t thread, uint32_t clock) const {
    return clock < floor || (thread < clocks.size() && clocks[thread] >= clock);
  }
  void join(const BlockKnowledge &other);
};
using Knowledge = std::map<uint32_t, BlockKnowledge>; // by block
using OrderSnapshot = std::shared_ptr<const Knowledge>;
OrderSnapshot joined(const OrderSnapshot &a, const OrderSnapshot &b);

struct OrderState {
  uint32_t clock = 1;
  OrderSnapshot known;            // beyond the block's floor; null: nothing
  OrderSnapshot fenced, observed; // at the last fence; what relaxed reads saw and a fence will take up
};

class BlockClock {
public:
  void reset(uint32_t block) { this->block = block, floor = 1; }
  Stamp stamp(uint32_t thread, const OrderState &state) const { return {block, thread, state.clock}; }
  bool isBefore(Stamp earlier, uint32_t thread, const OrderState &state) const {
    if (earlier.block() == block && (earlier.thread() == thread || earlier.clock() < floor)) return true;
    return state.known && knows(*state.known, earlier);
  }
  // All that the thread has done and knows of; what it does from now on is later.
  OrderSnapshot release(uint32_t thread, OrderState &state) const;
  void acquire(OrderState &state, const OrderSnapshot &snapshot) const { state.known = joined(state.known, snapshot); }
  // A barrier of all threads.
  void raiseFloor(uint32_t highestClock) { floor = highestClock + 1; }

  uint32_t block = 0, floor = 1;
  bool mayOrder = true; // else nothing orders two threads of the launch

private:
  static bool knows(const Knowledge &knowledge, Stamp stamp) {
    auto found = knowledge.find(stamp.block());
    return found != knowledge.end() && found->second.knows(stamp.thread(), stamp.clock());
  }
};

} // namespace sprig::gpu
#endif
