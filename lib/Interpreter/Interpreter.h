// The reference interpreter of nn: the oracle of tests, the evaluator of constants, the judge of `sprig check
// --bisect`. For tests, passes and tools. Computes in double precision with plain loops; integers are exact and wrap.
// Errors that only values show (an index out of range, an integer division by zero) are diagnostics at the operation.
#pragma once
#include "lib/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace sprig::interp {

using Results = llvm::SmallVector<Tensor>;

enum class Precision {
  Double,  ///< float results stay doubles: the oracle
  Rounded, ///< each result is rounded to its element type: for constants, whose bytes go into the program
};

/// Whether `evaluate` knows the operation: it has an evaluator or decomposes into operations that have one.
bool isInterpreted(mlir::OperationName name);

/// The tensor of a constant; its bytes stay in the attribute, which must outlive it. Fails with a diagnostic at `loc`
/// when the attribute holds no readable bytes.
mlir::FailureOr<Tensor> constantTensor(mlir::ElementsAttr value, mlir::Location loc);

/// The results of one operation.
mlir::FailureOr<Results> evaluate(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                                  Precision precision = Precision::Double);
/// The same, with the error in `error` instead of a diagnostic.
mlir::FailureOr<Results> tryEvaluate(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, Precision precision,
                                     std::string &error);

struct RunOptions {
  Precision precision = Precision::Double;
  /// Called after each operation of the function's body with its results; an operation with a region counts as one.
  std::function<void(mlir::Operation *op, llvm::ArrayRef<Tensor> results)> onResults = {};
  /// Values of parameters by name, in place of those that the module has; takes what the function sets when it ends.
  llvm::StringMap<Tensor> *state = nullptr;
};

/// Runs a function of one block: nn operations, dispatches, parameters (looked up in the function's module). Values are
/// freed after their last use.
mlir::FailureOr<Results> run(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> inputs,
                             const RunOptions &options = {});

} // namespace sprig::interp
