// Divisions of indices in 32 bits, where they fit: a GPU takes four times the instructions for those of 64, into which
// LLVM turns index arithmetic of 32 bits that becomes an address. For PtxEmitter, behind LLVM's own passes.
#pragma once
#include "llvm/IR/PassManager.h"

namespace sprig::cuda {

struct NarrowDivisions : llvm::PassInfoMixin<NarrowDivisions> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace sprig::cuda
