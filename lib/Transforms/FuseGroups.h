// Groups of operations that become one dispatch each. For the fuse pass, which asks for the groups of a function and
// outlines them. Every operation of the block that computes something is in exactly one group; no two groups depend on
// each other in a circle. Grouping goes by interfaces, elementwise operations and the fusion kind of the others;
// whether a kernel can be had is the target's to say.
#pragma once
#include "lib/Target/Target.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <memory>
#include <vector>

namespace sprig {

/// The values that operations outside the group use, in program order; all of a kernel that has several.
llvm::SmallVector<mlir::Value> resultsOf(const FusionGroup &group);

/// Whether an operation computes one element of its one result at a time.
inline bool isElementwise(mlir::Operation *op) {
  return llvm::isa<ElementwiseOpInterface>(op) && op->getNumResults() == 1;
}

class FusionGroups {
public:
  /// With `fuse` off every operation is a group of its own. Without `mayWait` no group waits for operands of a member
  /// while that keeps its readers waiting, or keeps anything alive that it reads.
  FusionGroups(mlir::Block &block, const Target &target, bool fuse, bool mayWait = true);

  /// Groups that may wait, unless that makes the block need much more memory.
  static std::unique_ptr<FusionGroups> choose(mlir::Block &block, const Target &target, bool fuse);

  llvm::ArrayRef<FusionGroup *> groups() const { return list; }
  /// Emits remarks on operations that could not be joined.
  void explain() const;
  /// The dispatch that a group has become.
  void setDispatch(const FusionGroup &group, kernel::DispatchOp dispatch);
  /// Puts each dispatch where the first operation of its group was, or as soon behind it as its operands are there.
  void sortInProgramOrder(mlir::Block &block) const;
  const bool mayWait;

  /// Whether an operation becomes part of a kernel: constants, parameters, reshapes and terminators do not.
  static bool isComputed(mlir::Operation *op);
  /// Whether an operation does more than give results, as a collective of ranks: those of a block keep their order, and
  /// no group stands in its way. Ranks whose programs differ, where they have rows of their own, meet in it.
  static bool keepsOrder(mlir::Operation *op);

private:
  // FuseEpilogues.cpp: what follows a contraction, or is read by what follows it.
  using Members = llvm::SetVector<mlir::Operation *>;
  void growEpilogue(mlir::Operation *root);
  Members usersInReach(const FusionGroup &group, mlir::Operation *&refused);
  Members largestWithOneResult(mlir::Operation *root, const Members &reach) const;
  int64_t bytesSavedBy(const Members &cone, mlir::Operation *last, const Members &members) const;
  void leaveToReaders(mlir::Operation *root, Members &members) const;
  void pullProducers(const FusionGroup &group, Members &members) const;
  bool followsContraction(mlir::Operation *op) const;
  bool fitsEpilogue(mlir::Operation *op, const FusionGroup &group) const;
  void joinLoop(mlir::Operation *op);
  bool fitsLoop(mlir::Operation *op, const FusionGroup &group) const;
  /// Whether an operation is placed where the group is (kernel.device): no kernel runs on two devices.
  static bool isOnDeviceOf(mlir::Operation *op, const FusionGroup &group);
  FusionGroup &newGroup(mlir::Operation *op);
  bool canMerge(const FusionGroup &into, const FusionGroup &from) const;
  void merge(FusionGroup &into, FusionGroup &from);
  void noteSpan(const FusionGroup &group);
  void numberOperations(mlir::Block &block);
  /// Whether some operation outside `members` uses a value of theirs, and feeds one of them or comes before it in the
  /// order that is kept.
  unsigned searchFloor(const llvm::SetVector<mlir::Operation *> &members) const;
  bool wouldCycle(const llvm::SetVector<mlir::Operation *> &members) const;

  // FuseWaits.cpp: what it costs that a group runs when the last of its operands is there.
  /// Whether the members of `early` would run later for the operands of `more`, at a cost that mayWait tells.
  bool holdsBack(const Members &early, const Members &more) const;
  /// The place of the last operation that members wait for, of those that depend on the block's arguments; -1: none.
  int64_t readyAt(const Members &members, const Members &others) const;
  void findArrivals(mlir::Block &block);
  /// Whether an operation needs parameters, constants and random numbers alone.
  bool isAnyTime(mlir::Operation *op) const;
  /// Whether others than these read a result of the members in front of a place in the program.
  bool isReadBefore(const Members &members, const Members &others, int64_t place) const;
  /// The most operations that pass by while some group, which could run, waits for operands.
  int64_t longestWait() const;
  int64_t startOf(mlir::Operation *op) const;
  int64_t startOf(const FusionGroup &group) const;
  /// The most bytes alive at once between groups whose dispatches are in program order.
  int64_t peak(mlir::Block &block) const;

  const Target &target;
  std::vector<std::pair<mlir::Location, std::string>> refusals;
  llvm::DenseMap<mlir::Operation *, int64_t> starts;   // of dispatches, in program order
  llvm::DenseMap<mlir::Operation *, int64_t> arrivals; // where an operation's results are there; see readyAt
  std::vector<std::unique_ptr<FusionGroup>> storage;
  llvm::SmallVector<FusionGroup *> list;
  llvm::DenseMap<mlir::Operation *, FusionGroup *> groupOf;
  llvm::DenseMap<mlir::Operation *, unsigned> position; // of every operation of the block
  llvm::DenseMap<mlir::Operation *, unsigned> lateness; // the same in another order (numberOperations)
  std::vector<unsigned> reaches; // by that number: where the first group begins that lies across it
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> orderedBefore; // of those that keep their order, the last before
};

} // namespace sprig
