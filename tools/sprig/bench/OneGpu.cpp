#include "tools/sprig/bench/OneGpu.h"
#include <algorithm>
#include <chrono>

namespace sprig::cli {

using namespace rt::cuda;

OneGpu::OneGpu(const Settings &settings) : driver(CudaDriver::system()) {
  settings.checkDevices();
  const rt::core::GivenDevice given = settings.parsedDevices().list.front();
  name = given.name();
  CudaDriver::Answer answer = driver.start();
  if (!answer.problem.empty() || !driver.missing.empty())
    unsupported(name + ": " + (answer.problem.empty() ? driver.missing : answer.problem));
  need(driver.cuDeviceGet(&device, int(given.ordinal)), "opening it");
  CUcontext context = nullptr;
  need(driver.cuDevicePrimaryCtxRetain(&context, device), "making its context");
  need(driver.cuCtxPushCurrent_v2(context), "entering its context");
  need(driver.cuStreamCreate(&computes, CU_STREAM_NON_BLOCKING), "making a stream");
  need(driver.cuStreamCreate(&copies, CU_STREAM_NON_BLOCKING), "making a stream");
}

OneGpu::~OneGpu() {
  driver.cuStreamDestroy_v2(computes);
  driver.cuStreamDestroy_v2(copies);
  CUcontext left = nullptr;
  driver.cuCtxPopCurrent_v2(&left);
  driver.cuDevicePrimaryCtxRelease_v2(device);
}

void OneGpu::need(CUresult result, const std::string &what) const {
  if (result != CUDA_SUCCESS) runtimeError(name + ": " + what + ": " + driver.errorName(result));
}

std::shared_ptr<uint8_t> OneGpu::allocate(uint64_t bytes) const {
  CUdeviceptr address = 0;
  need(driver.cuMemAlloc_v2(&address, bytes), "allocating " + std::to_string(bytes) + " bytes");
  return {reinterpret_cast<uint8_t *>(address),
          [this](uint8_t *freed) { driver.cuMemFree_v2(reinterpret_cast<CUdeviceptr>(freed)); }};
}

std::shared_ptr<uint8_t> OneGpu::pin(uint64_t bytes) const {
  void *address = nullptr;
  need(driver.cuMemHostAlloc(&address, bytes, CU_MEMHOSTALLOC_PORTABLE), "pinning " + std::to_string(bytes) + " bytes");
  return {static_cast<uint8_t *>(address), [this](uint8_t *freed) { driver.cuMemFreeHost(freed); }};
}

uint64_t OneGpu::freeBytes() const {
  size_t left = 0, all = 0;
  need(driver.cuMemGetInfo_v2(&left, &all), "asking for its memory");
  return left;
}

void OneGpu::up(const std::shared_ptr<uint8_t> &there, const void *host, uint64_t bytes) const {
  need(driver.cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(there.get()), host, bytes, copies), "copying to it");
}

void OneGpu::down(void *host, const std::shared_ptr<uint8_t> &there, uint64_t bytes) const {
  need(driver.cuMemcpyDtoHAsync_v2(host, reinterpret_cast<CUdeviceptr>(there.get()), bytes, copies), "copying from it");
}

