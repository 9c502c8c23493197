// Rows of the op table compiled for CUDA and run in the emulator of test/gpu, from the PTX that the back-end makes.
// For the harness. Functions are taken as the fuse phase leaves them: dispatches, constants and views.
#pragma once
#include "lib/Target/CUDA/CodeGen/GpuLowering.h"
#include "lib/Target/CUDA/CodeGen/PtxEmitter.h"
#include "lib/Target/Image.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/include/sprig/rt/kernel.h"
#include "test/gpu/emulator/Emulator.h"
#include "test/unit/OpTable/Judge.h"
#include <map>

namespace sprig::optable {

class EmulatedRows {
public:
  EmulatedRows();

  /// Takes the kernels of a function; why not, in words, where some have none. All are taken before any is run.
  std::string take(mlir::func::FuncOp function);
  /// What was taken, as PTX.
  const std::string &ptx() const { return text; }
  /// The image of all that was taken, or of a text with the same kernels.
  void build() { build(text); }
  void build(const std::string &ptx);
  /// The results of a function; complaints of the emulator are failures of the test. So are errors that kernels report,
  /// but where `error` is given, which gets the last one.
  std::vector<Bytes> run(mlir::func::FuncOp function, const std::vector<interp::Tensor> &inputs,
                         const std::string &name, sprig_rt_kernel_status *error = nullptr);

private:
  struct Kernel {
    std::string name;
    LaunchShape launch;
    int64_t tiles, scratchBytes;
  };
  void launchKernel(const Kernel &kernel, const std::vector<Bytes *> &buffers, const std::string &name,
                    sprig_rt_kernel_status *error);

  GpuLowering lowering;
  PtxEmitter emitter;
  std::map<mlir::Operation *, Kernel> kernels; // of dispatches
  std::map<std::string, Kernel> kernelsByDescription;
  std::string text;
  std::unique_ptr<gpu::LoadedImage> image;
};

} // namespace sprig::optable
