// The reference interpreter of nn: the oracle of tests, the evaluator of constants, the judge of `sprig check
// --bisect`. For tests, passes and tools. Computes in double precision with plain loops; integers are exact and wrap.
// Errors that only values show (an index out of range, an integer division by zero) are diagnostics at the operation.
#pragma once
#include "lib/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

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

/// Sees values as they are computed, also in the regions of operations, but not in decompositions of composites.
class Watcher {
public:
  virtual ~Watcher() = default;
  /// Called after each operation without a region that runs.
  virtual void onResults(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<Tensor> results) = 0;
  /// Called before the regions of an operation run.
  virtual void onRegions(mlir::Operation *op) = 0;
  /// Called where a region takes values (arguments) or gives them (the operation's results), or parts of them: at each
  /// step of a loop. `tensors` are what `to` hold of it.
  virtual void onPass(mlir::ValueRange from, mlir::ValueRange to, llvm::ArrayRef<Tensor> tensors) = 0;
};

struct RunOptions {
  Precision precision = Precision::Double;
  Watcher *watcher = nullptr;
  /// Values of parameters by name, in place of those that the module has; takes what the function sets when it ends.
  llvm::StringMap<Tensor> *state = nullptr;
};

/// Runs a function of one block: nn operations, dispatches, parameters (looked up in the function's module). Values are
/// freed after their last use.
mlir::FailureOr<Results> run(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> inputs,
                             const RunOptions &options = {});

} // namespace sprig::interp