std::vector<double> bestInTurn(const std::vector<std::function<void()>> &ways, int rounds) {
  std::vector<double> best(ways.size(), 1e30);
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < ways.size(); ++i) {
      auto start = std::chrono::steady_clock::now();
      ways[i]();
      best[i] = std::min(best[i], std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
  return best;
}

Settings onProcessor(Settings settings, int threads) {
  settings.devices.clear();
  settings.targets.clear();
  settings.threads = threads;
  return settings;
}

GpuEvent::GpuEvent(const OneGpu &of) : gpu(of) {
  gpu.need(gpu.driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "making an event");
}
GpuEvent::~GpuEvent() { gpu.driver.cuEventDestroy_v2(event); }
void GpuEvent::record(CUstream stream) { gpu.need(gpu.driver.cuEventRecord(event, stream), "recording an event"); }
void GpuEvent::holdBack(CUstream stream) {
  gpu.need(gpu.driver.cuStreamWaitEvent(stream, event, 0), "waiting for an event");
}
bool GpuEvent::reached() const {
  CUresult result = gpu.driver.cuEventQuery(event);
  if (result == CUDA_ERROR_NOT_READY) return false;
  gpu.need(result, "asking for an event");
  return true;
}

uint64_t DeviceProgram::bytesOf(const TensorSpec &spec) {
  uint64_t bytes = sprig_rt_dtype_size(int32_t(spec.dtype));
  for (int64_t size : spec.shape) bytes *= uint64_t(size);
  return bytes;
}

DeviceProgram::DeviceProgram(const OneGpu &of, const Model &model, const Settings &settings, const DeviceProgram *alike)
    : gpu(of), runner(compileAndLoad(model, {EntryRequest{}}, settings)), inputSpecs(runner.inputs(0)),
      outputSpecs(runner.outputs(0)) {
  if (alike)
    inputs = alike->inputs;
  else
    fillInputs();
  for (const TensorSpec &output : outputSpecs) own.push_back(gpu.allocate(bytesOf(output)));
  once();
}

void DeviceProgram::fillInputs() {
  std::vector<InputSpec> specs = runner.inputSpecs();
  std::map<std::string, int64_t> sizes; // of samples that are independent
  for (size_t i = 0; i < specs.size(); ++i)
    for (size_t d = 0; d < specs[i].dims.size(); ++d)
      if (!specs[i].dims[d].size) sizes.emplace(specs[i].dims[d].symbol, inputSpecs[i].shape[d]);
  std::map<std::string, data::Array> arrays;
  fillRandom(specs, 1, sizes, arrays);
  for (const TensorSpec &input : inputSpecs) {
    const data::Array &array = arrays.at(input.name);
    inputs.push_back(gpu.allocate(array.bytes.size()));
    gpu.up(inputs.back(), array.bytes.data(), array.bytes.size());
    gpu.wait(gpu.copies);
  }
}

void DeviceProgram::enqueue(const std::vector<std::shared_ptr<uint8_t>> &into) {
  auto viewsOf = [](const std::vector<TensorSpec> &specs, const std::vector<std::shared_ptr<uint8_t>> &memory) {
    std::vector<sprig_rt_tensor> views;
    for (size_t i = 0; i < specs.size(); ++i)
      views.push_back(
          {memory[i].get(), specs[i].shape.data(), nullptr, uint32_t(specs[i].shape.size()), int32_t(specs[i].dtype)});
    return views;
  };
  std::vector<sprig_rt_tensor> in = viewsOf(inputSpecs, inputs), out = viewsOf(outputSpecs, into.empty() ? own : into);
  check(sprig_rt_enqueue(runner.runContext(), 0, in.data(), in.size(), out.data(), out.size(), gpu.name.c_str(),
                         gpu.computes));
}

double DeviceProgram::once() {
  auto start = std::chrono::steady_clock::now();
  enqueue();
  gpu.wait(gpu.computes);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  check(sprig_rt_context_wait(runner.runContext()));
  return seconds;
}

double DeviceProgram::inARow() {
  constexpr double kRun = 2e-3;
  constexpr int kRuns = 10;
  double first = std::min(once(), once()), best = 1e30;
  int calls = int(std::clamp(kRun / first, 1.0, 1000.0));
  for (int run = 0; run < kRuns; ++run) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) enqueue();
    gpu.wait(gpu.computes);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls);
  }
  check(sprig_rt_context_wait(runner.runContext()));
  return best;
}

std::vector<std::vector<char>> DeviceProgram::outputs() {
  once();
  std::vector<std::vector<char>> bytes;
  for (size_t i = 0; i < own.size(); ++i) {
    bytes.emplace_back(bytesOf(outputSpecs[i]));
    gpu.down(bytes.back().data(), own[i], bytes.back().size());
  }
  gpu.wait(gpu.copies);
  return bytes;
}

} // namespace sprig::cli
