#include "test/gpu/driver/Launch.h"
#include "test/gpu/driver/Driver.h"

#include <sys/uio.h>
#include <unistd.h>

namespace sprig::cuda {
namespace {

constexpr unsigned kPortableCluster = 8, kLargestCluster = 16; // blocks

unsigned roundUpTo(unsigned value, unsigned unit) { return (value + unit - 1) / unit * unit; }

// Registers are dealt to warps, 256 at a time.
unsigned registersOfBlock(unsigned registers, unsigned threads) {
  return roundUpTo(registers * DeviceKind::warp, 256) * (roundUpTo(threads, DeviceKind::warp) / DeviceKind::warp);
}

class LaunchCheck {
public:
  LaunchCheck(Driver &driver, const DeviceKind &kind, const CUfunc_st &function, const LaunchShape &shape)
      : driver(driver), kind(kind), function(function), facts(function.facts), shape(shape) {}

  CUresult shapeAndResources();
  CUresult takeParameters(void **pointers, void **extra, std::vector<unsigned char> &bytes);

private:
  CUresult refuse(CUresult error, const std::string &text) {
    driver.report.complain("launch " + function.name + text,
                           "launch of kernel '" + function.name + "' refused: " + text);
    return error;
  }
  CUresult block();
  CUresult shared();
  CUresult cluster();
  CUresult cooperative();
  CUresult takePacked(void **extra, std::vector<unsigned char> &bytes);

  Driver &driver;
  const DeviceKind &kind;
  const CUfunc_st &function;
  const FunctionFacts &facts;
  const LaunchShape &shape;
};

std::string text(const Dim3 &dim) {
  return std::to_string(dim.x) + " x " + std::to_string(dim.y) + " x " + std::to_string(dim.z);
}
std::string text(uint64_t value) { return std::to_string(value); }

CUresult LaunchCheck::block() {
  const Dim3 &block = shape.block;
  uint64_t threads = block.count();
  if (threads == 0 || block.x > 1024 || block.y > 1024 || block.z > 64 || threads > DeviceKind::threadsPerBlock)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "a block of " + text(block) + " threads; a device takes 1 to 1024, 1024 x 1024 x 64 at most");
  const uint32_t *required = facts.requiredThreads;
  if (required[0] && (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    return refuse(CUDA_ERROR_INVALID_VALUE, "a block of " + text(block) + " threads; the kernel is compiled for " +
                                                text(Dim3{required[0], required[1], required[2]}));
  if (facts.maxThreads && threads > facts.maxThreads)
    return refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "a block of " + text(threads) +
                                                          " threads; the kernel is compiled for " +
                                                          text(facts.maxThreads) + " at most");
  if (unsigned registers = registersOfBlock(facts.registers, threads);
      registers > unsigned(DeviceKind::registersPerMultiprocessor))
    return refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                  text(threads) + " threads of " + text(facts.registers) + " registers take " + text(registers) +
                      "; a multiprocessor has " + text(DeviceKind::registersPerMultiprocessor));
  return CUDA_SUCCESS;
}

CUresult LaunchCheck::shared() {
  if (shape.dynamicShared > function.maxDynamicShared)
    return refuse(CUDA_ERROR_INVALID_VALUE, text(shape.dynamicShared) +
                                                " bytes of dynamic shared memory; the function allows " +
                                                text(function.maxDynamicShared) +
                                                " (cuFuncSetAttribute with MAX_DYNAMIC_SHARED_SIZE_BYTES sets more)");
  if (uint64_t bytes = uint64_t(facts.staticShared) + shape.dynamicShared; bytes > unsigned(kind.sharedPerBlockOptIn))
    return refuse(CUDA_ERROR_INVALID_VALUE, text(facts.staticShared) + " bytes of static and " +
                                                text(shape.dynamicShared) + " of dynamic shared memory; a block of " +
                                                std::string(kind.architecture) + " has " +
                                                text(kind.sharedPerBlockOptIn));
  return CUDA_SUCCESS;
}

CUresult LaunchCheck::cluster() {
  Dim3 cluster = shape.cluster;
  const uint32_t *fixed = facts.cluster;
  if (fixed[0]) {
    Dim3 compiled = {fixed[0], fixed[1], fixed[2]};
    if (shape.hasCluster && (cluster.x != compiled.x || cluster.y != compiled.y || cluster.z != compiled.z))
      return refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                    "a cluster of " + text(cluster) + " blocks; the kernel is compiled for " + text(compiled));
    cluster = compiled;
  } else if (!shape.hasCluster) {
    return CUDA_SUCCESS;
  }
  uint64_t blocks = cluster.count();
  if (!kind.hasClusters())
    return refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                  "a cluster of " + text(cluster) + " blocks; " + std::string(kind.architecture) + " has no clusters");
  unsigned limit = function.largeClusters ? kLargestCluster : kPortableCluster;
  if (blocks == 0 || blocks > limit)
    return refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                  "a cluster of " + text(cluster) + " blocks; the function allows 1 to " + text(limit));
  if (shape.grid.x % cluster.x || shape.grid.y % cluster.y || shape.grid.z % cluster.z)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "a grid of " + text(shape.grid) + " blocks is no multiple of its clusters of " + text(cluster));
  return CUDA_SUCCESS;
}

