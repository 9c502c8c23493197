// What kernels and code generation know of an NVIDIA architecture. For emitters, which choose tiles by its limits, and
// for the target, which names it to LLVM and ptxas. Nothing here may change a bit of a result.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace sprig::cuda {

struct CudaArch {
  int major = 9, minor = 0; // compute capability
  int ptx = 78; // version of the PTX that code is written in, 78 for 7.8: the oldest that knows the architecture

  // Limits of a block; of shared memory what is static, and with the driver told of it.
  static constexpr int64_t kWarp = 32, kStaticSharedPerBlock = 48 << 10;
  int64_t sharedPerBlock = 227 << 10;

  /// "sm_90" and "compute_90", as cubins and PTX are for.
  std::string name() const { return "sm_" + digits(); }
  std::string virtualName() const { return "compute_" + digits(); }

  bool operator==(const CudaArch &other) const { return major == other.major && minor == other.minor; }
  bool operator<(const CudaArch &other) const {
    return major != other.major ? major < other.major : minor < other.minor;
  }

private:
  std::string digits() const { return std::to_string(major) + std::to_string(minor); }
};

/// All that there is code for, the oldest first.
llvm::ArrayRef<CudaArch> cudaArchs();

/// "sm_90"; the error lists the names.
llvm::Expected<CudaArch> cudaArchByName(llvm::StringRef name);

} // namespace sprig::cuda
