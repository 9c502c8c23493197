#include "runtime/device/cpu/LaneThread.h"

#include "runtime/machine/Machine.h"
#include "runtime/machine/Processors.h"

#include <system_error>

namespace sprig::rt::core {

LaneThread::LaneThread(const Pool &pool, std::function<void()> drive) : pool(pool), drive(std::move(drive)) {}

LaneThread::~LaneThread() {
  if (!thread.joinable()) return;
  closing.store(true);
  number.fetch_add(1);
  number.notify_one();
  thread.join();
}

bool LaneThread::begin() {
  if (!thread.joinable()) {
    looks = pool.threads() < uint32_t(defaultThreads());
    try {
      thread = std::thread([this] { loop(); });
    } catch (const std::system_error &) {
      return false;
    }
  }
  number.fetch_add(1);
  number.notify_one();
  return true;
}

void LaneThread::loop() {
  runAnywhere();
  for (uint32_t seen = 0;; ++seen) {
    waitUntil(number, [&] { return number.load() != seen; });
    if (closing.load()) return;
    drive();
  }
}

} // namespace sprig::rt::core
