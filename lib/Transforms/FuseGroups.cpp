#include "lib/Transforms/FuseGroups.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNState.h"
#include "dialects/Kernel/KernelDispatch.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace sprig;

// Larger groups gain nothing and cost compile time.
static constexpr unsigned kMaxLoopGroup = 64;

bool FusionGroups::isComputed(Operation *op) {
  return !op->hasTrait<OpTrait::ConstantLike>() && !op->hasTrait<OpTrait::IsTerminator>() && !sharesStorage(op) &&
         !isa<ir::GetParamOp, ir::SetParamOp, kernel::DispatchOp>(op) &&
         isa<ir::NNDialect, kernel::KernelDialect>(op->getDialect());
}

bool FusionGroups::keepsOrder(Operation *op) {
  return op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>() && !isa<ir::SetParamOp>(op) &&
         !isMemoryEffectFree(op);
}

SmallVector<Value> sprig::resultsOf(const FusionGroup &group) {
  const auto &ops = group.ops;
  SmallVector<Value> values;
  // A kernel of its own that has several results (nn.top_k) writes all of them, whoever reads them.
  if (ops.size() == 1 && ops.front()->getNumRegions() == 0 && !ops.front()->use_empty())
    return SmallVector<Value>(ops.front()->getResults());
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !group.contains(user); }))
        values.push_back(result);
  return values;
}

FusionGroup &FusionGroups::newGroup(Operation *op) {
  FusionGroup &group = *storage.emplace_back(std::make_unique<FusionGroup>());
  group.ops.insert(op);
  groupOf[op] = &group;
  return group;
}

void FusionGroups::merge(FusionGroup &into, FusionGroup &from) {
  SmallVector<Operation *> all(into.ops.begin(), into.ops.end());
  all.append(from.ops.begin(), from.ops.end());
  llvm::sort(all, [&](Operation *a, Operation *b) { return position.lookup(a) < position.lookup(b); });
  into.ops.clear();
  into.ops.insert(all.begin(), all.end());
  if (from.hasReduction) {
    into.hasReduction = true;
    into.axes = from.axes;
  }
  for (Operation *op : from.ops) groupOf[op] = &into;
  from.ops.clear();
  noteSpan(into);
}

// Numbers that a group reaches across, without looking at those again that its members before have reached.
void FusionGroups::noteSpan(const FusionGroup &group) {
  auto numbers = llvm::map_range(group.ops, [&](Operation *op) { return lateness.lookup(op); });
  unsigned first = *llvm::min_element(numbers);
  for (unsigned at = *llvm::max_element(numbers); at > first && reaches[at] > first; --at) reaches[at] = first;
}

// Numbers operations in an order in which they could stand, each as late as what reads it first allows: what a group
// needs then has numbers near its own, and searches end soon.
void FusionGroups::numberOperations(Block &block) {
  auto forEachNeeded = [&](Operation *op, llvm::function_ref<void(Operation *)> visit) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == &block && def != op) visit(def);
    });
    if (Operation *earlier = orderedBefore.lookup(op)) visit(earlier);
  };
  SmallVector<std::pair<Operation *, bool>> work; // whether what it needs has been seen to
  for (Operation &sink : block) {
    if (!sink.use_empty()) continue;
    work.emplace_back(&sink, false);
    while (!work.empty()) {
      auto [op, isReady] = work.pop_back_val();
      if (lateness.contains(op)) continue;
      if (isReady) {
        lateness[op] = unsigned(lateness.size());
        continue;
      }
      work.emplace_back(op, true);
      size_t before = work.size();
      forEachNeeded(op, [&](Operation *needed) {
        if (!lateness.contains(needed)) work.emplace_back(needed, false);
      });
      std::reverse(work.begin() + before, work.end());
    }
  }
  reaches.resize(lateness.size());
  std::iota(reaches.begin(), reaches.end(), 0);
}

// The first number from which a member can be reached: that of the first member, or of the first operation of a group
// that reaches across it. What stands before needs nothing that comes later, so a search need not go there.
unsigned FusionGroups::searchFloor(const SetVector<Operation *> &members) const {
  unsigned floor = std::numeric_limits<unsigned>::max();
  for (Operation *member : members) floor = std::min(floor, lateness.lookup(member));
  while (reaches[floor] < floor) floor = reaches[floor];
  return floor;
}

