#include "lib/Machine/CudaModel.h"
#include "lib/Machine/AccessTime.h"
#include <algorithm>

namespace sprig::machine {
namespace {

constexpr int64_t operator""_KiB(unsigned long long count) { return int64_t(count) << 10; }
constexpr int64_t operator""_MiB(unsigned long long count) { return int64_t(count) << 20; }

// Multiprocessors, rates in f32 and tf32, second-level cache and memory: NVIDIA's data sheets and architecture white
// papers of the A100 (40 GB), the RTX 3090, 4090 and 5090, the H100 (SXM) and the B200. Threads, blocks and shared
// memory of a multiprocessor: the CUDA programming guide's tables of compute capabilities.
constexpr CudaDevice kDevices[] = {
    {"sm_80", "A100", 108, 19.5e12, 156e12, 40_MiB, 1.55e12, 2048, 32, 164_KiB},
    {"sm_86", "RTX 3090", 82, 35e12, 35e12, 6_MiB, 0.94e12, 1536, 16, 100_KiB},
    {"sm_89", "RTX 4090", 128, 82e12, 82e12, 72_MiB, 1.0e12, 1536, 24, 100_KiB},
    {"sm_90", "H100", 132, 67e12, 494e12, 50_MiB, 3.35e12, 2048, 32, 228_KiB},
    {"sm_100", "B200", 148, 75e12, 1100e12, 126_MiB, 8.0e12, 2048, 32, 228_KiB},
    {"sm_120", "RTX 5090", 170, 105e12, 105e12, 96_MiB, 1.8e12, 1536, 24, 100_KiB},
};
// What the second-level cache gives beyond the memory.
constexpr double kCacheFactor = 2.5;

// Registers are given to warps in units of this many, shared memory to blocks in units of so many bytes.
constexpr int64_t kRegisterUnit = 256, kSharedUnit = 128;

constexpr int64_t divideUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }
constexpr int64_t roundUp(int64_t value, int64_t unit) { return divideUp(value, unit) * unit; }

} // namespace

double CudaDevice::cached() const { return memory * kCacheFactor; }

const CudaDevice *findCudaDevice(std::string_view architecture) {
  // Of PTX the card of the architecture that it was made for.
  constexpr std::string_view virtualPrefix = "compute_", prefix = "sm_";
  std::string_view digits = architecture.starts_with(virtualPrefix) ? architecture.substr(virtualPrefix.size())
                            : architecture.starts_with(prefix)      ? architecture.substr(prefix.size())
                                                                    : std::string_view();
  const CudaDevice *row = std::find_if(std::begin(kDevices), std::end(kDevices), [&](const CudaDevice &each) {
    return each.architecture.substr(prefix.size()) == digits;
  });
  return row == std::end(kDevices) ? nullptr : row;
}

int64_t blocksOnMultiprocessor(const CudaDevice &device, int64_t registers, int64_t sharedBytes, int64_t threads) {
  int64_t warps = divideUp(threads, CudaDevice::kWarp);
  if (warps == 0) return 0;
  int64_t blocks = std::min(device.blocks, device.threads / (warps * CudaDevice::kWarp));
  if (registers > 0) {
    int64_t ofWarp = roundUp(registers * CudaDevice::kWarp, kRegisterUnit);
    // Each of its partitions has warps of its own, and their registers.
    constexpr int64_t kPartitions = 4;
    blocks = std::min(blocks, CudaDevice::kRegisters / kPartitions / ofWarp * kPartitions / warps);
  }
  int64_t shared = roundUp(sharedBytes + CudaDevice::kReservedSharedPerBlock, kSharedUnit);
  return std::min(blocks, device.shared / shared);
}

const char *CudaEstimate::bound() const {
  if (launch > std::max(arithmetic, traffic)) return "launch";
  return arithmetic > traffic ? "arithmetic" : "memory";
}

CudaEstimate estimateCudaKernel(const CudaDevice &device, const CudaWork &work) {
  CudaEstimate estimate;
  estimate.launch = CudaDevice::kLaunch;
  int64_t blocks = work.blocks;
  if (blocks <= 0) return estimate;
  // The multiprocessor with the most blocks decides when all are done.
  double share = double(blocks) / double(divideUp(blocks, device.multiprocessors) * device.multiprocessors);
  double flopRate = work.isTf32 ? device.tf32 : device.fma;
  constexpr double kNanosecond = 1e-9;
  constexpr double kLoopFlops = 2 * double(CudaDevice::kLoopMultiplyAdds) / kNanosecond;
  if (work.isLoop) flopRate = std::min(flopRate, kLoopFlops * double(device.multiprocessors));
  estimate.arithmetic = work.flops / (flopRate * share);
  // Each multiprocessor has its share of what the second-level cache gives, and all of them fill the memory's rate.
  double rate = device.cached() * share;
  if (work.bytes > double(device.l2)) rate = std::min(rate, device.memory);
  int64_t blocksInTurn = divideUp(blocks, device.multiprocessors);
  estimate.traffic =
      work.bytes / rate + work.repeated * double(blocksInTurn) / double(CudaDevice::kLoopBytes) * kNanosecond +
      accessSeconds(cudaModel(device.architecture), Accesses{work.accesses, work.bytes, work.bytes}, work.bytes) /
          share;
  return estimate;
}

MachineModel cudaModel(std::string_view architecture) {
  const CudaDevice *device = findCudaDevice(architecture);
  if (!device) device = kDevices;
  MachineModel model;
  model.isa = device->architecture;
  model.threads = 1;
  model.fmaFlops = model.fmaFlopsAll = device->fma;
  double cached = device->cached();
  // Caches of single multiprocessors hold nothing from one kernel to the next.
  model.levels = {{{0, true, 0, 0},
                   {device->l2, true, cached, cached},
                   {0, true, 0, 0},
                   {INT64_MAX, true, device->memory, device->memory}}};
  model.memoryLatency = 600e-9;
  model.handOff = CudaDevice::kLaunch;
  model.commandSeconds = CudaDevice::kLaunch;
  model.multiprocessors = device->multiprocessors;
  model.branchHandOff = CudaDevice::kBranch;
  model.crossCore = {CudaDevice::kLaunch, cached};
  model.link = {10e-6, 25e9}; // PCIe 4.0, 16 lanes
  return model;
}

} // namespace sprig::machine
