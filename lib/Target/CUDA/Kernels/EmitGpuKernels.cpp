#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sprig::cuda {
#define GEN_PASS_DEF_EMITGPUKERNELS
#define GEN_PASS_REGISTRATION
#define GEN_PASS_DECL
#include "lib/Target/CUDA/Kernels/Passes.h.inc"

namespace {
struct EmitGpuKernels : impl::EmitGpuKernelsBase<EmitGpuKernels> {
  using EmitGpuKernelsBase::EmitGpuKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override { registerCudaKernelDialects(registry); }

  void runOnOperation() override {
    auto target = cudaArchByName(arch);
    if (!target) {
      getOperation().emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    SmallVector<kernel::DispatchOp> dispatches;
    getOperation().walk([&](kernel::DispatchOp dispatch) {
      // Those in branches and loops are parts of the kernel that holds them.
      if (!dispatch->getParentOfType<kernel::DispatchOp>()) dispatches.push_back(dispatch);
    });
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    auto module = gpu::GPUModuleOp::create(b, getOperation().getLoc(), "kernels");
    for (auto [i, dispatch] : llvm::enumerate(dispatches)) {
      FailureOr<KernelPlan> plan = planCudaDispatch(dispatch);
      if (failed(plan)) return signalPassFailure();
      auto kernel = emitCudaKernel(dispatch, ("kernel_" + Twine(i)).str(), module, *target);
      if (failed(kernel)) return signalPassFailure();
      kernel->function->setAttr("sprig.tiles", b.getI64IntegerAttr(plan->tiles));
      kernel->function->setAttr("sprig.scratch", b.getI64IntegerAttr(plan->scratchBytes));
    }
  }
};
} // namespace

void registerCudaKernelPasses() { registerCudaKernelsPasses(); }
} // namespace sprig::cuda
