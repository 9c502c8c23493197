// The dimension rule of what is made of other operations: a composite, or an operation with regions. Dimensions that
// rules tie become one class; what any operation needs whole, reduces or cuts in factors is whole in the derived rule.
// Sums may stay: a class that is only summed over, with nothing but linear operations after it, is a sum in the rule.
// For dimensionRuleOf, and for dialects whose operations hold regions.
#pragma once
#include "dialects/Interfaces/DimensionRule.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace sprig {

class DerivedRule {
public:
  explicit DerivedRule(mlir::Operation *op) : op(op) {}

  /// Ties the dimensions of all operations of a block.
  void visit(mlir::Block &block);
  /// All dimensions of two values of one shape are the same; from dimension `skip` on of `a`.
  void tie(mlir::Value a, mlir::Value b, int64_t skip = 0);
  /// Dimension d + `skip` of an operand or result is dimension d of the value.
  void setOperand(unsigned i, mlir::Value inner, int64_t skip = 0) { operands.push_back({i, inner, skip}); }
  void setResult(unsigned i, mlir::Value inner, int64_t skip = 0) { results.push_back({i, inner, skip}); }

  /// A value that the block takes and gives again, and that parts of sums are added to: it starts with an operand.
  void setCarried(unsigned i, mlir::Value argument, mlir::Value value) { carried.push_back({i, argument, value}); }
  /// Classes of dimensions that are summed over may stay sums: for regions, which buildBlock writes on parts as they
  /// are.
  void keepSums() { keepsSums = true; }

  /// When all is tied.
  DimensionRule rule();
  /// After rule(): the operations of a block on parts, appended to another one, whose arguments stand for its own.
  void buildBlock(mlir::Block &from, mlir::Block &to, llvm::ArrayRef<int64_t> sizes);
  /// After rule(): the type of a part of a value inside.
  mlir::Type typeOf(mlir::Value inner, llvm::ArrayRef<int64_t> sizes);

private:
  struct Anchor {
    unsigned index;
    mlir::Value inner;
    int64_t skip;
  };

  struct Carried {
    unsigned operand;
    mlir::Value argument, value;
  };
  using Classes = llvm::SmallSetVector<unsigned, 2>; // roots

  unsigned nodeOf(mlir::Value value, int64_t dim);
  unsigned find(unsigned node);
  void join(unsigned a, unsigned b);
  void visit(mlir::Operation &inner);
  void holdRepeated();
  unsigned classOf(mlir::Operation &inner, const DimensionRule &rule, unsigned factor);
  void followSums();
  void holdUnlessLinear(mlir::Operation &inner, const DimensionRule &rule);
  void stateSums(DimensionRule &rule);
  unsigned factorOf(DimensionRule &rule, unsigned node, int64_t size);
  int64_t sizeOf(mlir::Value value, int64_t dim, llvm::ArrayRef<int64_t> sizes);

  mlir::Operation *op;
  llvm::SmallVector<Anchor> operands, results;
  llvm::DenseMap<mlir::Value, unsigned> firstNode;
  llvm::SmallVector<mlir::Value> values; // those that have nodes, in order
  llvm::SmallVector<unsigned> parent;
  llvm::SmallVector<bool> isWhole;            // of roots
  llvm::DenseMap<unsigned, unsigned> factors; // of roots
  llvm::SmallVector<Carried> carried;
  bool keepsSums = false;
  llvm::MapVector<mlir::Operation *, DimensionRule> inside; // what was visited
  llvm::DenseMap<mlir::Value, Classes> partOf;              // the classes that a value is a part of a sum over
};

/// The rule of a composite that follows from its decomposition.
DimensionRule decompositionRule(mlir::Operation *composite);

} // namespace sprig
