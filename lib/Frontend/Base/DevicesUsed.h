// Which kinds of devices this process has run operations on, noted where they run.
// For reports that say where something ran.
#pragma once
#include <atomic>
#include <string>

namespace sprig::frontend {

/// A kind of device. Noting is a load once it is known.
class UsedDevice {
public:
  explicit UsedDevice(std::string name) : name(std::move(name)) {}
  void note() {
    if (!used.load(std::memory_order_relaxed)) used.store(true, std::memory_order_relaxed);
  }
  /// The one of a name, made at the first asking; never destroyed.
  static UsedDevice &of(const std::string &name);
  /// "cpu", or several with commas, in the order in which they became known; "" while nothing has run.
  static std::string list();

private:
  std::string name;
  std::atomic<bool> used{false};
};

} // namespace sprig::frontend
