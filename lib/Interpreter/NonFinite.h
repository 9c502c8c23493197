// Finds which operation is to blame for numbers that are not finite, by running a function in the interpreter.
// For `sprig train --debug-nan` and the front-end's regions.
#pragma once
#include "lib/Interpreter/Interpreter.h"
#include "lib/NonFinite/NonFinite.h"

namespace sprig::interp {

/// Of operations outside of decompositions: a composite is one.
class NonFiniteWatcher : public Watcher {
public:
  /// Names an operation: "nn.log at model.onnx:node".
  using Describe = std::function<std::string(mlir::Operation *op)>;
  explicit NonFiniteWatcher(Describe describe, Precision precision = Precision::Rounded)
      : describe(std::move(describe)), precision(precision) {}

  /// States what is known of a value that no operation makes, as a function's argument.
  void set(mlir::Value value, const nonfinite::Origins &origins) { known[value] = origins; }
  void setGiven(mlir::Value value, const Tensor &tensor, const std::string &what);
  /// The origins of what a value held last.
  nonfinite::Origins of(mlir::Value value) const { return known.lookup(value); }

  void onResults(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<Tensor> results) override;
  void onRegions(mlir::Operation *op) override;
  void onPass(mlir::ValueRange from, mlir::ValueRange to, llvm::ArrayRef<Tensor> tensors) override;

private:
  Describe describe;
  Precision precision;
  llvm::DenseMap<mlir::Value, nonfinite::Origins> known; // of values that hold such numbers
};

nonfinite::Counts countNonFinite(const Tensor &tensor);

} // namespace sprig::interp
