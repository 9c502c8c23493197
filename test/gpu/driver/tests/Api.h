// The stand-in as its tests reach it: functions by name, an environment for each test.
#ifndef SPRIG_TEST_GPU_DRIVER_TESTS_API_H
#define SPRIG_TEST_GPU_DRIVER_TESTS_API_H

#include "test/gpu/driver/Control.h"
#include "test/gpu/driver/Cuda.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace sprig::cuda {

/// Every function of the interface under its own name.
struct Api {
#define SPRIG_CUDA_FUNCTION(name, parameters) CUresult(*name) parameters = nullptr;
#include "test/gpu/driver/Functions.def"
  void (*reset)() = nullptr;
  const char *(*complaints)() = nullptr;
  void (*kernel)(const void *, size_t, const char *, const uint32_t *, size_t, void (*)(SprigStandInRun *)) = nullptr;
  const char *(*report)() = nullptr;
  void (*setConditional)(uint64_t, uint32_t) = nullptr;
  void *library = nullptr;

  Api();
};

#define EXPECT_CUDA(call) EXPECT_EQ(call, CUDA_SUCCESS)
#define ASSERT_CUDA(call) ASSERT_EQ(call, CUDA_SUCCESS)

/// A driver of its own for each test, with a current context for device 0 once `start` is called.
class StandIn : public testing::Test {
protected:
  using Settings = std::initializer_list<std::pair<const char *, const char *>>;

  /// Sets SPRIG_STANDIN_<name>s, unsets the others, begins anew; makes contexts of all devices.
  void start(Settings settings = {});
  /// The same as far as the environment goes.
  void configure(Settings settings = {});
  /// Nothing was complained of.
  void expectNoComplaint();
  /// One complaint, which has all of the parts; or several, of which one has.
  void expectComplaint(std::initializer_list<const char *> parts);

  CUdeviceptr allocate(size_t bytes);
  template <typename T> CUdeviceptr upload(const std::vector<T> &values) {
    CUdeviceptr pointer = allocate(values.size() * sizeof(T));
    EXPECT_CUDA(api().cuMemcpyHtoD_v2(pointer, values.data(), values.size() * sizeof(T)));
    return pointer;
  }
  template <typename T> std::vector<T> download(CUdeviceptr pointer, size_t count) {
    std::vector<T> values(count);
    EXPECT_CUDA(api().cuMemcpyDtoH_v2(values.data(), pointer, count * sizeof(T)));
    return values;
  }
  /// A function of a module whose kernels are functions of the test: of parameters of these sizes.
  CUfunction kernel(const char *name, std::vector<uint32_t> sizes, void (*run)(SprigStandInRun *));
  CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING);
  CUevent event();
  template <typename T> T *pinned(size_t count) {
    void *pointer = nullptr;
    EXPECT_CUDA(api().cuMemAllocHost_v2(&pointer, count * sizeof(T)));
    return static_cast<T *>(pointer);
  }

  static Api &api();
  std::vector<CUcontext> contexts;
};

} // namespace sprig::cuda

#endif
