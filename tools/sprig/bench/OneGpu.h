// A GPU as experiments use it: memory there and pinned memory of the host by the driver itself, and compiled programs
// whose arrays stay on the device, so that a call's time has no copies in it.
// For experiments on a GPU (BenchGpu*.cpp).
#pragma once
#include "runtime/machine/CudaDriver.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/Model.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sprig::cli {

class OneGpu {
public:
  /// That which --devices names; its context is the thread's current one from then on. Throws unsupported where it is
  /// not there.
  explicit OneGpu(const Settings &settings);
  ~OneGpu();
  OneGpu(const OneGpu &) = delete;

  const rt::cuda::CudaDriver &driver;
  std::string name; ///< "cuda:0"
  rt::cuda::CUstream computes = nullptr, copies = nullptr;

  /// Throws a runtime error for what the driver refuses.
  void need(rt::cuda::CUresult result, const std::string &what) const;
  /// An address of the device, which means nothing to the host.
  std::shared_ptr<uint8_t> allocate(uint64_t bytes) const;
  /// Page-locked memory of the host.
  std::shared_ptr<uint8_t> pin(uint64_t bytes) const;
  uint64_t freeBytes() const;
  void up(const std::shared_ptr<uint8_t> &there, const void *host, uint64_t bytes) const;
  void down(void *host, const std::shared_ptr<uint8_t> &there, uint64_t bytes) const;
  void wait(rt::cuda::CUstream stream) const { need(driver.cuStreamSynchronize(stream), "waiting"); }

private:
  rt::cuda::CUdevice device = 0;
};

/// Seconds of each at best, all of them in turn, so that a slow moment of the machine hits each.
std::vector<double> bestInTurn(const std::vector<std::function<void()>> &ways, int rounds);

/// These settings for the processor, beside which a GPU is timed.
Settings onProcessor(Settings settings, int threads);

/// A place in a stream that others wait for.
class GpuEvent {
public:
  explicit GpuEvent(const OneGpu &gpu);
  ~GpuEvent();
  GpuEvent(const GpuEvent &) = delete;
  void record(rt::cuda::CUstream stream);
  void holdBack(rt::cuda::CUstream stream);
  bool reached() const;

private:
  const OneGpu &gpu;
  rt::cuda::CUevent event = nullptr;
};

class DeviceProgram {
public:
  /// Compiles, loads, and calls once on random inputs, or on those of `alike`, which has as many of the same types.
  DeviceProgram(const OneGpu &gpu, const Model &model, const Settings &settings, const DeviceProgram *alike = nullptr);

  /// One call in the stream of computations, into these arrays instead of its own where they are given.
  void enqueue(const std::vector<std::shared_ptr<uint8_t>> &into = {});
  /// Seconds of a call that is waited for.
  double once();
  /// Seconds of one of many calls in a row, at best.
  double inARow();
  std::vector<std::vector<char>> outputs();
  int lanes() const { return int(runner.entryInfo(0).lane_count); }
  const Runner &loaded() const { return runner; }
  /// Bytes of one array.
  static uint64_t bytesOf(const TensorSpec &spec);

private:
  void fillInputs();

  const OneGpu &gpu;
  Runner runner;
  std::vector<TensorSpec> inputSpecs, outputSpecs;
  std::vector<std::shared_ptr<uint8_t>> inputs, own;
};

} // namespace sprig::cli
