// What each operation of a function works on when ranks share it, and which values stay partial. For the partition,
// which writes it down; nothing here depends on the rank.
#pragma once
#include "dialects/NN/NNShapeOps.h"
#include "lib/Shard/FactorAxes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace sprig::shard {

struct OpPlan {
  explicit OpPlan(mlir::Operation *op) : rule(ruleToDivide(op)) {}
  /// Whether parts of an operand are as good as all of it, as what nn.after waits for: no result depends on it.
  bool isWaitedFor(unsigned operand) const;
  DimensionRule rule;
  std::unique_ptr<FactorAxes> axes;    ///< null for what the partition makes itself: return, state, flat values, blocks
  llvm::SmallVector<Sharding> needs;   ///< of its operands
  llvm::SmallVector<Sharding> takes;   ///< the same without partial sums that pass through it
  llvm::SmallVector<Sharding> gives;   ///< its results as it computes them
  llvm::SmallVector<Sharding> partial; ///< of `gives`, what its own sums leave; the rest passes through it
};

/// A slice that takes one block of a dimension that is dealt block by block.
struct BlockSlice {
  unsigned dim;
  size_t block;
  unsigned axis; ///< of the result's dimension
};
std::optional<BlockSlice> blockSliceOf(const Mesh &mesh, ir::SliceOp slice, llvm::ArrayRef<Axes> operand);

/// The axes by which an operation works on flat vectors, as some operand of its shape has; none where it works on
/// dimensions. `flatOf` gives the flat axes of an operand. Elementwise operations do, and sums of all elements.
Axes flatAxesOf(mlir::Operation *op, llvm::function_ref<Axes(mlir::Value)> flatOf);

class PartitionPlan {
public:
  /// Refuses, by name, what ranks cannot share.
  static mlir::FailureOr<PartitionPlan> make(const Mesh &mesh, mlir::func::FuncOp function);

  const OpPlan &of(mlir::Operation *op) const { return *plans.find(op)->second; }
  /// A value as it is computed, and as it is kept: the same but for what is partial and does not stay so.
  const Sharding &raw(mlir::Value value) const { return given.find(value)->second; }
  Sharding kept(mlir::Value value) const;
  /// Whether all ranks have parts of one size of all values.
  bool isAlike() const;

private:
  PartitionPlan(const Mesh &mesh, mlir::func::FuncOp function) : mesh(&mesh), function(function) {}

  mlir::LogicalResult refuse(mlir::Operation &op) const;
  const llvm::SmallVector<Axes> &dimsOf(mlir::Value value) const;
  mlir::LogicalResult plan(mlir::Operation &op);
  bool addsPartialTerms(mlir::Operation &op) const;
  void planFactors(mlir::Operation &op, OpPlan &plan);
  Axes flatOf(mlir::Operation &op) const;
  bool makesAlike(mlir::Value value, const Sharding &part) const;
  mlir::LogicalResult planFlat(mlir::Operation &op, OpPlan &plan, const Axes &flat);
  bool planBlock(mlir::Operation &op, OpPlan &plan);
  mlir::LogicalResult planReturn(mlir::Operation &op, OpPlan &plan);
  bool settle(mlir::Operation &op);
  bool regroup();
  bool passesPartial(mlir::Operation &op, OpPlan &plan, llvm::ArrayRef<unsigned> operands);

  const Mesh *mesh;
  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<OpPlan>> plans;
  llvm::DenseMap<mlir::Value, Sharding> given, statements; ///< as values are computed, and what is said of results
  llvm::DenseSet<mlir::Value> resolved;                    ///< partial values that do not stay so
};

} // namespace sprig::shard
