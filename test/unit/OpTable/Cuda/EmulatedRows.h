// Rows of the op table compiled for CUDA and run in the emulator of test/gpu, from the PTX that the back-end makes.
// For the harness. Functions are taken as the fuse phase leaves them: dispatches, constants and views.
#pragma once
#include "lib/Target/CUDA/CodeGen/GpuLowering.h"
#include "lib/Target/CUDA/CodeGen/PtxEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/gpu/emulator/Emulator.h"
#include "test/unit/OpTable/Judge.h"
#include <map>

namespace sprig::optable {

class EmulatedRows {
public:
  EmulatedRows();

  /// Takes the kernels of a function; why not, in words, where some have none. All are taken before any is run.
  std::string take(mlir::func::FuncOp function);
  /// The image of all that was taken.
  void build();
  /// The results of a function; complaints of the emulator and errors of kernels are failures of the test.
  std::vector<Bytes> run(mlir::func::FuncOp function, const std::vector<interp::Tensor> &inputs,
                         const std::string &name);

private:
  struct Kernel {
    std::string name;
    uint32_t threads;
    int64_t tiles, scratchBytes;
  };
  void launchKernel(const Kernel &kernel, const std::vector<Bytes *> &buffers, const std::string &name);

  GpuLowering lowering;
  PtxEmitter emitter;
  std::map<mlir::Operation *, Kernel> kernels; // of dispatches
  std::map<std::string, Kernel> kernelsByDescription;
  std::string text;
  std::unique_ptr<gpu::LoadedImage> image;
};

} // namespace sprig::optable
