// How one step of a scan is computed row by row, so that all steps become one kernel.
// For the pass that packs or unrolls scans and for the emitter, which must agree on what is possible.
//
// Rows (the product of all dimensions but the last) are independent samples: every value has as many as what is
// carried, or one. A step is cut into stages: first its matrix products, whose results are kept in memory, then
// elementwise operations column by column. A product of something computed needs it whole, so that comes a stage
// earlier; so does what is joined of parts along the columns (nn.concat), but by what the step yields.
#pragma once
#include "dialects/NN/NNRecurrent.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <string>

namespace sprig::ir {

struct RowView {
  int64_t rows = 1, columns = 1;
  static RowView of(mlir::Value value);
};

struct ScanStage {
  llvm::SmallVector<mlir::Operation *> products; // in order
  llvm::SetVector<mlir::Value> kept;             // elementwise values that later stages read
};

struct ScanStages {
  int64_t rows = 1;
  /// The last stage also computes what the step yields.
  llvm::SmallVector<ScanStage> stages;

  /// Fails where the step holds something else; `reason` then says what.
  static std::optional<ScanStages> analyze(ScanOp scan, std::string &reason);
};

/// The operands of a matrix product (the trait MatrixProduct), null for another operation.
struct Product {
  mlir::Value lhs, rhs;
  static std::optional<Product> of(mlir::Operation *op);
};

/// The operand of an operation that only moves elements within their row, else null: it is evaluated in place.
mlir::Value movedInRow(mlir::Operation *op);

} // namespace sprig::ir
