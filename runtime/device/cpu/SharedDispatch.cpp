#include "runtime/device/cpu/SharedDispatch.h"

#include "runtime/exec/Pool.h"

namespace sprig::rt::core {

namespace {

// Waking a thread that sleeps costs the caller a system call, about a microsecond or two, and the thread comes tens of
// microseconds later. So it is woken when as much work as it could have shared has gone by, and then stays awake for a
// while: a stream of small calls pays once, a single one not at all.
constexpr double kWakeSeconds = 30e-6;

// About what a command takes on one thread; for decisions on threads only. Of unknown cost: enough to wake for.
double secondsOf(const Command &command) {
  if (command.flops == 0 && command.bytes == 0) return kWakeSeconds;
  constexpr double flopsPerSecond = 6e10, bytesPerSecond = 4e10;
  return std::max(double(command.flops) / flopsPerSecond, double(command.bytes) / bytesPerSecond);
}

} // namespace

void HelperCalls::share(Pool &pool, const Command &command) {
  if (!pool.someSleep()) return;
  unshared += secondsOf(command);
  if (unshared < kWakeSeconds) return;
  unshared = 0;
  pool.wake();
}

} // namespace sprig::rt::core
