#include "lib/Frontend/Base/DevicesUsed.h"
#include <deque>
#include <mutex>

namespace sprig::frontend {

namespace {
struct Known {
  std::mutex mutex;
  std::deque<UsedDevice> devices; // addresses stay
};
Known &known() {
  static auto &all = *new Known;
  return all;
}
} // namespace

UsedDevice &UsedDevice::of(const std::string &name) {
  Known &all = known();
  std::lock_guard guard(all.mutex);
  for (UsedDevice &device : all.devices)
    if (device.name == name) return device;
  return all.devices.emplace_back(name);
}

std::string UsedDevice::list() {
  Known &all = known();
  std::lock_guard guard(all.mutex);
  std::string text;
  for (const UsedDevice &device : all.devices)
    if (device.used.load(std::memory_order_relaxed)) text += (text.empty() ? "" : ",") + device.name;
  return text;
}

} // namespace sprig::frontend
