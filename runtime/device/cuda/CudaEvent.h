// A place in a stream. Each record has an event of the driver's of its own for as long as somebody may look at it,
// since other kinds of devices look later than they were told to wait, when a next run has recorded again.
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_CUDAEVENT_H
#define SPRIG_RUNTIME_DEVICE_CUDA_CUDAEVENT_H

#include "runtime/device/cuda/CudaContext.h"

#include <array>
#include <atomic>

namespace sprig::rt::core {

class CudaEvent final : public DeviceEvent {
public:
  explicit CudaEvent(std::shared_ptr<CudaContext> context) : context(std::move(context)) {}
  ~CudaEvent() override;
  Status make();

  bool reached(EventNumber number) override;
  bool synchronize(EventNumber number, std::optional<std::chrono::nanoseconds> limit) override;
  Status failure() const override;

  const CudaContext &device() const { return *context; }
  // With the context current. Where it fails, or the stream has before, that shows when the event is waited for.
  void record(cuda::CUstream stream, cuda::CUresult before = cuda::CUDA_SUCCESS);
  // What a driver answered that failed, so far.
  cuda::CUresult answer() const { return failed; }
  cuda::CUevent ofLast() const { return slots[issued % kSlots]; }

private:
  // Two runs are under way at most, and each records once.
  static constexpr EventNumber kSlots = 4;
  bool isOver(cuda::CUresult result);

  std::shared_ptr<CudaContext> context;
  std::array<cuda::CUevent, kSlots> slots = {};
  std::atomic<EventNumber> recorded{0}; // `issued` for other threads, which look at slots that were used again
  std::atomic<cuda::CUresult> failed{cuda::CUDA_SUCCESS}; // what the driver answered in place of it
};

} // namespace sprig::rt::core

#endif
