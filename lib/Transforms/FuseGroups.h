// Groups of operations that become one dispatch each. For the fuse pass, which asks for the groups of a function and
// outlines them. Every operation of the block that computes something is in exactly one group; no two groups depend on
// each other in a circle. Grouping goes by interfaces: elementwise operations and the fusion kind of the others.
#pragma once
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <memory>
#include <vector>

namespace sprig {

struct FusionGroup {
  /// In program order.
  llvm::SetVector<mlir::Operation *> ops;
  /// Loop groups alone: the shape that all members share, and the reduced axes once a reduction is a member.
  bool isLoop = false;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> axes;
  bool hasReduction = false;

  bool contains(mlir::Operation *op) const { return op && ops.contains(op); }
  /// The values that operations outside the group use, in program order; all of a kernel that has several.
  llvm::SmallVector<mlir::Value> results() const;
};

class FusionGroups {
public:
  /// With `fuse` off every operation is a group of its own.
  FusionGroups(mlir::Block &block, bool fuse);

  llvm::ArrayRef<FusionGroup *> groups() const { return list; }

  /// Whether an operation becomes part of a kernel: constants, parameters, reshapes and terminators do not.
  static bool isComputed(mlir::Operation *op);

private:
  // FuseEpilogues.cpp: what follows a contraction, or is read by what follows it.
  using Members = llvm::SetVector<mlir::Operation *>;
  void growEpilogue(mlir::Operation *root);
  Members usersInReach(mlir::Operation *root, mlir::Operation *&refused);
  Members largestWithOneResult(mlir::Operation *root, const Members &reach) const;
  void leaveToReaders(mlir::Operation *root, Members &members) const;
  void pullProducers(mlir::Operation *root, Members &members) const;
  bool followsContraction(mlir::Operation *op) const;
  bool fitsEpilogue(mlir::Operation *op, mlir::Operation *root) const;
  void joinLoop(mlir::Operation *op);
  bool fitsLoop(mlir::Operation *op, const FusionGroup &group) const;
  FusionGroup &newGroup(mlir::Operation *op);
  void merge(FusionGroup &into, FusionGroup &from);
  /// Whether some operation outside `members` uses a value of theirs and feeds one of them.
  unsigned searchFloor(const llvm::SetVector<mlir::Operation *> &members) const;
  bool wouldCycle(const llvm::SetVector<mlir::Operation *> &members) const;

  std::vector<std::unique_ptr<FusionGroup>> storage;
  llvm::SmallVector<FusionGroup *> list;
  llvm::DenseMap<mlir::Operation *, FusionGroup *> groupOf;
  llvm::DenseMap<mlir::Operation *, unsigned> position; // of every operation of the block
};

} // namespace sprig
