// The processor, or a share of its threads: those that a load names divide the threads of a context's pool evenly, in
// the order of the program's devices, and work on the same memory with the same code. A package that runs on them alone
// is a CpuRun; lanes beside those of other devices are CpuLanes.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_CPUDEVICE_H
#define SPRIG_RUNTIME_DEVICE_CPU_CPUDEVICE_H

#include "runtime/device/Device.h"

namespace sprig::rt::core {

class CpuDevice final : public Device {
public:
  explicit CpuDevice(uint32_t ordinal = 0) : Device("cpu", ordinal) {}
  bool sharesHostMemory() const override { return true; }
  bool reaches(const Device &other) const override { return other.sharesHostMemory(); }
  Status load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const override;
  Status allocate(const Allocator &allocator, uint64_t bytes, std::string_view what, Memory &memory) const override;
  Status createLane(Pool *helpers, std::unique_ptr<DeviceLane> &lane) const override;
  Status createEvent(std::unique_ptr<DeviceEvent> &event) const override;
  Status instantiate(const Package &package, Pool &pool, std::unique_ptr<Executable> &executable) const override;
};

} // namespace sprig::rt::core

#endif
