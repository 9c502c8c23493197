// The devices that this process has used for tensors, by small numbers; the first is always cpu:0.
// For values, queues and plans. Devices are never closed: a number means the same device for good.
#pragma once
#include "sprig/device.h"
#include "sprig/source.h"
#include <cstddef>
#include <optional>
#include <span>

namespace sprig::frontend {

using DeviceId = uint16_t;
constexpr size_t kMostOpenDevices = 256;

/// The number of a device, which is open from then on. Throws Error (unsupported) in the name of `op` for one that
/// tensors cannot be on.
DeviceId openDevice(const Device &device, const char *op, Source at);
Device deviceOf(DeviceId id);
/// Its number if it is open.
std::optional<DeviceId> findDevice(const Device &device);
/// How many there are.
size_t openDevices();

/// Where this thread's new tensors are.
DeviceId currentDevice();

/// Where this thread records what no operand places: nullptr: on the device of its last operation, as a value that may
/// be used on any (what operations make for themselves).
const DeviceId *creationDevice();

/// While it lives, what no operand places is on this device for good: for functions that make tensors, and for what is
/// recorded on behalf of operations of this device.
class CreationScope {
public:
  explicit CreationScope(DeviceId device);
  CreationScope() : CreationScope(currentDevice()) {}
  ~CreationScope();
  CreationScope(const CreationScope &) = delete;
  CreationScope &operator=(const CreationScope &) = delete;

private:
  DeviceId device;
  const DeviceId *outer;
};

/// How many threads work for these devices, their caller's among them; 0: all that the process may use, as they are all
/// that are open, or where none are given.
int threadsOf(std::span<const DeviceId> devices);

} // namespace sprig::frontend