CUresult LaunchCheck::cooperative() {
  uint64_t resident = residentBlocks(kind, function, shape.block.count(), shape.dynamicShared);
  uint64_t limit = resident * kind.multiprocessors;
  if (shape.cooperative && shape.grid.count() > limit)
    return refuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "a cooperative grid of " + text(shape.grid) +
                                                               " blocks; the device holds " + text(limit) +
                                                               " of them at a time");
  return CUDA_SUCCESS;
}

CUresult LaunchCheck::shapeAndResources() {
  const Dim3 &grid = shape.grid;
  if (grid.count() == 0 || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "a grid of " + text(grid) + " blocks; a device takes 1 to 2147483647 x 65535 x 65535");
  for (auto check : {&LaunchCheck::block, &LaunchCheck::shared, &LaunchCheck::cluster, &LaunchCheck::cooperative})
    if (CUresult result = (this->*check)()) return result;
  return CUDA_SUCCESS;
}

CUresult LaunchCheck::takePacked(void **extra, std::vector<unsigned char> &bytes) {
  const void *buffer = nullptr;
  const size_t *size = nullptr;
  for (void **at = extra; *at != reinterpret_cast<void *>(uintptr_t(CU_LAUNCH_PARAM_END_AS_INT)); at += 2) {
    if (*at == reinterpret_cast<void *>(uintptr_t(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)))
      buffer = at[1];
    else if (*at == reinterpret_cast<void *>(uintptr_t(CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)))
      size = static_cast<const size_t *>(at[1]);
    else
      return refuse(CUDA_ERROR_INVALID_VALUE, "its extra options have an unknown one");
  }
  uint64_t given = size && buffer ? *size : 0;
  if (given != bytes.size())
    return refuse(CUDA_ERROR_INVALID_VALUE, text(given) + " bytes of parameters; the kernel takes " +
                                                text(facts.parameters.size()) + " in " + text(bytes.size()) + " bytes");
  if (given) std::copy_n(static_cast<const unsigned char *>(buffer), given, bytes.begin());
  return CUDA_SUCCESS;
}

// Pointers to parameters cannot be counted; but each is read with care, so that one too few is seldom a crash.
CUresult LaunchCheck::takeParameters(void **pointers, void **extra, std::vector<unsigned char> &bytes) {
  bytes.assign(facts.parameterBytes, 0);
  if (extra) {
    if (pointers) return refuse(CUDA_ERROR_INVALID_VALUE, "it has parameters and extra options");
    return takePacked(extra, bytes);
  }
  if (facts.parameters.empty()) return CUDA_SUCCESS;
  if (!pointers)
    return refuse(CUDA_ERROR_INVALID_VALUE, "no parameters; the kernel takes " + text(facts.parameters.size()));
  for (size_t i = 0; i < facts.parameters.size(); ++i) {
    const gpu::CubinParameter &parameter = facts.parameters[i];
    iovec to = {bytes.data() + parameter.offset, parameter.size}, from = {pointers[i], parameter.size};
    if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) != ssize_t(parameter.size))
      return refuse(CUDA_ERROR_INVALID_VALUE,
                    "parameter " + text(i) + " of " + text(facts.parameters.size()) + " points to no memory");
  }
  return CUDA_SUCCESS;
}

