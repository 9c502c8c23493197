//===- Passes.td - How networks lie in the memory of NVIDIA GPUs --------------------------------------------------------===//

#ifndef SPRIG_TARGET_CUDA_LAYOUT_PASSES_TD
#define SPRIG_TARGET_CUDA_LAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def TransposeScans : Pass<"sprig-transpose-scans", "::mlir::func::FuncOp"> {
  let summary = "Transposes the matrices that scans multiply by transposed, in front of the loop";
  let description = [{
    All steps of a scan (`nn.scan`) read its matrices. Neighbouring threads have neighbouring columns of a product, so that
    these lie side by side where the matrix is not transposed: those that are become so once, constants when the program is
    compiled.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

#endif // SPRIG_TARGET_CUDA_LAYOUT_PASSES_TD
