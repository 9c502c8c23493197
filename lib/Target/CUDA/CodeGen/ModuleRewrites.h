// Rewrites of LLVM's IR that the back-end for NVIDIA's GPUs and ptxas need. For PtxEmitter.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace sprig::cuda {

/// The bits of floats of which a part is kept, as quantisers keep that of a sum: a store of 8 or 16 bits of a register
/// that an operation on floats has written. PTX says that the store takes the lowest bits of it, ptxas (13.0, all
/// levels and architectures tried) converts the float to an integer instead. So such bits pass another register, by a
/// move that the back-end does not see through.
void moveFloatBits(llvm::Module &module);

/// Divisions of indices in 32 bits, where they fit: a GPU takes four times the instructions for those of 64, into which
/// LLVM turns index arithmetic of 32 bits that becomes an address. Behind LLVM's own passes.
struct NarrowDivisions : llvm::PassInfoMixin<NarrowDivisions> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace sprig::cuda
