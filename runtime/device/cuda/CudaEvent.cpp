#include "runtime/device/cuda/CudaEvent.h"

#include <thread>

namespace sprig::rt::core {

using namespace cuda;

// How often to look, where the driver's own way of waiting has no limit.
static constexpr std::chrono::microseconds kPause(20);

Status CudaEvent::make() {
  CudaContext::Scope scope(*context);
  for (CUevent &slot : slots)
    SPRIG_RETURN_IF_ERROR(
        context->statusOf(context->driver.cuEventCreate(&slot, CU_EVENT_DISABLE_TIMING), "making an event"));
  return {};
}

CudaEvent::~CudaEvent() {
  CudaContext::Scope scope(*context);
  for (CUevent slot : slots)
    if (slot) context->driver.cuEventDestroy_v2(slot);
}

void CudaEvent::record(CUstream stream, CUresult before) {
  ++issued;
  CUresult result = context->driver.cuEventRecord(slots[issued % kSlots], stream);
  isOver(before == CUDA_SUCCESS ? result : before);
  recorded = issued;
}

bool CudaEvent::isOver(CUresult result) {
  if (result == CUDA_ERROR_NOT_READY) return false;
  if (result != CUDA_SUCCESS) failed = result;
  return true;
}

bool CudaEvent::reached(EventNumber number) {
  if (number == 0 || number + kSlots <= recorded) return true;
  CudaContext::Scope scope(*context);
  return isOver(context->driver.cuEventQuery(slots[number % kSlots]));
}

bool CudaEvent::synchronize(EventNumber number, std::optional<std::chrono::nanoseconds> limit) {
  if (number == 0 || number + kSlots <= recorded) return true;
  if (!limit) {
    CudaContext::Scope scope(*context);
    return isOver(context->driver.cuEventSynchronize(slots[number % kSlots]));
  }
  using Clock = std::chrono::steady_clock;
  for (Clock::time_point end = Clock::now() + *limit; !reached(number);) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

Status CudaEvent::failure() const { return context->statusOf(failed, "running commands"); }

} // namespace sprig::rt::core
