// Where tensors are and operations run: cpu:0, cpu:1, ... are shares of the cores, each with a queue of its own.
// For programs; the same names as `--devices` of the command line and CompileOptions::devices (docs/parallel.md). The
// bits of a result never depend on the device.
#pragma once
#include "sprig/api.h"
#include "sprig/source.h"
#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace sprig {

/// A device by its name. That it is there is checked where it is used: `null` and `cuda` are refused by tensors with
/// Error (unsupported).
class Device {
public:
  enum class Kind : uint8_t { cpu, cuda, null };

  constexpr Device() = default; ///< cpu:0
  constexpr Device(Kind kind, uint16_t number) : deviceKind(kind), deviceNumber(number) {}
  /// "cpu:1"; a kind alone is its first one. Throws Error (usage) for what names no device.
  SPRIG_API Device(const std::string &name, Source at = Source::here());
  Device(const char *name, Source at = Source::here()) : Device(std::string(name), at) {}

  Kind kind() const { return deviceKind; }
  int number() const { return deviceNumber; }
  /// "cpu:1"
  SPRIG_API std::string name() const;
  friend auto operator<=>(const Device &, const Device &) = default;

private:
  Kind deviceKind = Kind::cpu;
  uint16_t deviceNumber = 0;
};

SPRIG_API std::ostream &operator<<(std::ostream &out, const Device &device);

/// Where this thread's new tensors are: cpu:0, or what the innermost DeviceScope says.
SPRIG_API Device defaultDevice();

/// While it lives, tensors that this thread makes of numbers, of a shape or at random are on this device. Results of
/// operations are where their operands are.
class SPRIG_API DeviceScope {
public:
  explicit DeviceScope(const Device &device, Source at = Source::here());
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

private:
  uint16_t outer;
};

/// Returns when everything that was recorded for this device has run, and the copies to it; other devices go on. Throws
/// the first failure of it that nobody has read.
SPRIG_API void synchronize(const Device &device, Source at = Source::here());

} // namespace sprig
