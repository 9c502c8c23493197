// Whether two dispatches may share a kernel: types, attributes and bodies are equal; labels and locations are for
// people. For maps whose keys are dispatches (kernel.dispatch), which must not change while they are keys.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "llvm/ADT/DenseMapInfo.h"

namespace sprig::kernel {

struct EqualDispatch : llvm::DenseMapInfo<mlir::Operation *> {
  static unsigned getHashValue(const mlir::Operation *key) {
    using mlir::OperationEquivalence;
    auto *op = const_cast<mlir::Operation *>(key);
    llvm::hash_code hash = llvm::hash_combine_range(op->getResultTypes().begin(), op->getResultTypes().end());
    for (mlir::Type type : op->getOperandTypes()) hash = llvm::hash_combine(hash, type);
    op->getRegion(0).walk([&](mlir::Operation *inner) {
      hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(inner, OperationEquivalence::ignoreHashValue,
                                                                        OperationEquivalence::ignoreHashValue,
                                                                        OperationEquivalence::IgnoreLocations));
    });
    return hash;
  }

  static bool isEqual(const mlir::Operation *left, const mlir::Operation *right) {
    auto isSpecial = [](const mlir::Operation *op) { return op == getEmptyKey() || op == getTombstoneKey(); };
    if (left == right) return true;
    if (isSpecial(left) || isSpecial(right)) return false;
    auto a = llvm::cast<DispatchOp>(const_cast<mlir::Operation *>(left));
    auto b = llvm::cast<DispatchOp>(const_cast<mlir::Operation *>(right));
    return llvm::equal(a->getOperandTypes(), b->getOperandTypes()) &&
           llvm::equal(a->getResultTypes(), b->getResultTypes()) && a.getTileAttr() == b.getTileAttr() &&
           a.getTf32() == b.getTf32() && a.getSkipMasked() == b.getSkipMasked() &&
           mlir::OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                            mlir::OperationEquivalence::IgnoreLocations);
  }
};

} // namespace sprig::kernel
