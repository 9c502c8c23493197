// What it costs that a group runs when the last of its operands is there: readers that wait for it, and bytes that stay
// alive. In a step of several passes the sum of their gradients could join the first pass's product, which would then
// run behind the last pass and keep all that it reads.
#include "dialects/Interfaces/Touch.h"
#include "dialects/NN/NNState.h"
#include "lib/Transforms/FuseGroups.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>
#include <queue>

using namespace mlir;
using namespace sprig;

// Groups that do not wait are taken where the others are expected to need this much more memory. Where one of these
// waits for so large a part of the program, what else may run meanwhile is another part's: then also where they need
// somewhat less.
static constexpr double kWorthyFactor = 1.05, kLongWaitFactor = 0.8;
static constexpr int64_t kLongWait = 8;

/// Whether readers see the operand's elements where they are: another name for its bytes, or read in place.
static bool isSeenThrough(Operation *op) {
  return op && op->getNumOperands() && (sharesStorage(op) || fusionKind(op) == FusionKind::view);
}

static Value seenThrough(Value value) {
  while (isSeenThrough(value.getDefiningOp())) value = value.getDefiningOp()->getOperand(0);
  return value;
}

static int64_t sizeOf(Value value) { return wholeOf(value.getType()).bytes; }

/// Calls the function with each operation of the block, but those that see through it, that reads a value.
static void visitReaders(Block &block, Value value, llvm::function_ref<void(Operation *)> visit) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = block.findAncestorOpInBlock(*use.getOwner());
    if (!user) continue;
    if (user != use.getOwner() || !isSeenThrough(user))
      visit(user);
    else if (use.getOperandNumber() == 0)
      visitReaders(block, user->getResult(0), visit);
  }
}

/// The order of nodes with ascending keys, but behind those that they need. Nodes of a cycle come last.
static SmallVector<unsigned> orderByKeys(ArrayRef<int64_t> keys, ArrayRef<SmallVector<unsigned>> needs) {
  SmallVector<SmallVector<unsigned>> readers(keys.size());
  SmallVector<size_t> waitsFor(keys.size());
  using Entry = std::pair<int64_t, unsigned>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (auto [node, needed] : llvm::enumerate(needs)) {
    for (unsigned each : needed) readers[each].push_back(unsigned(node));
    waitsFor[node] = needed.size();
    if (needed.empty()) ready.push({keys[node], unsigned(node)});
  }
  SmallVector<unsigned> order;
  while (!ready.empty()) {
    unsigned node = ready.top().second;
    ready.pop();
    order.push_back(node);
    for (unsigned reader : readers[node])
      if (--waitsFor[reader] == 0) ready.push({keys[reader], reader});
  }
  for (auto [node, left] : llvm::enumerate(waitsFor))
    if (left) order.push_back(unsigned(node));
  return order;
}

// What is made of parameters and constants alone can be there at any time. Views and what is element by element are
// there with what they are of, wherever in the program they are.
void FusionGroups::findArrivals(Block &block) {
  for (Operation &op : block) {
    int64_t arrival = -1;
    for (Value operand : op.getOperands()) {
      Operation *def = operand.getDefiningOp();
      arrival = std::max<int64_t>(arrival, def ? arrivals.lookup(def) : 0);
    }
    bool isFree = arrival < 0 && op.getNumRegions() == 0;
    bool isAtOnce = isFree || isSeenThrough(&op) || isa<ElementwiseOpInterface>(op);
    arrivals[&op] = isAtOnce ? arrival : int64_t(position.lookup(&op));
  }
}

int64_t FusionGroups::readyAt(const Members &members, const Members &others) const {
  int64_t ready = -1;
  for (Operation *op : members)
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && !members.contains(def) && !others.contains(def)) ready = std::max(ready, arrivals.lookup(def));
    }
  return ready;
}

bool FusionGroups::isAnyTime(Operation *op) const { return arrivals.lookup(op) < 0; }

/// Whether all that an operation gives are a few numbers.
static bool isSmall(Operation *op) {
  constexpr int64_t kSmall = 64;
  return llvm::all_of(op->getResults(), [](Value result) { return sizeOf(result) <= kSmall; });
}

bool FusionGroups::isReadBefore(const Members &members, const Members &others, int64_t place) const {
  Block &block = *members.front()->getBlock();
  bool isRead = false;
  for (Operation *op : members)
    for (Value result : op->getResults())
      visitReaders(block, result, [&](Operation *reader) {
        isRead |= !members.contains(reader) && !others.contains(reader) && position.lookup(reader) < place;
      });
  return isRead;
}

bool FusionGroups::holdsBack(const Members &early, const Members &more) const {
  if (mayWait) return false;
  // What could come at any time, as the mask of a later pass's dropout, would come with what is read before its place.
  for (Operation *op : more)
    if (isAnyTime(op) && !isSmall(op) && isReadBefore(early, more, position.lookup(op))) return true;
  int64_t later = readyAt(more, early);
  if (later <= readyAt(early, more)) return false;
  if (isReadBefore(early, more, later + 1)) return true;
  auto isInside = [&](Operation *op) { return early.contains(op) || more.contains(op); };
  Block &block = *early.front()->getBlock();
  for (Operation *op : early)
    for (Value operand : op->getOperands()) {
      Value source = seenThrough(operand);
      Operation *def = source.getDefiningOp();
      if (!def || isInside(def) || isAnyTime(def)) continue;
      bool isReadLater = false;
      visitReaders(block, source,
                   [&](Operation *reader) { isReadLater |= !isInside(reader) && position.lookup(reader) >= later; });
      if (!isReadLater && sizeOf(source)) return true;
    }
  return false;
}

