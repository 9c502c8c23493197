// The fuse pass: forms dispatches of the groups of FuseGroups.h. After it a function consists of constants, parameters,
// reshapes (views between dispatches), dispatches and its return.
#define GEN_PASS_DEF_FUSE
#include "lib/Transforms/Passes.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNState.h"
#include "dialects/Kernel/InOrder.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/Registry.h"
#include "lib/Transforms/FuseGroups.h"
#include "lib/Transforms/GatherSlices.h"
#include "lib/Transforms/RegionInputs.h"
#include "lib/Transforms/SinkReshapes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace sprig;

/// Kernel names are for people: the operations' names in order, without repetition, cut at a reasonable length.
static std::string labelOf(const FusionGroup &group) {
  std::string label;
  for (Operation *op : group.ops) {
    StringRef name = op->getName().stripDialect();
    if (label.size() + name.size() > 60) {
      label += "_etc";
      break;
    }
    label += (label.empty() ? "" : "_") + name.str();
  }
  return label;
}

namespace {
/// Clones the members of one group, and the cheap producers that they read, into the region of a dispatch.
class Outliner {
public:
  Outliner(const FusionGroup &group, const Target &target, bool fuse) : group(group), target(target), fuse(fuse) {}

  kernel::DispatchOp outline() {
    Operation *last = group.ops.back();
    SmallVector<Location> locations;
    for (Operation *op : group.ops) {
      locations.push_back(op->getLoc());
      // Loops read splats and views in place; other kernels read their operands as they lie in memory, but for views
      // that the target says a contraction takes.
      bool inPlace = isa<ElementwiseOpInterface>(op) || fusionKind(op) == FusionKind::reduction || isReadInPlace(op);
      bool takesViews = inPlace || fusionKind(op) == FusionKind::contraction;
      for (Value operand : op->getOperands()) visit(operand, inPlace, takesViews);
      body.push_back(op);
    }
    OpBuilder builder(last);
    SmallVector<Value> results = resultsOf(group);
    auto dispatch = kernel::DispatchOp::create(
        builder, locations.size() == 1 ? locations[0] : FusedLoc::get(last->getContext(), locations),
        ValueRange(results).getTypes(), operands.getArrayRef(), builder.getStringAttr(labelOf(group)),
        /*tile=*/Attribute());
    Block *block = builder.createBlock(&dispatch->getRegion(0));
    IRMapping mapping;
    for (Value operand : operands) mapping.map(operand, block->addArgument(operand.getType(), operand.getLoc()));
    kernel::setDevice(dispatch, kernel::deviceOf(group.ops.front()));
    // Kernels are equal on all devices.
    for (Operation *op : body) builder.clone(*op, mapping)->removeAttr(kernel::kDeviceAttr);
    SmallVector<Value> yielded;
    for (Value result : results) yielded.push_back(mapping.lookup(result));
    kernel::YieldOp::create(builder, dispatch.getLoc(), yielded);
    for (auto [result, replacement] : llvm::zip_equal(results, dispatch->getResults()))
      result.replaceAllUsesWith(replacement);
    return dispatch;
  }

private:
  bool isReadInPlace(Operation *op) const { return fusionKind(op) == FusionKind::view && target.canFuse(group, op); }

  // Views of views are followed so far; those of a longer chain are kernels, so that indices stay short.
  static constexpr int kMostViews = 16;

  void visit(Value value, bool takesSplats, bool takesViews, int depth = 0) {
    Operation *def = value.getDefiningOp();
    if (group.contains(def)) return;
    if (takesSplats && ir::splatOf(def)) {
      if (cloned.insert(def).second) body.push_back(def);
      return;
    }
    if (takesViews && fuse && def && depth < kMostViews && isReadInPlace(def)) {
      if (!cloned.insert(def).second) return;
      for (Value operand : def->getOperands()) visit(operand, takesSplats, true, depth + 1);
      body.push_back(def);
      return;
    }
    operands.insert(value);
  }

  const FusionGroup &group;
  const Target &target;
  bool fuse;
  SetVector<Value> operands;
  SmallVector<Operation *> body;
  llvm::SmallPtrSet<Operation *, 8> cloned;
};

// Gives the order of mlir::sortTopologically in linear time. That function walks over all operations again and again
// and takes in each walk those that are ready; here each operation is given the number of its walk. Operations that
// keep their order keep it, as grouping has assumed.
void sortDispatches(Block &block) {
  struct Node {
    Operation *op;
    unsigned walk = 0, missing = 0;
    SmallVector<unsigned, 2> followers = {};
  };
  std::vector<Node> nodes;
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (Operation &op : block.without_terminator()) {
    numbers[&op] = unsigned(nodes.size());
    nodes.push_back({&op});
  }
  auto follow = [&](unsigned earlier, unsigned later) {
    nodes[earlier].followers.push_back(later);
    ++nodes[later].missing;
  };
  std::optional<unsigned> last;
  for (unsigned number = 0; number < nodes.size(); ++number) {
    llvm::SmallDenseSet<unsigned, 8> writers;
    nodes[number].op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto writer = numbers.find(operand.getDefiningOp()); writer != numbers.end() && writer->second != number)
          if (writers.insert(writer->second).second) follow(writer->second, number);
    });
    if (!FusionGroups::keepsOrder(nodes[number].op)) continue;
    if (last) follow(*last, number);
    last = number;
  }
  std::vector<unsigned> ready, sorted;
  for (unsigned number = 0; number < nodes.size(); ++number)
    if (!nodes[number].missing) ready.push_back(number);
  while (!ready.empty()) { // what is on a cycle stays, which the verifier tells
    unsigned number = ready.back();
    ready.pop_back();
    sorted.push_back(number);
    for (unsigned later : nodes[number].followers) {
      nodes[later].walk = std::max(nodes[later].walk, nodes[number].walk + (later < number));
      if (!--nodes[later].missing) ready.push_back(later);
    }
  }
  llvm::sort(sorted,
             [&](unsigned a, unsigned b) { return std::tuple(nodes[a].walk, a) < std::tuple(nodes[b].walk, b); });
  for (unsigned number : llvm::reverse(sorted)) nodes[number].op->moveBefore(&block, block.begin());
}

