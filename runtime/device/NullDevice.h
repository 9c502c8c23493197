// A device that executes nothing and keeps time: what a run would take on a machine of stated speed. Events carry the
// time of their lane, so that a schedule's overlap shows. For tests, and for schedules of machines that are not here.
#ifndef SPRIG_RUNTIME_DEVICE_NULLDEVICE_H
#define SPRIG_RUNTIME_DEVICE_NULLDEVICE_H

#include "runtime/device/Device.h"

namespace sprig::rt::core {

class NullDevice final : public Device {
public:
  // The machine that it plays: one core of the time of this writing.
  static constexpr double kFlopsPerSecond = 1e11;
  static constexpr double kBytesPerSecond = 2e10;
  static constexpr double kLaunchSeconds = 1e-7;

  std::string_view kind() const override { return "null"; }
  bool executes() const override { return false; }
  Status allocate(const Allocator &allocator, uint64_t bytes, std::string_view what, Block &block) const override;
  void begin(LaneRun &lane) const override;
  void dispatch(LaneRun &lane, const Command &command, void *const *operands) const override;
  void copy(LaneRun &lane, const Command &command, void *const *operands) const override;
  void record(LaneRun &lane, uint32_t event) const override;
  void wait(LaneRun &lane, uint32_t event) const override;
  double seconds(const LaneSlot &slot) const override;
};

} // namespace sprig::rt::core

#endif
