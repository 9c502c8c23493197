#include "runtime/device/RunControl.h"

#include "runtime/base/KernelFailure.h"

#include <utility>

namespace sprig::rt::core {

void RunControl::stopFailed() {
  uint32_t going = Going;
  stop.compare_exchange_strong(going, Failed, std::memory_order_relaxed);
}

void RunControl::fail(const Command &command, const sprig_rt_kernel_status &status, int32_t result, int64_t begin) {
  std::lock_guard guard(lock);
  if (failure.command && (failure.command != &command || failure.begin < begin)) return;
  failure = {&command, status, result, begin};
  stopFailed();
}

void RunControl::fail(Status status) {
  std::lock_guard guard(lock);
  if (deviceFailure.isOk()) deviceFailure = std::move(status);
  stopFailed();
}

static Status kernelFailure(const Program &program, const Command &command, const sprig_rt_kernel_status &found,
                            int32_t result) {
  const Kernel &kernel = program.kernels[command.kernel];
  bool named = found.op >= 0 && size_t(found.op) < kernel.opNames.size();
  std::string where = concat("'",
                             named                  ? kernel.opNames[size_t(found.op)]
                             : command.name.empty() ? kernel.name
                                                    : command.name,
                             "'");
  std::string what = describeKernelFailure(result, found.value, found.bound);
  if (!what.empty()) return {SPRIG_RT_BAD_INPUT, concat(where, ": ", what)};
  return {SPRIG_RT_INTERNAL, concat(where, ": kernel '", kernel.name, "' ended with unknown code ", result)};
}

void RunControl::lookAtWatched() {
  for (const Watched &dispatch : watched) {
    int32_t result = dispatch.status->code;
    if (result == SPRIG_RT_KERNEL_OK) continue;
    if (!failure.command) failure = {dispatch.command, *dispatch.status, result, 0};
    stopFailed();
    *dispatch.status = {};
  }
  watched.clear();
}

Status RunControl::take(const Program &program) {
  std::lock_guard guard(lock);
  lookAtWatched();
  Failure taken = std::exchange(failure, {});
  Status device = std::exchange(deviceFailure, {});
  if (stop.load(std::memory_order_relaxed) == Going) return {};
  if (isCancelled()) return {SPRIG_RT_CANCELLED, "the run was cancelled"};
  if (!device.isOk() || !taken.command) return device;
  return kernelFailure(program, *taken.command, taken.status, taken.result);
}

} // namespace sprig::rt::core
