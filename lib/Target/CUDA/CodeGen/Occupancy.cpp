#include "lib/Target/CUDA/CodeGen/Occupancy.h"
#include "llvm/Support/MathExtras.h"

using namespace sprig;

// Registers are given to warps in units of this many, shared memory to blocks in units of so many bytes.
static constexpr int64_t kRegisterUnit = 256, kSharedUnit = 128;

int64_t sprig::blocksOnMultiprocessor(const CudaArch &arch, const KernelUsage &usage, const LaunchShape &launch) {
  int64_t warps = llvm::divideCeil(int64_t(launch.threads), CudaArch::kWarp);
  if (warps == 0) return 0;
  int64_t blocks = std::min(arch.blocks, arch.threads / (warps * CudaArch::kWarp));
  if (usage.registers > 0) {
    int64_t ofWarp = llvm::alignTo(usage.registers * CudaArch::kWarp, kRegisterUnit);
    blocks = std::min(blocks, CudaArch::kRegisters / ofWarp / warps);
  }
  int64_t shared =
      llvm::alignTo(usage.sharedBytes + launch.sharedBytes + CudaArch::kReservedSharedPerBlock, kSharedUnit);
  return std::min(blocks, arch.shared / shared);
}
