// A runtime that was built without GPUs says so, by the device's name, and runs all else. Built where
// SPRIG_RUNTIME_CUDA is off.
#include "runtime/test/TestPackage.h"
#include <gtest/gtest.h>
#include <numeric>

namespace sprig::rt::test {
namespace {

TEST(WithoutCuda, DevicesAreRefusedByName) {
  for (const char *devices : {"cuda", "cuda:0", "cuda:7"}) {
    sprig_rt_code code = SPRIG_RT_OK;
    std::string number = std::string(devices) == "cuda:7" ? "7" : "0";
    EXPECT_EQ(errorOf([&] { addPackage().load(on(devices)); }, &code),
              "test: device cuda:" + number + ": this runtime was built without GPUs (SPRIG_RUNTIME_CUDA=OFF)");
    EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
  }
}

TEST(WithoutCuda, APackageForGpusIsRefused) {
  TestPackage package = addPackage();
  package.program.devices = {{"cuda", 0}};
  core::Image &image = package.program.images[0];
  image.kind = "cuda";
  image.isa = "sm_90";
  image.symbols = image.symbolSizes = {};
  for (const core::Kernel &kernel : package.program.kernels) {
    image.entryPoints.push_back(kernel.name);
    image.launches.push_back({128, 1024});
  }
  EXPECT_EQ(errorOf([&] { package.load(); }),
            "test: device cuda:0: this runtime was built without GPUs (SPRIG_RUNTIME_CUDA=OFF)");
}

TEST(WithoutCuda, OtherDevicesRun) {
  for (const char *devices : {"cpu", "null:0"}) {
    Context context(addPackage(16).load(on(devices)));
    std::vector<uint32_t> x(16), y(16, 5), sum(16);
    std::iota(x.begin(), x.end(), 0u);
    context.invoke({TensorView(x.data(), {16}), TensorView(y.data(), {16})}, {TensorView(sum.data(), {16})});
    for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(sum[i], i + 5);
  }
}

} // namespace
} // namespace sprig::rt::test
