#include "runtime/device/NullDevice.h"

#include "runtime/exec/Run.h"

#include <algorithm>

namespace sprig::rt::core {

// Addresses are formed but never followed, so one cache line stands for any amount.
Status NullDevice::allocate(const Allocator &allocator, uint64_t, std::string_view what, Block &block) const {
  return Block::make(allocator, 64, what, block);
}

void NullDevice::begin(LaneRun &lane) const { lane.slot.seconds = 0; }

void NullDevice::dispatch(LaneRun &lane, const Command &command, void *const *) const {
  lane.slot.seconds +=
      kLaunchSeconds + std::max(double(command.flops) / kFlopsPerSecond, double(command.bytes) / kBytesPerSecond);
}

void NullDevice::copy(LaneRun &lane, const Command &command, void *const *) const {
  lane.slot.seconds += kLaunchSeconds + 2 * double(command.copyBytes) / kBytesPerSecond;
}

void NullDevice::record(LaneRun &lane, uint32_t event) const { lane.run.setEventSeconds(event, lane.slot.seconds); }

void NullDevice::wait(LaneRun &lane, uint32_t event) const {
  lane.slot.seconds = std::max(lane.slot.seconds, lane.run.eventSeconds(event));
}

double NullDevice::seconds(const LaneSlot &slot) const { return slot.seconds; }

} // namespace sprig::rt::core
