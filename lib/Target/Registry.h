// The targets that this compiler has, by kind.
// For the pipeline and for passes, whose option `target` is a kind.
#pragma once
#include "lib/Target/Target.h"
#include "llvm/Support/Error.h"

namespace sprig {

/// Those of the compiler first, then those that were added, in order.
llvm::ArrayRef<const Target *> targets();

/// The error lists the kinds that there are.
llvm::Expected<const Target *> targetByKind(llvm::StringRef kind);

/// The same for a pass: reports the error at the operation and gives null.
const Target *targetForPass(mlir::Operation *at, llvm::StringRef kind);

/// The machine that code of a target is for, by its architectures; none: those of the options' default.
std::optional<machine::MachineModel> machineForPass(mlir::Operation *at, llvm::StringRef kind,
                                                    llvm::ArrayRef<std::string> architectures);

/// Adds a target for the rest of the process, before anything is compiled; its kind must be new.
void addTarget(std::unique_ptr<Target> target);

} // namespace sprig