// What makes two launches of a kernel touch the same bytes, as long as these do not depend on data.
std::string keyOf(const KernelLaunch &launch) {
  const LaunchShape &shape = launch.shape;
  const uint64_t words[] = {reinterpret_cast<uint64_t>(launch.code),
                            launch.variables,
                            shape.grid.x,
                            shape.grid.y,
                            shape.grid.z,
                            shape.block.x,
                            shape.block.y,
                            shape.block.z,
                            shape.dynamicShared};
  std::string key(reinterpret_cast<const char *>(words), sizeof words);
  return key.append(launch.parameters.begin(), launch.parameters.end());
}

void runOrRecall(Driver &driver, const OperationRef &operation, const KernelLaunch &launch, KernelRun &run) {
  if (driver.config.effects == LaunchEffects::None) return;
  bool once = driver.config.effects == LaunchEffects::Once;
  std::string key = once ? keyOf(launch) : std::string();
  if (auto known = driver.effects.find(key); once && known != driver.effects.end()) {
    run.effects = known->second;
    return;
  }
  ++driver.report.counts.computed;
  driver.running = operation;
  driver.conditionSet = false;
  driver.memory.openForKernels();
  launch.code->run(driver, run);
  driver.memory.closeForHost();
  driver.running = nullptr;
  // What sets conditions decides what runs at all.
  if (once && run.result == CUDA_SUCCESS && !driver.conditionSet) driver.effects.emplace(std::move(key), run.effects);
}

} // namespace

unsigned residentBlocks(const DeviceKind &kind, const CUfunc_st &function, unsigned threads, unsigned dynamicShared) {
  if (threads == 0 || threads > unsigned(DeviceKind::threadsPerBlock)) return 0;
  unsigned blocks = kind.blocksPerMultiprocessor;
  blocks = std::min(blocks, kind.threadsPerMultiprocessor / roundUpTo(threads, DeviceKind::warp));
  if (unsigned registers = registersOfBlock(function.facts.registers, threads))
    blocks = std::min(blocks, DeviceKind::registersPerMultiprocessor / registers);
  unsigned shared = roundUpTo(function.facts.staticShared + dynamicShared + DeviceKind::reservedSharedPerBlock, 128);
  return std::min(blocks, kind.sharedPerMultiprocessor / shared);
}

CUresult prepareLaunch(Driver &driver, CUctx_st &context, CUfunction function, const LaunchShape &shape,
                       void **parameters, void **extra, KernelLaunch &launch) {
  LaunchCheck check(driver, *context.kind, *function, shape);
  if (CUresult result = check.shapeAndResources()) return result;
  if (CUresult result = check.takeParameters(parameters, extra, launch.parameters)) return result;
  launch.function = function;
  launch.name = function->name;
  launch.shape = shape;
  launch.module = function->module->code;
  launch.code = function->code;
  launch.variables = function->module->variables;
  return CUDA_SUCCESS;
}

CUresult perform(Driver &driver, const OperationRef &operation, const KernelLaunch &launch) {
  if (driver.failsLaunch()) return CUDA_ERROR_LAUNCH_FAILED;
  KernelRun run = {launch.shape, launch.parameters.data(), reinterpret_cast<char *>(launch.variables), {}, {}};
  ++driver.report.counts.kernels[launch.name];
  runOrRecall(driver, operation, launch, run);
  for (const std::string &complaint : run.complaints)
    driver.report.complain("kernel " + launch.name + complaint, operation->title() + ": " + complaint);
  const DeviceKind &kind = *operation->context->kind;
  uint64_t bytes = 0;
  run.effects.forEach([&](const IntervalList &list, Access) {
    bytes += list.bytes();
    for (Interval part : list.intervals())
      if (!checkReach(driver, *operation, part, operation->context->device)) run.result = CUDA_ERROR_ILLEGAL_ADDRESS;
  });
  operation->cost = 2000 + 1e9 * bytes / kind.bandwidth();
  checkEffects(driver, operation, run.effects);
  return run.result;
}

} // namespace sprig::cuda
