// An NVIDIA GPU by its driver. Lanes are streams, events are events; a whole run is a graph (CudaExecutable.h).
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define SPRIG_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/cuda/CudaContext.h"

namespace sprig::rt::core {

class CudaDevice final : public Device {
public:
  CudaDevice(uint32_t ordinal, std::shared_ptr<CudaContext> context)
      : Device("cuda", ordinal), opened(std::move(context)) {}

  bool sharesHostMemory() const override { return false; }
  bool reaches(const Device &other) const override;
  Status load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const override;
  Status allocate(const Allocator &, uint64_t bytes, std::string_view what, Memory &memory) const override {
    return opened->allocate(bytes, what, memory);
  }
  Status createLane(Pool *, std::unique_ptr<DeviceLane> &lane) const override;
  Status createEvent(std::unique_ptr<DeviceEvent> &event) const override;
  Status markMoment(std::unique_ptr<DeviceMoment> &moment) const override { return opened->markMoment(moment); }
  Status transferNow(const Transfer &transfer) const override;
  Status checkArray(const void *address, std::string_view what) const override;
  Status checkStream(void *stream) const override;
  Status instantiate(const Package &package, Pool &pool, std::unique_ptr<Executable> &executable) const override;

  CudaContext &context() const { return *opened; }

private:
  std::shared_ptr<CudaContext> opened;
};

} // namespace sprig::rt::core

#endif
