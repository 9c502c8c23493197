//===- Passes.td - How networks lie in the memory of NVIDIA GPUs --------------------------------------------------------===//

#ifndef SPRIG_TARGET_CUDA_LAYOUT_PASSES_TD
#define SPRIG_TARGET_CUDA_LAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitProducts : Pass<"sprig-split-products", "::mlir::func::FuncOp"> {
  let summary = "Lets the parts of a long sum of products be computed side by side";
  let description = [{
    A product of f32 over more than 1024 steps is a sum of chains of 512. Where its result has few tiles it becomes a
    batch of products, one for each part, or `kernel.matmul_parts` where the last part is shorter, and the sum of their
    results in the order of parts (`kernel.sum_parts`): no bit changes. That takes no copy where steps are the outer
    dimension of both sides, as in gradients of weights, or there is one row, whose steps have to be a multiple of 512.
    The gradient of a filter becomes `kernel.conv_filter_grad_parts` and their sum, whatever the number of samples and
    positions, where its parts take no more memory than the operands, or 16 MiB.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect", "::sprig::kernel::KernelDialect"];
}

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