/// Whether an operation between dispatches is soon done again: a view, or a kernel of few operations an element.
bool isCheap(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0) return false;
  if (sharesStorage(op)) return true;
  auto dispatch = dyn_cast<kernel::DispatchOp>(op);
  if (!dispatch) return false;
  constexpr int64_t kOperationsOfElement = 16;
  return flopsOf(dispatch.getBody().front()) <=
         kOperationsOfElement * cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
}

// What is made of parameters alone, as a filter's panels, is made for each of its readers, and right before it: kept
// for all passes of a step it would take memory in each of them.
void remakeForReaders(Block &block) {
  constexpr unsigned kNear = 4; // operations between readers that share it
  llvm::DenseMap<Operation *, unsigned> position;
  llvm::DenseSet<Operation *> ofParameters;
  for (Operation &op : block) {
    position[&op] = position.size();
    auto isOfParameters = [&](Value operand) { return ofParameters.contains(operand.getDefiningOp()); };
    if (isa<ir::GetParamOp>(op) || op.hasTrait<OpTrait::ConstantLike>() ||
        (isCheap(&op) && llvm::all_of(op.getOperands(), isOfParameters)))
      ofParameters.insert(&op);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!ofParameters.contains(&op) || op.getNumOperands() == 0 || op.use_empty()) continue;
    SmallVector<std::pair<Operation *, OpOperand *>> uses; // with the reader in the block
    for (OpOperand &use : op.getUses()) uses.push_back({block.findAncestorOpInBlock(*use.getOwner()), &use});
    llvm::stable_sort(uses, [](auto &a, auto &b) { return a.first->isBeforeInBlock(b.first); });
    Operation *maker = &op;
    maker->moveBefore(uses.front().first);
    unsigned last = position[maker] = position.lookup(uses.front().first);
    for (auto [reader, use] : uses) {
      unsigned at = position.lookup(reader);
      if (at > last + kNear) {
        maker = OpBuilder(reader).clone(op);
        position[maker] = at;
      }
      use->set(maker->getResult(0));
      last = at;
    }
  }
}

struct Fuse : sprig::impl::FuseBase<Fuse> {
  using FuseBase::FuseBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    device = targetForPass(function, target);
    if (!device) return signalPassFailure();
    // What is inside of branches and loops first; with it they are operations like others.
    function.walk([&](Operation *op) {
      if (!isa<ir::CondOp, ir::WhileOp>(op)) return;
      if (auto loop = dyn_cast<ir::WhileOp>(op)) takeLayoutsOut(loop, *device);
      for (Region &region : op->getRegions()) formDispatches(region.front());
      takeConstantsOut(op);
    });
    formDispatches(function.getBody().front());
  }

private:
  const Target *device = nullptr;

  void formDispatches(Block &block) {
    gatherSlices(block);
    if (fuse) {
      sinkReshapes(block);
      device->fusePatterns(block, tf32 ? Precision::tf32 : Precision::f32, [](Operation *) { return true; });
    }
    std::unique_ptr<FusionGroups> groups = FusionGroups::choose(block, *device, fuse);
    groups->explain();
    // Views last, from the end: one whose consumers all read it in place has no users left by then.
    SmallVector<FusionGroup *> views;
    for (FusionGroup *group : groups->groups())
      if (isView(*group))
        views.push_back(group);
      else
        replace(*group, *groups); // erases its operations: it must not be asked again
    for (FusionGroup *group : llvm::reverse(views)) replace(*group, *groups);
    // Groups interleave in the program; their dispatches need an order of their own.
    if (groups->mayWait) {
      sortDispatches(block);
    } else {
      groups->sortInProgramOrder(block);
      remakeForReaders(block);
      if (auto function = dyn_cast<func::FuncOp>(block.getParentOp()))
        function->setAttr(kernel::kInOrderAttr, UnitAttr::get(function.getContext()));
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) op.erase();
  }

  static bool isView(const FusionGroup &group) {
    return group.ops.size() == 1 && fusionKind(group.ops.front()) == FusionKind::view;
  }

  void replace(const FusionGroup &group, FusionGroups &groups) {
    if (!resultsOf(group).empty()) {
      if (group.ops.size() > 1) report(group);
      groups.setDispatch(group, Outliner(group, *device, fuse).outline());
    }
    for (Operation *op : llvm::reverse(group.ops)) op->erase();
  }

  static void report(const FusionGroup &group) {
    std::string names;
    for (Operation *op : group.ops) names += (names.empty() ? "" : ", ") + op->getName().getStringRef().str();
    remark::passed(group.ops.front()->getLoc(), remark::RemarkOpts::name("group").category("fuse"))
        << ("one kernel of " + names);
  }
};
} // namespace
