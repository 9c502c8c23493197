// The threads that run programs of a device, or of several: their shares of those that the process may use.
// For plans and loaded packages, which take them at each run.
#pragma once
#include "lib/Frontend/Base/Devices.h"
#include "sprig/rt/sprig_rt.hpp"
#include <optional>
#include <vector>

namespace sprig::frontend {

/// The pool of devices as it is now: each device that is opened takes its share. A program of several devices divides
/// it itself.
class DeviceThreads {
public:
  explicit DeviceThreads(std::vector<DeviceId> devices) : devices(std::move(devices)) { changed(); }
  /// Null: the process's, with all threads.
  const rt::Pool *pool() const { return mine ? &*mine : nullptr; }
  /// Whether it is another one than when it was last asked.
  bool changed() { return open != openDevices() && renew(); }

private:
  bool renew();

  std::vector<DeviceId> devices;
  size_t open = 0; // devices that were, when the pool was taken
  std::optional<rt::Pool> mine;
};

} // namespace sprig::frontend
