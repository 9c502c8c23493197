// What runs the kernels of the op table: the emulator of test/gpu, or a GPU of this machine. For CudaRows.
#pragma once
#include "lib/Target/CUDA/CudaArch.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "runtime/include/sprig/rt/kernel.h"
#include "test/unit/OpTable/Judge.h"
#include <memory>

namespace sprig::optable {

/// A kernel by its name in the text, and how it is launched.
struct RowKernel {
  std::string name;
  LaunchShape launch;
  int64_t tiles, scratchBytes;
};

class KernelRunner {
public:
  virtual ~KernelRunner() = default;

  /// What the text is made for.
  virtual cuda::CudaArch arch() const = 0;
  /// Takes the kernels of a text; throws where it is none.
  virtual void build(const std::string &ptx) = 0;
  /// Runs all tiles, in two launches where there are two, since a launch begins at any tile. Operands and results hold
  /// afterwards what the kernel has left there. Of the status the code alone is set before; scratch memory is not at
  /// all. What is wrong with how the kernel runs is a failure of the test, which names `row`.
  virtual void run(const RowKernel &kernel, const std::vector<Bytes *> &buffers, sprig_rt_kernel_status &status,
                   const std::string &row) = 0;
};

/// With every check.
std::unique_ptr<KernelRunner> makeEmulatorRunner();
/// By the driver: "cuda:0". The kernels are assembled as in packages; each buffer lies between bytes that have to stay.
/// Throws where there is no such GPU.
std::unique_ptr<KernelRunner> makeGpuRunner(const std::string &device);

} // namespace sprig::optable
