#include "test/gpu/emulator/Block.h"
#include "test/gpu/emulator/Hooks.h"
#include <algorithm>
#include <cstring>

using namespace sprig::gpu;

const SprigGpuHooks sprig::gpu::hookTable = {
#define SPRIG_GPU_HOOK(result, name, ...) &hooks_impl::name,
#include "test/gpu/image/Hooks.def"
#undef SPRIG_GPU_HOOK
};

const char *sprig::gpu::faultName(Fault fault) {
  static const char *const names[] = {"access out of bounds",
                                      "misaligned access",
                                      "uninitialised shared memory",
                                      "race",
                                      "deadlock",
                                      "divergence",
                                      "unfinished copy",
                                      "division by zero",
                                      "trap",
                                      "bad launch"};
  return names[unsigned(fault)];
}

std::string LaunchReport::text() const {
  std::string result;
  for (const Complaint &complaint : complaints) result += complaint.text + "\n";
  return result;
}

LaunchState::LaunchState(const SprigGpuKernel &kernel, Dim3 grid, Dim3 block, const LaunchOptions &options)
    : kernel(kernel), grid(grid), blockDim(block), options(options), random(options.seed) {}

// What the driver would refuse, as far as the kernel and every architecture say; empty where it is sound.
static std::string refusal(const SprigGpuKernel &kernel, Dim3 grid, Dim3 block, uint32_t sharedBytes,
                           const LaunchOptions &options) {
  if (!options.checked && !kernel.plain) return "its image has the checked version alone";
  auto dims = [](uint64_t x, uint64_t y, uint64_t z) {
    return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
  };
  std::string threads = "a block of " + dims(block.x, block.y, block.z) + " threads";
  if (!grid.count() || !block.count()) return "a grid or block of no threads";
  if (block.count() > 1024 || block.x > 1024 || block.y > 1024 || block.z > 64)
    return threads + ", at most 1024 are possible";
  if (grid.x > 0x7fffffff || grid.y > 0xffff || grid.z > 0xffff)
    return "a grid of " + dims(grid.x, grid.y, grid.z) + " blocks";
  const uint32_t *required = kernel.requiredThreads;
  if (required[0] && (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    return threads + ", the kernel requires " + dims(required[0], required[1], required[2]);
  const uint32_t *most = kernel.maxThreads;
  if (most[0] && block.count() > uint64_t(most[0]) * most[1] * most[2])
    return threads + ", the kernel allows " + dims(most[0], most[1], most[2]);
  if (sharedBytes > 227 << 10)
    return std::to_string(sharedBytes) + " bytes of shared memory, at most 227 KiB are possible";
  return "";
}

LaunchReport sprig::gpu::launch(const SprigGpuKernel &kernel, Dim3 grid, Dim3 blockDim, uint32_t dynamicSharedBytes,
                                const void *parameters, uint8_t *variables, const LaunchOptions &options) {
  LaunchState state(kernel, grid, blockDim, options);
  uint32_t sharedBytes = kernel.staticSharedBytes + dynamicSharedBytes;
  if (std::string why = refusal(kernel, grid, blockDim, sharedBytes, options); !why.empty()) {
    Complaint complaint;
    complaint.fault = Fault::BadLaunch, complaint.kernel = kernel.name;
    complaint.text = "bad launch of kernel '" + std::string(kernel.name) + "': " + why;
    state.report.complaints.push_back(std::move(complaint));
    return std::move(state.report);
  }
  SprigGpuThread prototype{};
  const Dim3 *dims[] = {&blockDim, &grid};
  uint32_t *fields[] = {prototype.ntid, prototype.nctaid};
  for (int i = 0; i < 2; ++i) fields[i][0] = dims[i]->x, fields[i][1] = dims[i]->y, fields[i][2] = dims[i]->z;
  prototype.nwarpid = uint32_t(blockDim.count() + 31) / 32;
  prototype.variables = variables;
  prototype.parameters = static_cast<const uint8_t *>(parameters);
  prototype.hooks = &hookTable;
  prototype.dynamicSharedBytes = dynamicSharedBytes, prototype.totalSharedBytes = sharedBytes;

  // Stacks are kept for the next launch on this host thread. A kernel never starts another one, so that they are free.
  static thread_local Stacks stacks(1024);
  Block block(state, stacks, sharedBytes, prototype);
  std::vector<uint64_t> order(grid.count());
  for (uint64_t i = 0; i < order.size(); ++i)
    order[i] = options.order == BlockOrder::Reverse ? order.size() - 1 - i : i;
  if (options.order == BlockOrder::Random) std::shuffle(order.begin(), order.end(), state.random);
  for (uint64_t index : order) {
    block.run(index);
    if (state.hasFailed) break;
  }
  state.report.completed = !state.hasFailed;
  state.report.traffic = state.traffic.all();
  state.report.reads = state.effects.readRanges();
  state.report.writes = state.effects.writeRanges();
  state.report.updates = state.effects.updateRanges();
  return std::move(state.report);
}
