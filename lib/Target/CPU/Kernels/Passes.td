//===- Passes.td - Passes that make kernels -----------------------------------------------------------------------------===//

#ifndef SPRIG_TARGET_CPU_KERNELS_PASSES_TD
#define SPRIG_TARGET_CPU_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitKernels : Pass<"sprig-emit-kernels", "::mlir::ModuleOp"> {
  let summary = "Emit a kernel function for each kernel.dispatch, beside it";
  let description = [{
    The functions `kernel_0`, `kernel_1`, ... follow at the end of the module, in the order of the dispatches, with the
    plan as attributes `sprig.tiles`, `sprig.scratch`. For people and tests; the pipeline emits kernels
    through the same function.
  }];
  let options = [Option<"cpu", "cpu", "std::string", "\"x86-64-v4\"", "x86-64-v2, x86-64-v3 or x86-64-v4; the last two also with -vnni, the last with -bf16">];
}

#endif // SPRIG_TARGET_CPU_KERNELS_PASSES_TD
