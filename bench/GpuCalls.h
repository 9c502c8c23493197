// Calls of a package on a GPU, from arrays of the host and from arrays on it, in a stream of the caller's own.
#pragma once
#include "runtime/machine/CudaDriver.h"
#include "sprig/rt/sprig_rt.hpp"
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// The primary context of a GPU, a stream of it, two events and the arrays that are allocated there.
class GpuStream {
public:
  explicit GpuStream(int number) : driver(sprig::rt::cuda::CudaDriver::system()), device(number) {
    auto answer = driver.start();
    if (!answer.problem.empty()) throw std::runtime_error(answer.problem);
    sprig::rt::cuda::CUcontext context = nullptr;
    check(driver.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(driver.cuCtxPushCurrent_v2(context), "cuCtxPushCurrent");
    check(driver.cuStreamCreate(&stream, sprig::rt::cuda::CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    for (auto *event : {&begin, &end}) check(driver.cuEventCreate(event, 0), "cuEventCreate");
  }
  ~GpuStream() {
    driver.cuStreamSynchronize(stream);
    for (auto address : arrays) driver.cuMemFree_v2(address);
    for (auto event : {begin, end}) driver.cuEventDestroy_v2(event);
    driver.cuStreamDestroy_v2(stream);
    sprig::rt::cuda::CUcontext context = nullptr;
    driver.cuCtxPopCurrent_v2(&context);
    driver.cuDevicePrimaryCtxRelease_v2(device);
  }
  GpuStream(const GpuStream &) = delete;
  GpuStream &operator=(const GpuStream &) = delete;

  void *allocate(size_t bytes) {
    sprig::rt::cuda::CUdeviceptr address = 0;
    check(driver.cuMemAlloc_v2(&address, std::max<size_t>(bytes, 1)), "cuMemAlloc");
    arrays.push_back(address);
    return reinterpret_cast<void *>(address);
  }
  void *copyOf(const void *host, size_t bytes) {
    void *address = allocate(bytes);
    check(driver.cuMemcpyHtoDAsync_v2(reinterpret_cast<sprig::rt::cuda::CUdeviceptr>(address), host, bytes, stream),
          "cuMemcpyHtoDAsync");
    check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    return address;
  }
  /// Milliseconds between two events around what `enqueue` puts into the stream.
  template <typename Enqueue> double ms(Enqueue enqueue) {
    check(driver.cuEventRecord(begin, stream), "cuEventRecord");
    enqueue();
    check(driver.cuEventRecord(end, stream), "cuEventRecord");
    check(driver.cuEventSynchronize(end), "cuEventSynchronize");
    float result = 0;
    check(driver.cuEventElapsedTime(&result, begin, end), "cuEventElapsedTime");
    return result;
  }
  void *raw() const { return stream; }

private:
  static void check(unsigned result, const char *function) {
    if (result) throw std::runtime_error(std::string(function) + " answers with error " + std::to_string(result));
  }

  const sprig::rt::cuda::CudaDriver &driver;
  int device;
  sprig::rt::cuda::CUstream stream = nullptr;
  sprig::rt::cuda::CUevent begin = nullptr, end = nullptr;
  std::vector<sprig::rt::cuda::CUdeviceptr> arrays;
};

class GpuCalls {
public:
  /// `entry` is a name, or empty: the one that the shapes fit; `where` is "cuda:N". The host's arrays have to stay.
  GpuCalls(const std::string &file, const std::string &entry, const std::string &where,
           std::vector<sprig::rt::TensorView> in, std::vector<sprig::rt::TensorView> out)
      : package(load(file, where)), device(where), stream(std::stoi(where.substr(where.find(':') + 1))),
        context(package), index(entry.empty() ? SPRIG_RT_ANY_ENTRY : int32_t(package.findEntry(entry))),
        inputs(std::move(in)), outputs(std::move(out)) {}

  void onHost() { context.invoke(inputs, outputs, index); }

  /// Nanoseconds of one call, of calls back to back in a stream that take at least so many milliseconds.
  double nsOnDevice(double minMs) {
    if (there.empty()) placeArrays();
    for (size_t calls = 1;;) {
      double ms = stream.ms([&] {
        for (size_t i = 0; i < calls; ++i) context.enqueue(there, results, device, stream.raw(), index);
      });
      context.wait();
      if (ms >= minMs) return ms * 1e6 / double(calls);
      calls = std::clamp(size_t(1.2 * double(calls) * minMs / std::max(ms, 1e-3)), calls + 1, calls * 16);
    }
  }

private:
  static sprig::rt::Package load(const std::string &file, const std::string &device) {
    sprig::rt::LoadOptions options;
    options.device = device;
    return sprig::rt::Package::load(file, options);
  }
  static size_t bytesOf(const sprig::rt::TensorView &view) {
    size_t bytes = sprig_rt_dtype_size(view.dtype());
    for (int64_t size : view.shape()) bytes *= size_t(size);
    return bytes;
  }
  static sprig::rt::TensorView at(void *address, const sprig::rt::TensorView &like) {
    return {address, like.dtype(), like.shape()};
  }
  void placeArrays() {
    for (const auto &view : inputs) there.push_back(at(stream.copyOf(view.data(), bytesOf(view)), view));
    for (const auto &view : outputs) results.push_back(at(stream.allocate(bytesOf(view)), view));
  }

  sprig::rt::Package package;
  std::string device;
  GpuStream stream;
  sprig::rt::Context context; // behind the stream: ends before the stream that it enqueues into
  int32_t index;
  std::vector<sprig::rt::TensorView> inputs, outputs, there, results;
};

} // namespace bench
