#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sprig::cpu {
#define GEN_PASS_DEF_EMITKERNELS
#define GEN_PASS_REGISTRATION
#define GEN_PASS_DECL
#include "lib/Target/CPU/Kernels/Passes.h.inc"

namespace {
struct EmitKernels : impl::EmitKernelsBase<EmitKernels> {
  using EmitKernelsBase::EmitKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override { registerKernelDialects(registry); }

  void runOnOperation() override {
    std::optional<CpuArch> target = CpuArch::forLevel(cpu);
    if (!target) {
      getOperation().emitError("unknown instruction set '") << cpu << "'; known: " << CpuArch::kLevels;
      return signalPassFailure();
    }
    SmallVector<kernel::DispatchOp> dispatches;
    getOperation().walk([&](kernel::DispatchOp dispatch) {
      // Those in branches and loops are parts of the kernel that holds them.
      if (!dispatch->getParentOfType<kernel::DispatchOp>()) dispatches.push_back(dispatch);
    });
    Builder b(&getContext());
    for (auto [i, dispatch] : llvm::enumerate(dispatches)) {
      FailureOr<KernelPlan> plan = planDispatch(dispatch);
      if (failed(plan)) return signalPassFailure();
      auto function = emitKernel(dispatch, ("kernel_" + Twine(i)).str(), *target, getOperation());
      if (failed(function)) return signalPassFailure();
      (*function)->setAttr("sprig.tiles", b.getI64IntegerAttr(plan->tiles));
      (*function)->setAttr("sprig.scratch", b.getI64IntegerAttr(plan->scratchBytes));
    }
  }
};
} // namespace

void registerKernelPasses() { registerCPUKernelsPasses(); }
} // namespace sprig::cpu
