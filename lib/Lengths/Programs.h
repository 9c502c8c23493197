// One model at several lengths of an axis, as functions that are walked side by side: the main one, which stays, and
// samples, which tell what of it depends on the length. For the pass mask-lengths.
#pragma once
#include "lib/Lengths/Length.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace sprig {

class Programs {
public:
  /// The first is the main one.
  struct Program {
    mlir::func::FuncOp function;
    int64_t length;
  };
  Programs(std::string axis, llvm::SmallVector<Program> all);

  const std::string axis;
  mlir::func::FuncOp main() const { return all.front().function; }
  int64_t first() const { return all.back().length; }
  int64_t last() const { return all.front().length; }

  /// Removes what nobody uses, and pairs the arguments. False where the functions take different ones, which is
  /// reported.
  mlir::LogicalResult begin();
  /// The main program's next operation; null behind the last. Those beside it are the others' next ones.
  mlir::Operation *next();
  /// That of each program, the main one's first.
  llvm::ArrayRef<mlir::Operation *> current() const { return at; }
  /// Whether those that next() gave are the same operation on the same values, attributes of these names aside.
  mlir::LogicalResult areSame(llvm::ArrayRef<llvm::StringRef> but) const;
  /// Pairs their results.
  void pair();
  /// Decomposes them in all programs; next() then gives the first operation of the decomposition.
  mlir::LogicalResult decompose();

  /// Something else of the main program in place of one of its values, but in `by`, which computes it.
  void replace(mlir::Value value, mlir::Value with, mlir::Operation *by);

  size_t count() const { return all.size(); }
  /// How long a dimension of a main value is in each program.
  llvm::SmallVector<int64_t> sizes(mlir::Value value, int64_t dim) const;
  bool varies(mlir::Value value, int64_t dim) const;
  bool varies(mlir::Value value) const;
  /// Whether a length is what was measured.
  bool fits(const Length &length, llvm::ArrayRef<int64_t> sizes) const;
  /// The length that sizes are: one of those told to remember(), else a multiple of the axis and a rest, or a share of
  /// it.
  std::optional<Length> lengthOf(llvm::ArrayRef<int64_t> sizes) const;
  void remember(const Length &length);
  /// A length, and how many times it numbers are.
  std::optional<std::pair<Length, int64_t>> multipleOf(llvm::ArrayRef<int64_t> numbers) const;

  /// An error at an operation of the main program, "'nn.pad' cannot grow with 'time': ", whose reason follows.
  mlir::InFlightDiagnostic refuse(mlir::Operation *op) const;

private:
  std::optional<Length> shareOf(llvm::ArrayRef<int64_t> sizes) const;

  llvm::SmallVector<Program> all;
  llvm::SmallVector<mlir::Operation *> at, following;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> others; // of the main program's values
  llvm::SmallVector<Length> known;
};

} // namespace sprig
