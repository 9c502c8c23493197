#include "test/gpu/emulator/Order.h"
#include <algorithm>

using namespace sprig::gpu;

void BlockKnowledge::join(const BlockKnowledge &other) {
  floor = std::max(floor, other.floor);
  if (clocks.size() < other.clocks.size()) clocks.resize(other.clocks.size());
  for (size_t i = 0; i < other.clocks.size(); ++i) clocks[i] = std::max(clocks[i], other.clocks[i]);
}

OrderSnapshot sprig::gpu::joined(const OrderSnapshot &a, const OrderSnapshot &b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto result = std::make_shared<Knowledge>(*a);
  for (const auto &[block, knowledge] : *b) (*result)[block].join(knowledge);
  return result;
}

OrderSnapshot BlockClock::release(uint32_t thread, OrderState &state) const {
  auto result = state.known ? std::make_shared<Knowledge>(*state.known) : std::make_shared<Knowledge>();
  BlockKnowledge &own = (*result)[block];
  own.floor = std::max(own.floor, floor);
  if (own.clocks.size() <= thread) own.clocks.resize(thread + 1);
  own.clocks[thread] = std::max(own.clocks[thread], state.clock++);
  return result;
}
