// How the dimensions of an operation's operands and results belong together, as an einsum says it: its dimension rule.
// Operations give it through DimensionRuleOpInterface; lengths, sample axes, propagation and partition of shardings
// follow it.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace sprig {

/// What an operation does along a factor. Of results that have the factor as a dimension, each position depends on the
/// same position of the operands alone, whatever the kind.
enum class FactorKind : uint8_t {
  passes,  ///< all results have the factor
  sum,     ///< adds up over it: of a part of the positions it gives a part of the sum
  mean,    ///< of a part of the positions it gives their mean, which counts by their number in the mean of all
  product, ///< of a part of the positions it gives a part of the product
  min,
  max,
  whole, ///< needs all of it at once
};

struct Factor {
  int64_t size;
  FactorKind kind;
  /// The names of the axes of a mesh that split it, whatever values are stated to be; null: any axes.
  mlir::ArrayAttr axes = {};
  /// Results without the factor that do not depend on it.
  llvm::SmallVector<unsigned, 1> unaffected = {};
  /// Operands that are terms of the sum over it: those of all parts are added up.
  llvm::SmallVector<unsigned, 1> addends = {};
  bool isReduced() const { return kind != FactorKind::passes && kind != FactorKind::whole; }
};

class DimensionRule {
public:
  /// The factors that a dimension consists of, major to minor; none: the dimension must be whole.
  using Dim = llvm::SmallVector<unsigned, 1>;
  using Map = llvm::SmallVector<Dim>;

  /// A rule that ties nothing: every dimension must be whole.
  explicit DimensionRule(mlir::Operation *op);

  unsigned addFactor(int64_t size, FactorKind kind = FactorKind::passes);
  /// The dimension consists of the factors that it has already and, minor to them, this one.
  void operand(unsigned i, int64_t dim, unsigned factor) { operands[i][size_t(dim)].push_back(factor); }
  void result(unsigned i, int64_t dim, unsigned factor) { results[i][size_t(dim)].push_back(factor); }
  /// A factor of its own for a dimension that must be whole: says so by name.
  void wholeOperand(unsigned i, int64_t dim, int64_t size) { operand(i, dim, addFactor(size, FactorKind::whole)); }
  void wholeResult(unsigned i, int64_t dim, int64_t size) { result(i, dim, addFactor(size, FactorKind::whole)); }

  bool isWhole(const Dim &dim) const;
  /// Whether a part of the factor's positions gives a part of the result, as the factor's kind says.
  bool isPartial(unsigned result, unsigned factor) const;

  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<Map> operands, results; ///< by number, then by dimension; of no dimension where it is no tensor
  /// Sets of operands in which, all of a set at once and the others fixed, the operation is linear: of parts of sums it
  /// gives parts of sums.
  using OperandSets = llvm::SmallVector<llvm::SmallVector<unsigned, 2>>;
  OperandSets linear;
  /// By result: what a sum is called that ranks add up where it is computed; empty: anywhere that is linear in it.
  llvm::SmallVector<llvm::StringRef> sums;
};

/// That of an operation whose operands broadcast to its results.
DimensionRule elementwiseDimensionRule(mlir::Operation *op, DimensionRule::OperandSets linear = {});
/// The rule of any operation: its own, that of elementwise ones, that of its decomposition, or that all must be whole.
DimensionRule dimensionRuleOf(mlir::Operation *op);
/// Whether an operation has a rule that somebody stated, be it for a kind of operations.
bool hasDimensionRule(mlir::OperationName name);

/// The operation on this rank's parts of its operands, where factor f has `sizes[f]` positions.
mlir::Operation *buildLocal(mlir::Operation *op, mlir::OpBuilder &builder, mlir::ValueRange operands,
                            llvm::ArrayRef<int64_t> sizes);
/// The type of a part of a tensor.
mlir::Type localType(mlir::Type type, const DimensionRule::Map &map, llvm::ArrayRef<int64_t> sizes);

namespace detail {
/// A copy on other operands, whose results have the types that follow from the rule.
mlir::Operation *cloneLocal(mlir::Operation *op, const DimensionRule &rule, mlir::OpBuilder &builder,
                            mlir::ValueRange operands, llvm::ArrayRef<int64_t> sizes);
} // namespace detail
} // namespace sprig

#include "dialects/Interfaces/DimensionRuleInterface.h.inc"
