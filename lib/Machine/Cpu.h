// What this machine's processor is: cores, caches, instruction sets, memory, and how many threads we may use.
// For `sprig devices`, defaults of threads and instruction sets, and rooflines. Read from the kernel's /sys and CPUID.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sprig::machine {

struct Cache {
  int level = 0;
  std::string type;  ///< "data", "instruction" or "unified"
  int64_t bytes = 0; ///< of one instance
  int instances = 0; ///< how many the machine has
  int64_t lineBytes = 0;
};

struct Cpu {
  std::string model;
  int logical = 0;  ///< logical processors online
  int physical = 0; ///< cores
  int sockets = 0;
  double usable = 0; ///< processors that we may use: the smaller of affinity and cgroup quota
  std::vector<Cache> caches;
  std::vector<std::string> features; ///< SIMD features by their names in /proc/cpuinfo
  std::string isa;                   ///< the best of x86-64-v2, x86-64-v3, x86-64-v4
  int64_t memoryBytes = 0;

  /// Threads to use by default: whole usable processors, at least 1.
  int defaultThreads() const { return usable < 1 ? 1 : int(usable); }
  /// The data or unified cache of a level, or null.
  const Cache *cache(int level) const;
};

/// Reads it anew.
Cpu readCpu();
/// The best of x86-64-v2, x86-64-v3, x86-64-v4 that this processor has, else x86-64.
std::string bestIsa();
/// The instruction sets of a package for which nobody names any; the last two only where a network multiplies bytes or
/// bf16.
const std::vector<std::string> &packagedCpus();

} // namespace sprig::machine
