// The processor as a target: x86-64 from level v2 up. For the registry; parts of the target have files of their own.
#pragma once
#include "lib/Target/Target.h"
#include <memory>

namespace sprig::cpu {
std::unique_ptr<Target> createCpuTarget();

/// Register tiles to try for a contraction: those of a dispatch of packed contractions that fit this machine's
/// registers; none of any other. Throws sprig::Error where the options do not name the instruction set `native`.
TileChoices registerTileChoices(kernel::DispatchOp dispatch, const CompileOptions &options);

/// Forms of the kernels that other tools read: those of Pipeline/Emit.h, of a planned program. A failure has been
/// reported; throws sprig::Error for a form or an instruction set that is not known, and where a linker is missing.
mlir::FailureOr<std::string> emitForm(mlir::ModuleOp program, const CompileOptions &options, llvm::StringRef form);

} // namespace sprig::cpu
