#include "lib/Target/CUDA/CodeGen/NarrowDivisions.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

PreservedAnalyses sprig::cuda::NarrowDivisions::run(Function &function, FunctionAnalysisManager &analyses) {
  ScalarEvolution &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto fits = [&](Value *value) {
    return value->getType()->getIntegerBitWidth() <= 32 ||
           evolution.getUnsignedRangeMax(evolution.getSCEV(value)).isIntN(32);
  };
  Type *word = Type::getInt32Ty(function.getContext());
  SmallVector<BinaryOperator *> divisions;
  for (Instruction &instruction : instructions(function)) {
    auto *division = dyn_cast<BinaryOperator>(&instruction);
    if (!division || !division->getType()->isIntegerTy() || division->getType()->getIntegerBitWidth() > 64) continue;
    bool isDivision = division->getOpcode() == Instruction::UDiv || division->getOpcode() == Instruction::URem;
    if (isDivision && fits(division->getOperand(0)) && fits(division->getOperand(1))) divisions.push_back(division);
  }
  // A move that nothing sees through: strength reduction would make a division of 64 bits of it.
  auto *move = InlineAsm::get(FunctionType::get(word, {word}, false), "mov.b32 $0, $1;", "=r,r",
                              /*hasSideEffects=*/false);
  for (BinaryOperator *division : divisions) {
    IRBuilder<> b(division);
    Value *low = b.CreateCall(move, b.CreateZExtOrTrunc(division->getOperand(0), word));
    Value *by = b.CreateZExtOrTrunc(division->getOperand(1), word);
    Value *narrow = b.CreateBinOp(division->getOpcode(), low, by);
    division->replaceAllUsesWith(b.CreateZExtOrTrunc(narrow, division->getType()));
    division->eraseFromParent();
  }
  return divisions.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}
