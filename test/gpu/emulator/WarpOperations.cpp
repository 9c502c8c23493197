// Shuffles, votes, matches, reductions: what the lanes of a warp exchange.
#include "test/gpu/emulator/Block.h"
#include "test/gpu/emulator/Hooks.h"
#include <algorithm>
#include <utility>

using namespace sprig::gpu;

namespace {
struct Shuffle {
  ShuffleMode mode;
  uint32_t value, lane, clamp;
  uint64_t result;
};
struct Vote {
  VoteMode mode;
  uint32_t predicate, result;
};
struct Match {
  bool all;
  uint64_t value, result;
};
struct Reduction {
  ReduceOperation operation;
  uint32_t value, result;
};
template <class F> void forLanes(uint32_t lanes, F f) {
  for (; lanes; lanes &= lanes - 1) f(unsigned(__builtin_ctz(lanes)));
}
} // namespace

static void performShuffle(Block &block, Warp &warp, uint32_t lanes, uint32_t line) {
  forLanes(lanes, [&](unsigned lane) {
    Shuffle &own = Block::exchangeOf<Shuffle>(warp, lane);
    // The clamp's upper half says which bits of a lane name its segment.
    uint32_t segment = own.clamp >> 8 & 31, clamp = own.clamp & 31, by = own.lane & 31;
    uint32_t last = (lane & segment) | (clamp & ~segment & 31), first = lane & segment, from = lane;
    bool isInside = false;
    switch (own.mode) {
    case ShuffleMode::Up: isInside = int(lane) - int(by) >= int(last), from = lane - by; break;
    case ShuffleMode::Down: isInside = lane + by <= last, from = lane + by; break;
    case ShuffleMode::Butterfly: from = lane ^ by, isInside = from <= last; break;
    case ShuffleMode::Index: from = first | (by & ~segment), isInside = from <= last; break;
    }
    if (!isInside) from = lane;
    if (!(lanes >> from & 1)) {
      Thread &thread = *warp.lanes[lane];
      block.complain(Fault::Divergence, &thread, line, 0,
                     block.where(thread) + " reads from lane " + std::to_string(from) +
                         ", which takes no part in the shuffle");
      from = lane;
    }
    own.result = Block::exchangeOf<Shuffle>(warp, from).value | uint64_t(isInside) << 32;
  });
}
uint64_t hooks_impl::shuffle(SprigGpuThread *self, uint32_t mode, uint32_t value, uint32_t lane, uint32_t clamp,
                             uint32_t mask, uint32_t line) {
  Thread &thread = Block::thread(self);
  Shuffle shuffle{ShuffleMode(mode), value, lane, clamp, 0};
  thread.owner->meet(thread, mask, line, shuffle, performShuffle);
  return shuffle.result;
}

static void performVote(Block &, Warp &warp, uint32_t lanes, uint32_t) {
  uint32_t ballot = 0;
  forLanes(lanes,
           [&](unsigned lane) { ballot |= uint32_t(Block::exchangeOf<Vote>(warp, lane).predicate != 0) << lane; });
  forLanes(lanes, [&](unsigned lane) {
    Vote &own = Block::exchangeOf<Vote>(warp, lane);
    switch (own.mode) {
    case VoteMode::All: own.result = ballot == lanes; break;
    case VoteMode::Any: own.result = ballot != 0; break;
    case VoteMode::Uniform: own.result = ballot == lanes || !ballot; break;
    case VoteMode::Ballot: own.result = ballot; break;
    }
  });
}
uint32_t hooks_impl::vote(SprigGpuThread *self, uint32_t mode, uint32_t predicate, uint32_t mask, uint32_t line) {
  Thread &thread = Block::thread(self);
  Vote vote{VoteMode(mode), predicate, 0};
  thread.owner->meet(thread, mask, line, vote, performVote);
  return vote.result;
}

static void performMatch(Block &, Warp &warp, uint32_t lanes, uint32_t) {
  forLanes(lanes, [&](unsigned lane) {
    Match &own = Block::exchangeOf<Match>(warp, lane);
    uint32_t equal = 0;
    forLanes(lanes, [&](unsigned other) {
      equal |= uint32_t(Block::exchangeOf<Match>(warp, other).value == own.value) << other;
    });
    own.result = !own.all || equal == lanes ? equal : 0;
  });
}
uint64_t hooks_impl::match(SprigGpuThread *self, uint32_t all, uint64_t value, uint32_t mask, uint32_t line) {
  Thread &thread = Block::thread(self);
  Match match{all != 0, value, 0};
  thread.owner->meet(thread, mask, line, match, performMatch);
  return match.result;
}

static void performReduction(Block &, Warp &warp, uint32_t lanes, uint32_t) {
  ReduceOperation operation = Block::exchangeOf<Reduction>(warp, unsigned(__builtin_ctz(lanes))).operation;
  bool isFirst = true;
  uint32_t sum = 0;
  forLanes(lanes, [&](unsigned lane) {
    uint32_t value = Block::exchangeOf<Reduction>(warp, lane).value;
    if (std::exchange(isFirst, false)) {
      sum = value;
      return;
    }
    switch (operation) {
    case ReduceOperation::Add: sum += value; break;
    case ReduceOperation::MinSigned: sum = uint32_t(std::min(int32_t(sum), int32_t(value))); break;
    case ReduceOperation::MinUnsigned: sum = std::min(sum, value); break;
    case ReduceOperation::MaxSigned: sum = uint32_t(std::max(int32_t(sum), int32_t(value))); break;
    case ReduceOperation::MaxUnsigned: sum = std::max(sum, value); break;
    case ReduceOperation::And: sum &= value; break;
    case ReduceOperation::Or: sum |= value; break;
    case ReduceOperation::Xor: sum ^= value; break;
    }
  });
  forLanes(lanes, [&](unsigned lane) { Block::exchangeOf<Reduction>(warp, lane).result = sum; });
}
uint32_t hooks_impl::reduce(SprigGpuThread *self, uint32_t operation, uint32_t value, uint32_t mask, uint32_t line) {
  Thread &thread = Block::thread(self);
  Reduction reduction{ReduceOperation(operation), value, 0};
  thread.owner->meet(thread, mask, line, reduction, performReduction);
  return reduction.result;
}

// Which lanes are together is the hardware's choice; what is right for every choice is right for the smallest.
uint32_t hooks_impl::activeMask(SprigGpuThread *self, uint32_t) { return 1u << self->laneid; }
