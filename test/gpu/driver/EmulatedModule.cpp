#include "test/gpu/driver/EmulatedModule.h"
#include "test/gpu/driver/Driver.h"
#include "test/gpu/emulator/Emulator.h"

#include <stdexcept>

namespace sprig::cuda {
namespace {

CUresult resultOf(const gpu::LaunchReport &report) {
  if (report.completed) return CUDA_SUCCESS;
  for (const gpu::Complaint &complaint : report.complaints) switch (complaint.fault) {
    case gpu::Fault::OutOfBounds: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case gpu::Fault::Misaligned: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case gpu::Fault::Deadlock:
    case gpu::Fault::Divergence: return CUDA_ERROR_LAUNCH_TIMEOUT; // what a watchdog would make of it
    case gpu::Fault::Trap: return CUDA_ERROR_LAUNCH_FAILED;
    default: break;
    }
  return CUDA_ERROR_LAUNCH_FAILED;
}

void run(const SprigGpuKernel &kernel, Driver &driver, KernelRun &run) {
  const Checks &checks = driver.config.checks;
  gpu::LaunchOptions options;
  options.races = checks.kernels;
  options.effects = checks.order || checks.bounds || checks.unwritten;
  options.checked = options.races || options.effects;
  options.knowsAllocations = options.checked;
  // Freed allocations and those of other devices are among them: whoever touches them is named by the stand-in.
  if (options.checked)
    for (Interval range : driver.memory.ranges()) options.allocations.push_back({range.begin, range.end});
  if (driver.config.order == Order::Random) {
    options.order = gpu::BlockOrder::Random;
    options.seed = driver.config.seed;
  }
  const LaunchShape &shape = run.shape;
  gpu::LaunchReport report =
      gpu::launch(kernel, {shape.grid.x, shape.grid.y, shape.grid.z}, {shape.block.x, shape.block.y, shape.block.z},
                  shape.dynamicShared, run.parameters, reinterpret_cast<uint8_t *>(run.variables), options);
  for (const gpu::Complaint &complaint : report.complaints) run.complaints.push_back(complaint.text);
  for (gpu::Range range : report.reads) run.effects.reads.add(range.begin, range.end - range.begin);
  for (gpu::Range range : report.writes) run.effects.writes.add(range.begin, range.end - range.begin);
  for (const gpu::Update &update : report.updates)
    for (gpu::Range range : update.bytes)
      run.effects.updates[updateOf(update.kind)].add(range.begin, range.end - range.begin);
  run.result = resultOf(report);
}

KernelCode codeOf(const SprigGpuKernel &kernel, std::shared_ptr<const gpu::LoadedImage> image) {
  KernelCode code;
  code.name = kernel.name;
  for (uint32_t i = 0; i < kernel.parameterCount; ++i)
    code.parameters.push_back({kernel.parameters[i].offset, kernel.parameters[i].size});
  code.parameterBytes = kernel.parameterBytes;
  code.staticShared = kernel.staticSharedBytes;
  code.localBytes = kernel.localBytes;
  code.maxThreads = kernel.maxThreads[0] * kernel.maxThreads[1] * kernel.maxThreads[2];
  std::copy_n(kernel.requiredThreads, 3, code.requiredThreads);
  code.run = [&kernel, image](Driver &driver, KernelRun &launch) { run(kernel, driver, launch); };
  return code;
}

} // namespace

std::shared_ptr<ModuleCode> loadEmulatedModule(const std::string &path, std::string &error) {
  std::shared_ptr<const gpu::LoadedImage> image;
  try {
    image = std::make_shared<gpu::LoadedImage>(path);
  } catch (const std::runtime_error &failure) {
    error = failure.what();
    return nullptr;
  }
  const SprigGpuImage &tables = **image;
  auto module = std::make_shared<ModuleCode>();
  for (uint32_t i = 0; i < tables.kernelCount; ++i) module->kernels.push_back(codeOf(tables.kernels[i], image));
  for (uint32_t i = 0; i < tables.variableCount; ++i)
    module->variables.push_back({tables.variables[i].name, tables.variables[i].offset, tables.variables[i].size});
  module->variableBytes = tables.variableBytes;
  module->initialise = [image](char *block) { gpu::initialiseVariables(**image, reinterpret_cast<uint8_t *>(block)); };
  return module;
}

} // namespace sprig::cuda