// Scalars that parameters and constants alone are needed for, as a learning rate, come first.
int64_t FusionGroups::startOf(Operation *op) const {
  return isAnyTime(op) && isSmall(op) ? -1 : int64_t(position.lookup(op));
}

int64_t FusionGroups::startOf(const FusionGroup &group) const {
  int64_t start = std::numeric_limits<int64_t>::max();
  for (Operation *op : group.ops) start = std::min(start, startOf(op));
  return start;
}

// New values of parameters are written where the old ones are.
int64_t FusionGroups::peak(Block &block) const {
  llvm::DenseMap<Operation *, unsigned> nodeOf;
  SmallVector<int64_t> keys;
  llvm::DenseMap<FusionGroup *, unsigned> nodeOfGroup;
  for (Operation &op : block) {
    FusionGroup *group = groupOf.lookup(&op);
    if (!group || nodeOfGroup.try_emplace(group, keys.size()).second) {
      nodeOf[&op] = keys.size();
      keys.push_back(group ? startOf(*group) : startOf(&op));
    } else {
      nodeOf[&op] = nodeOfGroup[group];
    }
  }
  SmallVector<SmallVector<unsigned>> needs(keys.size());
  for (Operation &op : block) {
    unsigned node = nodeOf[&op];
    auto need = [&](Operation *needed) {
      auto found = nodeOf.find(needed);
      if (found != nodeOf.end() && found->second != node) needs[node].push_back(found->second);
    };
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) need(operand.getDefiningOp());
    });
    need(orderedBefore.lookup(&op));
  }
  SmallVector<int64_t> times(keys.size()), changes(keys.size() + 1); // changes: of bytes alive
  for (auto [time, node] : llvm::enumerate(orderByKeys(keys, needs))) times[node] = int64_t(time);
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::ConstantLike>() || isa<ir::GetParamOp>(op) || isSeenThrough(&op)) continue;
    FusionGroup *own = groupOf.lookup(&op);
    for (Value result : op.getResults()) {
      int64_t begin = times[nodeOf[&op]], end = begin;
      bool isRead = false, isKept = false;
      visitReaders(block, result, [&](Operation *reader) {
        if (own && own->contains(reader)) return;
        isRead = true;
        isKept |= isa<ir::SetParamOp>(reader) || reader->hasTrait<OpTrait::IsTerminator>();
        end = std::max(end, times[nodeOf[reader]]);
      });
      if (!isRead || isKept) continue;
      changes[begin] += sizeOf(result);
      changes[end + 1] -= sizeOf(result);
    }
  }
  int64_t alive = 0, most = 0;
  for (int64_t change : changes) most = std::max(most, alive += change);
  return most;
}

// Of products and reductions: what is element by element is as well done where it is read.
int64_t FusionGroups::longestWait() const {
  int64_t longest = 0;
  for (const FusionGroup *group : list) {
    int64_t ready = readyAt(group->ops, {});
    auto first = llvm::find_if(group->ops, [](Operation *op) { return !isa<ElementwiseOpInterface>(op); });
    if (first != group->ops.end() && !isAnyTime(*first))
      longest = std::max(longest, ready - int64_t(position.lookup(*first)));
  }
  return longest;
}

std::unique_ptr<FusionGroups> FusionGroups::choose(Block &block, const Target &target, bool fuse) {
  auto groups = std::make_unique<FusionGroups>(block, target, fuse);
  if (!fuse) return groups;
  auto prompt = std::make_unique<FusionGroups>(block, target, fuse, /*mayWait=*/false);
  int64_t bytes = groups->peak(block), promptBytes = prompt->peak(block), wait = groups->longestWait();
  bool isLong = wait * kLongWait >= int64_t(groups->position.size());
  bool isWorthIt = double(bytes) > (isLong ? kLongWaitFactor : kWorthyFactor) * double(promptBytes);
  if (!isWorthIt) return groups;
  remark::passed(block.getParentOp()->getLoc(), remark::RemarkOpts::name("waits").category("fuse"))
      << llvm::formatv("no kernel waits for a later part: {0} bytes alive at once; else {1}, and one kernel would wait "
                       "while {2} of {3} operations pass by",
                       promptBytes, bytes, wait, groups->position.size())
             .str();
  return prompt;
}

void FusionGroups::setDispatch(const FusionGroup &group, kernel::DispatchOp dispatch) {
  starts[dispatch] = startOf(group);
}

void FusionGroups::sortInProgramOrder(Block &block) const {
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> index;
  SmallVector<int64_t> keys;
  for (Operation &op : block.without_terminator()) {
    index[&op] = ops.size();
    ops.push_back(&op);
    auto start = starts.find(&op);
    keys.push_back(start != starts.end() ? start->second : int64_t(position.lookup(&op)));
  }
  SmallVector<SmallVector<unsigned>> needs(ops.size());
  std::optional<unsigned> last; // of those that keep their order
  for (auto [i, op] : llvm::enumerate(ops)) {
    unsigned node = unsigned(i);
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto found = index.find(operand.getDefiningOp()); found != index.end() && found->second != node)
          needs[node].push_back(found->second);
    });
    if (!keepsOrder(op)) continue;
    if (last) needs[node].push_back(*last);
    last = node;
  }
  for (unsigned i : orderByKeys(keys, needs)) ops[i]->moveBefore(block.getTerminator());
}
