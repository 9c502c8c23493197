// Epilogues: the elementwise operations that join a contraction in one dispatch and are computed on its accumulators
// before the store. Those that use its result come along, and those that only they use (the decayed moments of an
// optimizer), so long as no value is written and read that would not be without them.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Transforms/FuseGroups.h"
#include "mlir/IR/Remarks.h"
#include <set>

using namespace mlir;
using namespace sprig;

// Larger groups gain nothing and cost registers and compile time.
static constexpr unsigned kMaxEpilogue = 48;

/// Bytes of an element: all values that an epilogue may write have the same number of elements.
static int64_t elementBytes(Value value) {
  return (cast<RankedTensorType>(value.getType()).getElementTypeBitWidth() + 7) / 8;
}

static bool usedOutside(Operation *op, const SetVector<Operation *> &members) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) { return !members.contains(user); });
}

static bool isContraction(Operation *op) { return fusionKind(op) == FusionKind::contraction; }

bool FusionGroups::fitsEpilogue(Operation *op, const FusionGroup &group) const {
  return isElementwise(op) && isOnDeviceOf(op, group) && target.canFuse(group, op);
}

// The elementwise operations that use the root's result, and their users in turn, in program order.
FusionGroups::Members FusionGroups::usersInReach(const FusionGroup &group, Operation *&refused) {
  Members members;
  members.insert(group.root);
  auto earlier = [&](Operation *a, Operation *b) { return position.lookup(a) < position.lookup(b); };
  std::set<Operation *, decltype(earlier)> frontier(earlier);
  auto addUsers = [&](Operation *op) {
    for (Operation *user : op->getUsers())
      if (isComputed(user) && !groupOf.count(user) && !members.contains(user)) frontier.insert(user);
  };
  addUsers(group.root);
  while (!frontier.empty() && members.size() < kMaxEpilogue) {
    Operation *op = *frontier.begin();
    frontier.erase(frontier.begin());
    Members joining;
    joining.insert(op);
    bool fits = fitsEpilogue(op, group) && !holdsBack(members, joining);
    if (fits) {
      members.insert(op);
      if (wouldCycle(members)) {
        members.remove(op);
        fits = false;
      }
    }
    if (fits)
      addUsers(op);
    else if (isElementwise(op) && !refused)
      refused = op;
  }
  return members;
}

// Loops around a window or a gather compute for each result again: one result at a time.
FusionGroups::Members FusionGroups::largestWithOneResult(Operation *root, const Members &reach) const {
  Members tentative, best;
  best.insert(root);
  for (Operation *op : reach) {
    tentative.insert(op);
    if (llvm::count_if(tentative, [&](Operation *member) { return usedOutside(member, tentative); }) == 1)
      best = tentative;
  }
  return best;
}

// Whether a reader can compute a value itself, in the loop that reads it.
static bool computesInPlace(Operation *reader, ArrayRef<int64_t> shape) {
  if (auto reduce = dyn_cast<ir::ReduceOp>(reader)) return shapeOf(reduce.getOperand()) == shape;
  return isElementwise(reader) && shapeOf(reader->getResult(0)) == shape;
}

// Bytes of an element that are written or read less where operations, the last of which loops outside read, are left to
// those: the last one's result is written here and read there, or what all of them are made of.
int64_t FusionGroups::bytesSavedBy(const Members &cone, Operation *last, const Members &members) const {
  ArrayRef<int64_t> shape = shapeOf(last->getResult(0));
  int64_t here = 2 * elementBytes(last->getResult(0)), there = 0;
  llvm::SmallPtrSet<Value, 8> counted;
  for (Operation *op : cone)
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (shapeOf(operand) != shape || (def && cone.contains(def)) || !counted.insert(operand).second) continue;
      there += elementBytes(operand);
      if (!def || !members.contains(def))
        here += elementBytes(operand);
      else if (!usedOutside(def, members))
        there += elementBytes(operand);
    }
  return here - there;
}

