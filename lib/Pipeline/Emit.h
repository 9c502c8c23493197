// Forms of a program that other tools read: LLVM IR, assembly, objects, headers, shared libraries.
// For `sprig compile --emit`. Throws sprig::Error.
#pragma once
#include "lib/Pipeline/Pipeline.h"

namespace sprig {

/// Compiles `module` (in the state that `options.compileFrom` says) as far as the form needs, for the first instruction
/// set:
///   llvm, asm  text of the kernels
///   object     ELF object with the kernels, each `int32_t NAME(const sprig_rt_args *)`
///   header     C declarations of the kernels, with operands, tiles and scratch
///   shared     the object, linked to a shared library
std::string emitText(mlir::ModuleOp module, const CompileOptions &options, const std::string &form,
                     const RemarkSink &remarks = nullptr);

} // namespace sprig
