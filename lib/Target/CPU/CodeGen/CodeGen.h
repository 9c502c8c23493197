// Machine code of the kernels of an exec module for one instruction set.
// For the pipeline's codegen phase and for `--emit`. Stages can be had alone: the LLVM dialect, LLVM IR, assembly,
// object.
#pragma once
#include "dialects/Exec/Exec.h"
#include "lib/Target/CPU/Kernels/CpuArch.h"
#include "lib/Target/CPU/CodeGen/ImageLinker.h"
#include "lib/Target/Target.h"
#include "mlir/IR/OwningOpRef.h"

namespace sprig {
class FileCache;
}

namespace sprig::cpu {

/// What an image is for, as a package states it.
struct InstructionSet {
  CpuArch arch;
  std::string level;                 // x86-64-v2, -v3 or -v4: needed at least
  std::vector<std::string> features; // needed beyond the level, for `native`
};

/// By name: a level or `native`, the machine that this runs on. The error lists the names.
llvm::Expected<InstructionSet> instructionSetByName(llvm::StringRef name);

enum class CodeGenLevel { None, Less, Default, Aggressive };

struct CodeGenOptions {
  CodeGenLevel level = CodeGenLevel::Default;
  /// Threads that compile kernels; 0: as many as the process may use. The code does not depend on it.
  int workers = 0;
  /// Where objects of kernels are kept and looked for; null: nowhere.
  FileCache *cache = nullptr;
};

/// What the options mean for code generation, without a cache.
CodeGenOptions codeGenOptions(const CompileOptions &options);

/// The function of a kernel: `kernel_NAME`. Kernels are named after operations, and a function `exp` would be taken for
/// the C library's.
std::string kernelFunctionName(exec::KernelOp kernel);

/// The functions of all kernels, before lowering (scf and vector) or, with `lower`, in the LLVM dialect. Each
/// exec.kernel becomes `int32_t kernel_NAME(const sprig_rt_args *)`. A failure has been reported.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> emitKernelModule(mlir::ModuleOp program, const CpuArch &target,
                                                                    bool lower = true);

enum class CodeForm { LLVM, Assembly, Object };

/// Translates a module of the LLVM dialect: LLVM IR text, assembly text, or an ELF object.
llvm::Expected<std::string> translateKernelModule(mlir::ModuleOp module, const CpuArch &target,
                                                  const CodeGenOptions &options, CodeForm form);

/// The whole way: for each target the image of all kernels of `program`, its symbols in the order of
/// exec::launchedKernels. Kernels that differ in names alone are compiled once. The context must have all dialects
/// loaded. A failure has been reported.
mlir::FailureOr<std::vector<LinkedImage>> compileKernels(mlir::ModuleOp program, llvm::ArrayRef<CpuArch> targets,
                                                         const CodeGenOptions &options,
                                                         CodeGenCounts *counts = nullptr);

} // namespace sprig::cpu
