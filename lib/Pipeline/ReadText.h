// A program as MLIR text (or bytecode) into a module that passes can work on: the door for what users write.
// For the command line and the JIT.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

namespace sprig {

/// Parses and checks. `compileFrom` is the phase that the program is to start from, "" for the first. Throws
/// sprig::Error (badInput) with the place for what does not parse or verify, and for what no program holds: another
/// type than tensors of static shape and of the runtime's element types, operations that do not stand at that phase
/// (kernel.dispatch, func.call, cf.br, ...), a function without a body or with several blocks, no entry at all.
mlir::OwningOpRef<mlir::ModuleOp> readText(mlir::MLIRContext &context, llvm::StringRef content, llvm::StringRef name,
                                           llvm::StringRef compileFrom);

} // namespace sprig
