#include "lib/Target/CUDA/CodeGen/GpuLowering.h"
#include "lib/Target/CUDA/CodeGen/Passes.h"

using namespace mlir;

namespace sprig::cuda {
#define GEN_PASS_DEF_LOWERGPUMODULE
#include "lib/Target/CUDA/CodeGen/Passes.h.inc"

namespace {
struct LowerGpuModule : impl::LowerGpuModuleBase<LowerGpuModule> {
  void getDependentDialects(DialectRegistry &registry) const override { registerGpuDialects(registry); }
  void runOnOperation() override {
    if (failed(GpuLowering(&getContext()).run(getOperation()))) signalPassFailure();
  }
};
} // namespace
} // namespace sprig::cuda
