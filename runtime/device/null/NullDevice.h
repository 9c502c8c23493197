// A device for tests of everything that is not the processor: asynchronous, with memory that the host cannot touch, any
// number of them, an adversarial order and a clock of its own. It computes by whatever kernels the host can run
// (HostCode.h), or not at all: then it only keeps time, that of a nominal machine, for schedules of machines that are
// not here.
#ifndef SPRIG_RUNTIME_DEVICE_NULL_NULLDEVICE_H
#define SPRIG_RUNTIME_DEVICE_NULL_NULLDEVICE_H

#include "runtime/device/null/NullMachine.h"

namespace sprig::rt::core {

class NullDevice final : public Device {
public:
  NullDevice(uint32_t ordinal, std::shared_ptr<NullMachine> machine)
      : Device("null", ordinal), machine(std::move(machine)) {}

  bool sharesHostMemory() const override { return false; }
  bool executes() const override { return machine->options.computes; }
  bool reaches(const Device &other) const override { return other.sharesHostMemory() || other.kind() == kind(); }
  Status load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const override;
  Status allocate(const Allocator &allocator, uint64_t bytes, std::string_view what, Memory &memory) const override;
  Status createLane(Pool *, std::unique_ptr<DeviceLane> &lane) const override;
  Status createEvent(std::unique_ptr<DeviceEvent> &event) const override;

private:
  std::shared_ptr<NullMachine> machine;
};

} // namespace sprig::rt::core

#endif
