#include "lib/Target/CUDA/CodeGen/ModuleRewrites.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"

using namespace llvm;

// Whether a part of the value is taken, also of what it is chosen for.
static bool isCut(Value *value) {
  SmallVector<Value *> open{value};
  SmallPtrSet<Value *, 8> seen;
  while (!open.empty()) {
    Value *each = open.pop_back_val();
    if (!seen.insert(each).second) continue;
    for (User *user : each->users()) {
      if (isa<TruncInst>(user)) return true;
      if (isa<PHINode, SelectInst, ExtractElementInst, InsertElementInst, ShuffleVectorInst>(user))
        open.push_back(user);
    }
  }
  return false;
}

static Value *moved(IRBuilder<> &b, Value *bits) {
  Type *type = bits->getType();
  bool isWide = type->getScalarSizeInBits() == 64;
  auto *move = InlineAsm::get(FunctionType::get(type->getScalarType(), {type->getScalarType()}, false),
                              isWide ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;", isWide ? "=l,l" : "=r,r",
                              /*hasSideEffects=*/false);
  auto *vector = dyn_cast<FixedVectorType>(type);
  if (!vector) return b.CreateCall(move, bits);
  Value *result = PoisonValue::get(type);
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    result = b.CreateInsertElement(result, b.CreateCall(move, b.CreateExtractElement(bits, i)), i);
  return result;
}

void sprig::cuda::moveFloatBits(Module &module) {
  SmallVector<BitCastInst *> casts;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      auto *cast = dyn_cast<BitCastInst>(&instruction);
      if (!cast || !cast->getSrcTy()->isFPOrFPVectorTy() || !cast->getDestTy()->isIntOrIntVectorTy()) continue;
      unsigned bits = cast->getDestTy()->getScalarSizeInBits();
      if ((bits == 32 || bits == 64) && cast->getSrcTy()->getScalarSizeInBits() == bits && isCut(cast))
        casts.push_back(cast);
    }
  for (BitCastInst *cast : casts) {
    IRBuilder<> b(cast->getNextNode());
    SmallVector<Use *> uses;
    for (Use &use : cast->uses()) uses.push_back(&use);
    Value *bits = moved(b, cast);
    for (Use *use : uses) use->set(bits);
  }
}

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