bool FusionGroups::wouldCycle(const SetVector<Operation *> &members) const {
  unsigned floor = searchFloor(members);
  llvm::SmallPtrSet<Operation *, 32> visited;
  SmallVector<Operation *> work;
  auto visit = [&](Operation *needed, bool fromMember) -> bool {
    if (!needed) return false;
    if (members.contains(needed)) return !fromMember;
    if (lateness.lookup(needed) >= floor && visited.insert(needed).second) work.push_back(needed);
    return false;
  };
  auto push = [&](Operation *of, bool fromMember) -> bool {
    for (Value operand : of->getOperands())
      if (visit(operand.getDefiningOp(), fromMember)) return true;
    return visit(orderedBefore.lookup(of), fromMember);
  };
  for (Operation *member : members) push(member, true);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    // A group outside is one node: whatever any of its members needs, all of it needs.
    auto it = groupOf.find(op);
    if (it == groupOf.end()) {
      if (push(op, false)) return true;
      continue;
    }
    for (Operation *sibling : it->second->ops) {
      if (members.contains(sibling)) continue;
      visited.insert(sibling);
      if (push(sibling, false)) return true;
    }
  }
  return false;
}

bool FusionGroups::isOnDeviceOf(Operation *op, const FusionGroup &group) {
  return kernel::deviceOf(op) == kernel::deviceOf(group.ops.front());
}

bool FusionGroups::fitsLoop(Operation *op, const FusionGroup &group) const {
  return group.isLoop && group.ops.size() < kMaxLoopGroup && isOnDeviceOf(op, group) && target.canFuse(group, op);
}

// Two groups that fit the same loops may still hold operations that do not: one that reads what the other reduces.
bool FusionGroups::canMerge(const FusionGroup &into, const FusionGroup &from) const {
  bool axesAgree = !into.hasReduction || !from.hasReduction || into.axes == from.axes;
  if (into.shape != from.shape || !axesAgree || into.ops.size() + from.ops.size() > kMaxLoopGroup) return false;
  if (!isOnDeviceOf(from.ops.front(), into)) return false;
  FusionGroup both = into;
  both.ops.insert(from.ops.begin(), from.ops.end());
  both.hasReduction |= from.hasReduction;
  if (from.hasReduction) both.axes = from.axes;
  if (holdsBack(into.ops, from.ops) || holdsBack(from.ops, into.ops)) return false;
  return llvm::all_of(both.ops, [&](Operation *op) { return target.canFuse(both, op); }) && !wouldCycle(both.ops);
}

void FusionGroups::joinLoop(Operation *op) {
  FusionGroup *home = nullptr;
  SetVector<FusionGroup *> producers;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp())
      if (FusionGroup *group = groupOf.lookup(def)) producers.insert(group);
  // Reductions of one value over the same axes share a pass over it.
  if (isa<ir::ReduceOp>(op))
    for (Operation *sibling : op->getOperand(0).getUsers())
      if (FusionGroup *group = groupOf.lookup(sibling); group && sibling != op && group->isLoop && group->hasReduction)
        producers.insert(group);
  Members joining;
  joining.insert(op);
  for (FusionGroup *group : producers) {
    if (!fitsLoop(op, *group)) continue;
    if (!home) {
      SetVector<Operation *> members = group->ops;
      members.insert(op);
      if (holdsBack(group->ops, joining) || wouldCycle(members)) continue;
      group->ops.insert(op);
      groupOf[op] = home = group;
      noteSpan(*group);
      continue;
    }
    if (canMerge(*home, *group)) merge(*home, *group);
  }
  if (!home) {
    home = &newGroup(op);
    home->isLoop = true;
    auto reduce = dyn_cast<ir::ReduceOp>(op);
    home->shape.assign(reduce ? shapeOf(reduce.getOperand()) : shapeOf(op->getResult(0)));
  }
  if (auto reduce = dyn_cast<ir::ReduceOp>(op)) {
    home->hasReduction = true;
    home->axes.assign(reduce.getAxes().begin(), reduce.getAxes().end());
  }
}

FusionGroups::FusionGroups(Block &block, const Target &target, bool fuse, bool mayWait)
    : mayWait(mayWait), target(target) {
  SmallVector<Operation *> ops;
  Operation *last = nullptr;
  for (Operation &op : block) {
    position[&op] = position.size();
    if (keepsOrder(&op)) {
      orderedBefore[&op] = last;
      last = &op;
    }
    if (!isComputed(&op)) continue;
    ops.push_back(&op);
  }
  numberOperations(block);
  findArrivals(block);
  for (Operation *op : ops) {
    if (!fuse) {
      newGroup(op);
      continue;
    }
    FusionKind kind = fusionKind(op);
    if (kind == FusionKind::contraction || kind == FusionKind::generator) growEpilogue(op);
  }
  for (Operation *op : ops)
    if (!groupOf.count(op)) {
      if (isElementwise(op) || fusionKind(op) == FusionKind::reduction)
        joinLoop(op);
      else
        newGroup(op);
    }
  for (auto &group : storage)
    if (!group->ops.empty()) list.push_back(group.get());
  llvm::sort(list, [&](FusionGroup *a, FusionGroup *b) {
    return position.lookup(a->ops.front()) < position.lookup(b->ops.front());
  });
}
