// The processor: dispatches run kernels, split over the pool's threads where that pays.
#include "runtime/device/Device.h"
#include "runtime/device/NullDevice.h"
#include "runtime/exec/Run.h"

#include <cstring>

namespace sprig::rt::core {

namespace {

class CpuDevice final : public Device {
public:
  std::string_view kind() const override { return "cpu"; }
  bool executes() const override { return true; }
  Status allocate(const Allocator &allocator, uint64_t bytes, std::string_view what, Block &block) const override {
    return Block::make(allocator, bytes, what, block);
  }
  void begin(LaneRun &) const override {}
  void dispatch(LaneRun &lane, const Command &command, void *const *operands) const override {
    lane.run.dispatchTiles(lane, command, operands);
  }
  // The planner may alias source and target.
  void copy(LaneRun &, const Command &command, void *const *operands) const override {
    std::memmove(operands[1], operands[0], command.copyBytes);
  }
  void record(LaneRun &, uint32_t) const override {}
  void wait(LaneRun &, uint32_t) const override {}
  double seconds(const LaneSlot &) const override { return 0; }
};

} // namespace

const Device *findDevice(std::string_view kind) {
  static const CpuDevice cpu;
  static const NullDevice null;
  if (kind == cpu.kind()) return &cpu;
  return kind == null.kind() ? &null : nullptr;
}

} // namespace sprig::rt::core
