// A GPU as the driver has it: its primary context, its memory, and what its errors are called. One for each number, for
// all packages of the process; the first that asks makes it, the last one lets it go.
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_CUDACONTEXT_H
#define SPRIG_RUNTIME_DEVICE_CUDA_CUDACONTEXT_H

#include "runtime/device/Device.h"
#include "runtime/machine/CudaDriver.h"

#include <map>
#include <mutex>

namespace sprig::rt::core {

class CudaContext : public std::enable_shared_from_this<CudaContext> {
public:
  // Fails with UNSUPPORTED where there is no driver, too old a one, or no such device.
  static Status open(uint32_t ordinal, std::shared_ptr<CudaContext> &context);
  ~CudaContext();

  const cuda::CudaDriver &driver;
  const std::string name; // "cuda:0"
  cuda::CUdevice device = 0;
  cuda::CUcontext handle = nullptr;
  int major = 0, minor = 0;     // compute capability
  uint32_t mostShared = 0;      // bytes of a block
  cuda::CUstream own = nullptr; // for copies that somebody waits for at once

  // Makes the context the thread's current one, and the one before again.
  class Scope {
  public:
    explicit Scope(const CudaContext &context)
        : driver(context.driver), isPushed(driver.cuCtxPushCurrent_v2(context.handle) == cuda::CUDA_SUCCESS) {}
    ~Scope() {
      cuda::CUcontext popped;
      if (isPushed) driver.cuCtxPopCurrent_v2(&popped);
    }
    Scope(const Scope &) = delete;

  private:
    const cuda::CudaDriver &driver;
    const bool isPushed; // calls in the scope fail by themselves where it is not
  };

  // What an answer of the driver to `what` means; success is no error.
  Status statusOf(cuda::CUresult result, std::string_view what) const {
    return result == cuda::CUDA_SUCCESS ? Status() : failure(result, what);
  }

  // Device memory, aligned to 256 bytes; none for 0 bytes.
  Status allocate(uint64_t bytes, std::string_view what, Memory &memory);
  // Memory of the host that the device reaches, at its address there.
  struct Pinned {
    uint8_t *host = nullptr;
    cuda::CUdeviceptr device = 0;
    std::shared_ptr<void> owner;
  };
  Status allocatePinned(uint64_t bytes, std::string_view what, Pinned &memory);

  // An event that the device has passed.
  struct Moment final : DeviceMoment {
    ~Moment() override;
    std::shared_ptr<const CudaContext> context;
    cuda::CUevent event = nullptr;
  };
  Status markMoment(std::unique_ptr<DeviceMoment> &moment);

  // Lets copies of this device go to the other's memory directly, where the machine can do that.
  void reachDirectly(const CudaContext &other) const;

private:
  explicit CudaContext(uint32_t ordinal);
  Status make(uint32_t ordinal);
  Status failure(cuda::CUresult result, std::string_view what) const;
  Status outOfMemory(uint64_t bytes, std::string_view what) const;
  void count(const std::string &use, int64_t bytes);

  mutable std::mutex lock;
  std::map<std::string, uint64_t, std::less<>> uses; // bytes that are held, by what for
};

} // namespace sprig::rt::core

#endif
