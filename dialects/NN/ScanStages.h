// How one step of a scan is computed row by row, so that all steps become one kernel.
// For the pass that packs or unrolls scans and for the emitter, which must agree on what is possible.
//
// Rows (the product of all dimensions but the last) are samples: every value has as many as what is carried, or one.
// They are independent, but where a reduction of all of them is one number. A step is cut into stages: first its
// reductions and its matrix products, whose results are kept in memory, then elementwise operations column by column. A
// product or reduction of something computed needs it whole, so that comes a stage earlier; so does what is joined of
// parts along the columns (nn.concat), but by what the step yields, and a number that is computed of a reduction for
// all places.
#pragma once
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNReduction.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <string>

namespace sprig::ir {

struct RowView {
  int64_t rows = 1, columns = 1;
  static RowView of(mlir::Value value);
};

struct ScanStage {
  llvm::SmallVector<ReduceOp> reductions;        // of what lies in memory when the stage begins
  llvm::SmallVector<mlir::Operation *> products; // in order
  llvm::SetVector<mlir::Value> kept;             // elementwise values that later stages read
};

struct ScanStages {
  int64_t rows = 1;
  bool rowsMeet = false; ///< a step cannot be computed for some of the rows alone
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

/// Whether an operation's result lies in memory as a whole once it is computed.
bool isWhole(mlir::Operation *op);

/// The operand of an operation that only moves elements within their row, else null: it is evaluated in place.
mlir::Value movedInRow(mlir::Operation *op);

} // namespace sprig::ir
