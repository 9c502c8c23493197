#include "test/gpu/driver/DeviceKinds.h"
#include "test/gpu/driver/Cuda.h"

namespace sprig::cuda {
namespace {

constexpr int KiB = 1024, MiB = 1024 * 1024;
constexpr uint64_t GiB = uint64_t(1) << 30;

// clang-format off
constexpr DeviceKind kinds[] = {
    // architecture, name, capability, SMs, threads and blocks per SM, shared per SM and block, clocks, bus, L2, memory
    {"sm_75", "Stand-in T4", 7, 5, 40, 1024, 16, 64 * KiB, 64 * KiB, 1590000, 5001000, 256, 4 * MiB, 16 * GiB},
    {"sm_80", "Stand-in A100", 8, 0, 108, 2048, 32, 164 * KiB, 163 * KiB, 1410000, 1215000, 5120, 40 * MiB, 40 * GiB},
    {"sm_86", "Stand-in RTX 3090", 8, 6, 82, 1536, 16, 100 * KiB, 99 * KiB, 1695000, 9751000, 384, 6 * MiB, 24 * GiB},
    {"sm_89", "Stand-in RTX 4090", 8, 9, 128, 1536, 24, 100 * KiB, 99 * KiB, 2520000, 10501000, 384, 72 * MiB, 24 * GiB},
    {"sm_90", "Stand-in H100", 9, 0, 132, 2048, 32, 228 * KiB, 227 * KiB, 1980000, 2619000, 5120, 50 * MiB, 80 * GiB},
    {"sm_100", "Stand-in B200", 10, 0, 148, 2048, 32, 228 * KiB, 227 * KiB, 1965000, 3996000, 8192, 126 * MiB, 180 * GiB},
    {"sm_103", "Stand-in B300", 10, 3, 148, 2048, 32, 228 * KiB, 227 * KiB, 1920000, 3996000, 8192, 126 * MiB, 288 * GiB},
    {"sm_120", "Stand-in RTX 5090", 12, 0, 170, 1536, 24, 100 * KiB, 99 * KiB, 2407000, 14001000, 512, 96 * MiB, 32 * GiB},
};
// clang-format on

} // namespace

const DeviceKind *findDeviceKind(std::string_view architecture) {
  for (const DeviceKind &kind : kinds)
    if (kind.architecture == architecture) return &kind;
  return nullptr;
}

std::optional<int> DeviceKind::attribute(unsigned attribute) const {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return threadsPerBlock;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 0x7fffffff;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return sharedPerBlock;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return 64 * KiB;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return warp;
  case CU_DEVICE_ATTRIBUTE_MAX_PITCH: return 0x7fffffff;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return registersPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return clockKHz;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return multiprocessors;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return memoryClockKHz;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return busBits;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return l2Bytes;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return threadsPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 3;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return major;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return minor;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return sharedPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return sharedPerBlockOptIn;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return blocksPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return reservedSharedPerBlock;
  case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: return hasClusters();
  case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
  case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED: return 1;
  // No managed memory, no pools of the caller's own: what the stand-in does not do, it does not offer either.
  case CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT:
  case CU_DEVICE_ATTRIBUTE_INTEGRATED:
  case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
  case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
  case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
  case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
  case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
  case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: return 0;
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 1; // cuMemAllocAsync
  default: return std::nullopt;
  }
}

} // namespace sprig::cuda
