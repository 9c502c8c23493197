// Rows of the op table compiled for CUDA and run from the PTX that the back-end makes, in the emulator of test/gpu or
// on a GPU. For the harness. Functions are taken as the fuse phase leaves them: dispatches, constants and views.
#pragma once
#include "lib/Target/CUDA/CodeGen/GpuLowering.h"
#include "lib/Target/CUDA/CodeGen/PtxEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/unit/OpTable/Cuda/KernelRunner.h"
#include "test/unit/OpTable/Judge.h"
#include <map>

namespace sprig::optable {

class CudaRows {
public:
  explicit CudaRows(std::unique_ptr<KernelRunner> runner);

  /// Takes the kernels of a function; why not, in words, where some have none. All are taken before any is run.
  std::string take(mlir::func::FuncOp function);
  /// What was taken, as PTX.
  const std::string &ptx() const { return text; }
  /// Makes all that was taken ready to run, or a text with the same kernels.
  void build() { build(text); }
  void build(const std::string &ptx) { runner->build(ptx); }
  /// The results of a function; complaints of who runs it are failures of the test. So are errors that kernels report,
  /// but where `error` is given, which gets the last one.
  std::vector<Bytes> run(mlir::func::FuncOp function, const std::vector<interp::Tensor> &inputs,
                         const std::string &name, sprig_rt_kernel_status *error = nullptr);

private:
  std::unique_ptr<KernelRunner> runner;
  cuda::GpuLowering lowering;
  cuda::PtxEmitter emitter;
  std::map<mlir::Operation *, RowKernel> kernels; // of dispatches
  std::map<std::string, RowKernel> kernelsByDescription;
  std::string text;
};

} // namespace sprig::optable
