// Rows with their inputs and what the interpreter makes of them, and the comparison with what kernels did. For the
// harnesses of all targets.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "test/unit/OpTable/Harness.h"

namespace sprig::optable {

using Bytes = std::vector<char>;

struct Prepared {
  const Row *row;
  std::vector<interp::Tensor> inputs;
  llvm::SmallVector<interp::Tensor> wants;
};

/// Those that the interpreter computes; others are failures of the test.
std::vector<Prepared> prepare(mlir::ModuleOp module, const std::vector<Row> &rows);

/// Why `got` is not the wanted tensor; empty when it is.
std::string differenceText(const interp::Tensor &got, const interp::Tensor &want, const Bound &bound);

/// A failure of the test for each result that is not the wanted one within the row's bound.
void judge(const Prepared &prepared, const std::string &variant, const std::vector<Bytes> &outputs);

/// A failure of the test for each row of a fused module that lacks the dispatch that it names.
void expectDispatches(mlir::ModuleOp fused, const std::vector<Row> &rows);

} // namespace sprig::optable
