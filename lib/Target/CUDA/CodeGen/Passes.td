//===- Passes.td - Passes from gpu modules to PTX -----------------------------------------------------------------------===//

#ifndef SPRIG_TARGET_CUDA_CODEGEN_PASSES_TD
#define SPRIG_TARGET_CUDA_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerGpuModule : Pass<"sprig-lower-gpu-module", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower the kernels of a gpu.module to the dialects nvvm and llvm";
  let description = [{
    Functions of arith, math, scf, memref, vector, gpu and nvgpu become kernels that take bare pointers. f32 functions
    become arithmetic, and of f64 exp, log, pow and rsqrt; another f64 function or a remainder, which a GPU has no
    instruction for, is an error. For people and
    tests; the pipeline lowers kernels through the same function.
  }];
}

def EmitPtx : Pass<"sprig-emit-ptx", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Print the PTX of a gpu.module that sprig-lower-gpu-module has lowered";
  let description = [{
    To standard output; the module stays as it is. For people and tests; the pipeline makes PTX through the same
    function.
  }];
  let options = [
    Option<"arch", "arch", "std::string", "\"sm_90\"", "sm_80, sm_86, sm_89, sm_90, sm_100 or sm_120">,
    Option<"level", "level", "int", "2", "how much time to spend, 0 to 3">,
  ];
}

#endif // SPRIG_TARGET_CUDA_CODEGEN_PASSES_TD
