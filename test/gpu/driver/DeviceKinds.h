// What devices of each architecture are like: one product for each, by the figures that its driver reports.
#ifndef SPRIG_TEST_GPU_DRIVER_DEVICEKINDS_H
#define SPRIG_TEST_GPU_DRIVER_DEVICEKINDS_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace sprig::cuda {

struct DeviceKind {
  std::string_view architecture, name;
  int major, minor;
  int multiprocessors;
  int threadsPerMultiprocessor, blocksPerMultiprocessor;
  int sharedPerMultiprocessor, sharedPerBlockOptIn; // bytes
  int clockKHz, memoryClockKHz, busBits;
  int l2Bytes;
  uint64_t memoryBytes;

  static constexpr int warp = 32, threadsPerBlock = 1024, registersPerMultiprocessor = 65536;
  static constexpr int sharedPerBlock = 48 * 1024, reservedSharedPerBlock = 1024;

  bool hasClusters() const { return major >= 9; }
  /// Bytes a second; memory moves data at both edges of its clock.
  double bandwidth() const { return 2e3 * memoryClockKHz * busBits / 8; }
  /// What cuDeviceGetAttribute answers, but for what depends on the ordinal; nothing for attributes it does not know.
  std::optional<int> attribute(unsigned attribute) const;
};

const DeviceKind *findDeviceKind(std::string_view architecture);

} // namespace sprig::cuda

#endif
