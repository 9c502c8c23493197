// What every function of the interface does around its own part: takes the lock, refuses what comes too early or from a
// host function, and lets queued work go on as the order says.
#ifndef SPRIG_TEST_GPU_DRIVER_API_CALL_H
#define SPRIG_TEST_GPU_DRIVER_API_CALL_H

#include "test/gpu/driver/Driver.h"

namespace sprig::cuda {

// For calls that need another's success first.
#define SPRIG_CUDA_TRY(call)                                                                                           \
  if (CUresult tried = (call)) return tried

template <typename Body> CUresult call(const char *function, Body body) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  if (driver.scheduler.insideHostFunction()) {
    driver.report.complain(std::string("host function ") + function,
                           std::string(function) + " is called from a host function, which must not call CUDA");
    return CUDA_ERROR_NOT_PERMITTED;
  }
  if (!driver.initialised) return CUDA_ERROR_NOT_INITIALIZED;
  CUresult result = body(driver);
  driver.scheduler.progress();
  if (HostGuard *guard = driver.memory.hostGuard()) {
    for (const std::string &touched : guard->takeTouches()) driver.report.add("touched " + touched, touched);
    guard->release(driver.scheduler.hostClock());
  }
  return result;
}

/// The same for what needs a current context: `body(driver, context)`.
template <typename Body> CUresult callInContext(const char *function, Body body) {
  return call(function, [&](Driver &driver) -> CUresult {
    CUctx_st *context = nullptr;
    SPRIG_CUDA_TRY(driver.current(context));
    return body(driver, *context);
  });
}

/// The same for what goes to a stream: `body(driver, stream)`.
template <typename Body> CUresult callInStream(const char *function, CUstream handle, Body body) {
  return call(function, [&](Driver &driver) -> CUresult {
    CUstream_st *stream = nullptr;
    SPRIG_CUDA_TRY(driver.stream(handle, stream));
    return body(driver, *stream);
  });
}

} // namespace sprig::cuda

#endif
