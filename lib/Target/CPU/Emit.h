// Forms of the CPU's kernels that other tools read. For the CPU's target.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "sprig/options.h"

namespace sprig::cpu {

/// The forms of Pipeline/Emit.h, of a planned program. A failure has been reported; throws sprig::Error for a form or
/// an instruction set that is not known, and where a linker is missing.
mlir::FailureOr<std::string> emitForm(mlir::ModuleOp program, const CompileOptions &options, llvm::StringRef form);

} // namespace sprig::cpu
