// Graphics processors of this machine, as NVIDIA's driver tells of them, and what was looked for.
// For `sprig devices` and for errors about devices that are not there; asked by the table that the runtime runs them
// by.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sprig::machine {

struct Gpu {
  std::string name;
  int64_t memoryBytes = 0;
  int major = 0, minor = 0; ///< compute capability: 9.0 is sm_90
  int multiprocessors = 0;
  int threadsPerMultiprocessor = 0;
  int64_t sharedBytesPerBlock = 0; ///< that a kernel has without asking for more

  std::string architecture() const { return "sm_" + std::to_string(major) + std::to_string(minor); }
};

/// Where to look; the defaults are the system's.
struct GpuPlaces {
  std::string library = "libcuda.so.1"; ///< NVIDIA's driver library
  std::string devices = "/dev";         ///< folder of the device files nvidia0, nvidia1, ...
};

struct GpuSearch {
  std::vector<Gpu> gpus;
  int deviceFiles = 0;
  int driverVersion = 0; ///< of CUDA: 12040 is 12.4; 0 without a driver that works
  std::string found;     ///< what there is of a driver: "libcuda.so.1 does not load, /dev has no nvidia0"

  /// One line: "no GPU: ... (what was looked for)", or how many there are and how to run on them.
  std::string describe() const;
};

/// Loads the driver's library and asks it; takes up to a second where there is one.
GpuSearch findGpus(const GpuPlaces &places = {});

} // namespace sprig::machine
