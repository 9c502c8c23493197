// The threads that run a device's programs: its share of those that the process may use.
// For plans and loaded packages, which take it at each run.
#pragma once
#include "lib/Frontend/Base/Devices.h"
#include "sprig/rt/sprig_rt.hpp"
#include <optional>

namespace sprig::frontend {

/// The pool of a device's threads as it is now: each device that is opened takes its share.
class DeviceThreads {
public:
  /// `hasAll`: for a program of several devices, which divides them itself.
  DeviceThreads(DeviceId device, bool hasAll) : device(device), all(hasAll) { changed(); }
  bool hasAll() const { return all; }
  /// Null: the process's, with all threads.
  const rt::Pool *pool() const { return mine ? &*mine : nullptr; }
  /// Whether it is another one than when it was last asked.
  bool changed() { return !all && devices != openDevices() && renew(); }

private:
  bool renew();

  DeviceId device;
  bool all;
  size_t devices = 0; // that were open when the pool was taken
  std::optional<rt::Pool> mine;
};

} // namespace sprig::frontend
