// A program's kernels as units that are compiled one by one, each to an object of its own.
// For compileKernels. A unit's stem is a hash of everything that its code depends on but the target: units of equal
// stems give equal code, whatever the kernels are called, in this program or in another one.
#pragma once
#include "dialects/NN/NNDialect.h"
#include "lib/Target/CPU/CodeGen/CodeGen.h"

namespace sprig::cpu {

class KernelLowering;

struct KernelUnit {
  exec::KernelOp kernel; // the first of those that are equal
  std::string stem;
  bool launched = false; // by commands: the object has a function with the kernel ABI
  bool called = false;   // by composites: the object shows its body
};

/// What kernels are called in code.
using KernelStems = llvm::function_ref<llvm::StringRef(exec::KernelOp)>;

struct KernelUnits {
  llvm::SmallVector<KernelUnit> units;
  llvm::DenseMap<mlir::Operation *, size_t> unitOf; // by kernel

  llvm::StringRef stemOf(exec::KernelOp kernel) const { return units[unitOf.lookup(kernel)].stem; }
};

/// The units of all kernels of a program.
KernelUnits findKernelUnits(mlir::ModuleOp program);

inline std::string unitFunctionName(const KernelUnit &unit) { return "kernel." + unit.stem; }

/// The unit in the LLVM dialect. `stems` are those of the leaves that it calls. A failure has been reported.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> emitUnit(const KernelUnit &unit, KernelStems stems,
                                                            const CpuArch &target, const KernelLowering &lowering);

/// A hash over sources that code depends on: the compiler's version for the cache.
llvm::StringRef codeFingerprint();

} // namespace sprig::cpu
