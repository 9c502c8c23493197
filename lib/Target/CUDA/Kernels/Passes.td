//===- Passes.td - Passes that make kernels of NVIDIA GPUs --------------------------------------------------------------===//

#ifndef SPRIG_TARGET_CUDA_KERNELS_PASSES_TD
#define SPRIG_TARGET_CUDA_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitGpuKernels : Pass<"sprig-emit-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "Emit a gpu.func for each kernel.dispatch, in a gpu.module";
  let description = [{
    The functions `kernel_0`, `kernel_1`, ... are in the module `kernels` at the end, in the order of the dispatches, with the
    plan as attributes `sprig.tiles`, `sprig.scratch`. For people and tests; the pipeline emits kernels through the same
    function.
  }];
  let options = [Option<"arch", "arch", "std::string", "\"sm_80\"", "architecture whose limits kernels keep to">];
}

#endif // SPRIG_TARGET_CUDA_KERNELS_PASSES_TD
