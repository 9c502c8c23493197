// The processor. A package that runs on it alone is a CpuRun; lanes beside those of other devices are CpuLanes.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_CPUDEVICE_H
#define SPRIG_RUNTIME_DEVICE_CPU_CPUDEVICE_H

#include "runtime/device/Device.h"
#include "runtime/load/CodeImage.h"

namespace sprig::rt::core {

// An image in executable memory. Devices that play the processor use it too.
class CpuCode final : public DeviceCode {
public:
  // Picks the best image that this processor has and maps it; without one for a program that has no kernels.
  static Status load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code);
  sprig_rt_kernel kernel(uint32_t index) const { return mapped.kernel(index); }

private:
  CodeImage mapped;
};

class CpuDevice final : public Device {
public:
  CpuDevice() : Device("cpu", 0) {}
  bool sharesHostMemory() const override { return true; }
  bool reaches(const Device &other) const override { return other.sharesHostMemory(); }
  Status load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const override {
    return CpuCode::load(request, code);
  }
  Status allocate(const Allocator &allocator, uint64_t bytes, std::string_view what, Memory &memory) const override;
  Status createLane(std::unique_ptr<DeviceLane> &lane) const override;
  Status createEvent(std::unique_ptr<DeviceEvent> &event) const override;
  Status instantiate(const Package &package, Pool &pool, std::unique_ptr<Executable> &executable) const override;
};

} // namespace sprig::rt::core

#endif
