// Packages on the runtime's CUDA devices, which the stand-in driver plays: each test has a driver of its own.
#ifndef SPRIG_TEST_GPU_RUNTIME_CUDATEST_H
#define SPRIG_TEST_GPU_RUNTIME_CUDATEST_H

#include "runtime/test/TestPackage.h"
#include "test/gpu/driver/tests/Api.h"

namespace sprig::rt::test {

/// The kernels of the test package as PTX, for so many devices: of kind cuda, by number.
struct CudaPackage : TestPackage {
  explicit CudaPackage(uint32_t devices = 1);
  /// The processor's kernels, too, for so many more devices.
  void addProcessor(uint32_t devices = 1);
  /// Another image in place of the PTX.
  void setImage(const std::string &bytes, std::string isa);
};

std::string readFile(const std::string &path);
std::string kernelsPtx();

class CudaTest : public cuda::StandIn {
protected:
  /// Sets SPRIG_STANDIN_<name>s and begins anew; nothing of an earlier driver may be left.
  void drive(Settings settings = {});
  /// A count of the stand-in's report: "graph launches".
  uint64_t count(const std::string &name);
};

} // namespace sprig::rt::test

#endif
