// What a package's kernels take of NVIDIA GPUs and how long an analytical model expects them to take: for `inspect` and
// `compile -v`. Read from the cubins; of PTX alone, and of a cubin that is not understood, registers and occupancy are
// not known.
#pragma once
#include "tools/sprig/Report.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sprig::machine {
struct CudaDevice;
}

namespace sprig::cli {

struct CudaKernelRow {
  std::string kernel, command; ///< of the commands that launch it the one with the most blocks
  int64_t launches = 0;        ///< in all entries
  int64_t blocks = 0, threads = 0;
  /// Of a thread (the stack has registers that were spilled), of a block; not always known.
  std::optional<int64_t> registers, stackBytes, sharedBytes;
  int64_t blocksOnMultiprocessor = 0;
  double flops = 0, bytes = 0, seconds = 0;
  bool isTf32 = false; ///< its products are on tensor cores, as the package's PTX says
  std::string bound;   ///< arithmetic, memory or launch

  double occupancy(const machine::CudaDevice &device) const;
};

struct CudaEntryTime {
  std::string entry;
  int64_t kernels = 0; ///< that a call launches
  int64_t lanes = 1;   ///< whose kernels run side by side; the seconds are those of one after the other
  double seconds = 0, launchSeconds = 0;
};

/// All of a package for one architecture.
struct CudaImageReport {
  std::string architecture; ///< "sm_90"; "compute_80" is PTX
  const machine::CudaDevice *device = nullptr;
  std::string problem; ///< why the cubin says nothing of its kernels; empty: it does
  std::vector<CudaKernelRow> kernels;
  std::vector<CudaEntryTime> entries;
};

/// One for each cubin, or where there is none for the PTX; of packages without code for CUDA devices none. The bytes
/// are those of a package that has been loaded.
std::vector<CudaImageReport> cudaKernels(std::span<const std::byte> package);

Json toJson(const std::vector<CudaImageReport> &reports);
void print(const std::vector<CudaImageReport> &reports);

} // namespace sprig::cli
