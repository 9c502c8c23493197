// Branches and loops inside a kernel: which dispatches can be one, and where the values of their regions lie. For the
// emitters of nn.cond and nn.while of every target, whose regions the fuse pass has made of dispatches and views. What
// passes from dispatch to dispatch lies in the kernel's scratch memory, after what the dispatches need themselves.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/NN/NNControl.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <optional>

namespace sprig {

/// What a target knows of the dispatches in a region.
class ControlParts {
public:
  virtual ~ControlParts() = default;
  virtual bool hasKernel(kernel::DispatchOp part) const = 0;
  /// Target::mayOverwrite.
  virtual bool mayOverwrite(kernel::DispatchOp part, unsigned operand, unsigned result) const = 0;
};

/// The only operation of a dispatch if it is an `Op` on region arguments, else null.
template <typename Op> Op controlIn(kernel::DispatchOp dispatch) {
  mlir::Block &body = dispatch->getRegion(0).front();
  if (!llvm::hasSingleElement(body.without_terminator())) return nullptr;
  auto op = llvm::dyn_cast<Op>(body.front());
  return op && llvm::all_of(op->getOperands(), llvm::IsaPred<mlir::BlockArgument>) ? op : nullptr;
}
/// Whether its regions are of dispatches that all have kernels, and views.
bool consistsOfParts(mlir::Operation *control, const ControlParts &parts);

/// A target's emitter of nn.cond or nn.while, by what can be a part of its kernels.
template <typename Emitter, typename Op, const ControlParts &(*parts)()> struct ControlEmitter : Emitter {
  llvm::StringRef name() const override { return Op::getOperationName().split('.').second; }
  bool matches(kernel::DispatchOp dispatch) const override {
    auto control = controlIn<Op>(dispatch);
    return control && consistsOfParts(control, parts());
  }
};

/// The dispatches in the regions of an operation.
llvm::SmallVector<kernel::DispatchOp> partsOf(mlir::Operation *control);

/// Offsets in scratch memory of the results in a region; values that are not alive together share bytes.
struct RegionPlaces {
  /// From `start` on. `elsewhere` are results that lie in other memory.
  RegionPlaces(mlir::Block &block, const llvm::DenseSet<mlir::Value> &elsewhere, int64_t start);
  explicit RegionPlaces(llvm::DenseMap<mlir::Value, int64_t> offsets) : offsets(std::move(offsets)) {}
  llvm::DenseMap<mlir::Value, int64_t> offsets;
  int64_t end = 0; // of what the block itself makes it
};

/// The position of an operation's result among the results of its dispatch, if it is one of them.
std::optional<unsigned> positionInDispatch(kernel::DispatchOp dispatch, mlir::Value result);

/// Where the values of a branch lie. Here and below `partScratch` is the most that a part needs of scratch memory.
struct BranchPlaces {
  BranchPlaces(kernel::DispatchOp dispatch, ir::CondOp cond, mlir::Block &block, int64_t partScratch);
  /// Results of parts that are written where the kernel's results lie, by the position there.
  llvm::MapVector<mlir::Value, unsigned> direct;
  /// What else the branch yields, with the kernel's result that it has to be copied to.
  llvm::SmallVector<std::pair<mlir::Value, unsigned>> copies;
  std::optional<RegionPlaces> region;
};
/// The scratch memory that both branches of a cond need.
int64_t scratchOf(kernel::DispatchOp dispatch, ir::CondOp cond, int64_t partScratch);

/// Where the values of a loop lie. What is carried has one place, the kernel's result or scratch memory. A step writes
/// the next value there at once where nothing reads the old one any more, or where the kernel that computes it may
/// overwrite what it reads; else into a place of its own, and copies it at the step's end.
struct WhilePlaces {
  WhilePlaces(kernel::DispatchOp dispatch, ir::WhileOp loop, const ControlParts &parts, int64_t partScratch);
  /// Whether a step leaves a carried value where it has to be.
  bool isInPlace(unsigned carried) const;

  ir::WhileOp loop;
  llvm::SmallVector<mlir::Value> next;           // what a step yields
  llvm::MapVector<mlir::Value, unsigned> direct; // results of parts that are written in place of a carried value
  llvm::SmallVector<int64_t> current;            // offsets of what is carried, -1 where it is a result of the kernel
  llvm::MapVector<unsigned, int64_t> saved;      // of carried values that another one takes over
  std::optional<RegionPlaces> condition, body;
  int64_t scratch = 0;
};

/// The same elements as a buffer of another shape.
mlir::Value viewAs(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value buffer, mlir::Type tensor);

} // namespace sprig