// A value that only loops outside read, and of what leads to nothing but it as much as pays, is left to them where it
// would be written here and read there, while what it is made of is there anyway (the square under a sum of squares) or
// narrower (bytes under a dequantisation).
void FusionGroups::leaveToReaders(Operation *root, Members &members) const {
  ArrayRef<int64_t> shape = shapeOf(root->getResult(0));
  auto later = [&](Operation *a, Operation *b) { return position.lookup(a) > position.lookup(b); };
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<Operation *> ordered(members.begin(), members.end());
    llvm::sort(ordered, later);
    for (Operation *last : ordered) {
      auto isReader = [&](Operation *user) {
        return !members.contains(user) && isComputed(user) && !groupOf.count(user) && computesInPlace(user, shape);
      };
      if (last == root || last->use_empty() || !llvm::all_of(last->getUsers(), isReader)) continue;
      Members cone, best;
      int64_t most = 0;
      for (Operation *op : ordered) {
        auto isInCone = [&](Operation *user) { return cone.contains(user); };
        if (op == root || op->use_empty() || (op != last && !llvm::all_of(op->getUsers(), isInCone))) continue;
        cone.insert(op);
        if (int64_t saved = bytesSavedBy(cone, last, members); saved > 0 && saved >= most) {
          best = cone;
          most = saved;
        }
      }
      if (best.empty()) continue;
      for (Operation *op : best) members.remove(op);
      changed = true;
      break;
    }
  }
}

// Whether a value is made of a later contraction's result, whose epilogue it then joins.
bool FusionGroups::followsContraction(Operation *op) const {
  SmallVector<Operation *> work{op};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty())
    for (Value operand : work.pop_back_val()->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || groupOf.count(def) || !isComputed(def)) continue;
      if (isContraction(def)) return true;
      if (isElementwise(def) && seen.insert(def).second) work.push_back(def);
    }
  return false;
}

/// Whether an operation is better left to its reader: it makes more bytes of an element than it reads.
static bool isWidening(Operation *op) {
  int64_t read = 0;
  for (Value operand : op->getOperands())
    if (shapeOf(operand) == shapeOf(op->getResult(0))) read += elementBytes(operand);
  return read > 0 && read < elementBytes(op->getResult(0));
}

// What only members after the root use is computed with them, rather than written by a kernel of its own.
void FusionGroups::pullProducers(const FusionGroup &group, Members &members) const {
  SmallVector<Operation *> work(members.begin(), members.end());
  while (!work.empty() && members.size() < kMaxEpilogue) {
    Operation *op = work.pop_back_val();
    if (op == group.root) continue;
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || members.contains(def) || groupOf.count(def) || !isComputed(def) || !fitsEpilogue(def, group) ||
          usedOutside(def, members) || (followsContraction(def) && !isWidening(def)))
        continue;
      members.insert(def);
      if (wouldCycle(members))
        members.remove(def);
      else
        work.push_back(def);
    }
  }
}

void FusionGroups::growEpilogue(Operation *root) {
  FusionGroup &group = newGroup(root);
  if (root->getNumResults() != 1) return;
  group.root = root;
  Operation *refused = nullptr;
  Members reach = usersInReach(group, refused), members = reach;
  if (isContraction(root)) {
    leaveToReaders(root, members);
    pullProducers(group, members);
  } else {
    members = largestWithOneResult(root, reach);
  }
  SmallVector<Operation *> ordered(members.begin(), members.end());
  llvm::sort(ordered, [&](Operation *a, Operation *b) { return position.lookup(a) < position.lookup(b); });
  group.ops.clear();
  for (Operation *op : ordered) {
    group.ops.insert(op);
    groupOf[op] = &group;
  }
  noteSpan(group);
  StringRef name = root->getName().getStringRef();
  if (members.size() == 1 && reach.size() > 1)
    refusals.emplace_back(root->getLoc(),
                          (name + " keeps its consumers apart: several of the values are used elsewhere").str());
  else if (members.size() == 1 && refused)
    refusals.emplace_back(root->getLoc(), (name + " keeps " + refused->getName().getStringRef() +
                                           " apart: it has another shape, or needs a value that depends on it")
                                              .str());
}

void FusionGroups::explain() const {
  for (auto &[loc, text] : refusals) remark::missed(loc, remark::RemarkOpts::name("epilogue").category("fuse")) << text;
}
