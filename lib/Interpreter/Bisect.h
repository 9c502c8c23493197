// Finds the first operation whose compiled result differs from the interpreter's.
// For `sprig check --bisect`. How a module is compiled and run comes from the caller, so that this library needs no
// compiler. Each operation is judged on the compiled values of its operands: an error does not spread to its users.
#pragma once
#include "lib/Interpreter/Compare.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>

namespace sprig::interp {

/// Compiles a module and runs one entry of it. The module is the callee's to change.
using CompileAndRun = std::function<mlir::FailureOr<llvm::SmallVector<Tensor>>(
    mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs)>;

struct BisectOptions {
  /// Of an element type.
  std::function<Tolerance(mlir::Type)> tolerance = [](mlir::Type) { return Tolerance(); };
  /// Intermediate values are taken out of the compiled code this many operations and bytes at a time.
  int64_t chunkOperations = 64, chunkBytes = int64_t(256) << 20;
};

struct BisectReport {
  /// The first operation that differs, in the module that was given; null when all agree.
  mlir::Operation *operation = nullptr;
  unsigned result = 0;
  Difference difference;
  /// Whether the operation is right alone, with its operands as outputs, and wrong only where it shares a kernel with
  /// those before it.
  bool onlyWhenFused = false;
  int64_t operations = 0; ///< how many were compared
};

/// `module` holds the entry in nn, before any phase has changed it.
mlir::FailureOr<BisectReport> bisect(mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs,
                                     const CompileAndRun &compile, const BisectOptions &options = {});

} // namespace sprig::interp
