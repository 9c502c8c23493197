// The remat pass: values that take too much memory from the forward to the backward pass, or that are marked, are
// computed again. A plan is made on the order of operations alone (RematPlan), judged by what is alive at each of them,
// and then written.
#define GEN_PASS_DEF_REMAT
#include "lib/Transforms/Passes.h"
#include "dialects/Dist/Dist.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/LocationMarks.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace sprig;

/// Of a rank's part those of the rank that has most, so that all ranks choose alike.
static int64_t arenaBytes(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    if (auto most = result.getOwner()->getAttrOfType<DenseI64ArrayAttr>(ir::dist::kMostBytesAttr))
      return most[result.getResultNumber()];
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getNumElements() * storageBytes(type.getElementType()) : 0;
}

/// Whether a value is there all the time and takes no part of the arena.
static bool isFree(Value value) {
  Operation *op = storageOf(value).getDefiningOp();
  return !op || isa<ir::ConstantOp, ir::GetParamOp, ir::IotaOp>(op);
}

static bool isMarked(Operation *op) { return bool(ir::markIn(op->getLoc(), ir::kRecomputeMark)); }

/// Masks and derivatives that depend on the forward pass alone belong to it, where they are the only reader of what
/// they are made of after the border, and smaller: they are kept in its place. Fusion makes them results of the
/// forward kernels.
static void moveToForwardPass(Operation *border) {
  Block &block = *border->getBlock();
  SmallVector<Operation *> behind;
  for (auto it = std::next(border->getIterator()); it != block.end(); ++it) behind.push_back(&*it);
  auto isForward = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->isBeforeInBlock(border);
  };
  for (Operation *op : behind) {
    if (!isa<ElementwiseOpInterface>(op) || !isPure(op) || !llvm::all_of(op->getOperands(), isForward)) continue;
    int64_t freed = 0;
    for (Value operand : op->getOperands()) {
      bool isOnly = llvm::all_of(operand.getUsers(),
                                 [&](Operation *user) { return user == op || !border->isBeforeInBlock(user); });
      if (!isFree(operand) && storageOf(operand) == operand && isOnly) freed += arenaBytes(operand);
    }
    if (freed > arenaBytes(op->getResult(0))) op->moveBefore(border);
  }
}

namespace {
/// What is computed again around one border between forward and backward pass.
class RematPlan {
public:
  /// Between two borders only values after the first are looked at; null: there is none.
  RematPlan(Block &block, Operation *previous, Operation *border);

  /// The most bytes of forward values and copies alive at any place after the border.
  int64_t peak() const { return peakWith(dropped, again); }
  int64_t kept() const;
  /// Computes what marked operations give again, where that is possible.
  void dropMarked();
  /// Computes more values again, one after another, until the peak is at most `bytes` or does not become smaller.
  void fit(int64_t bytes);
  void write();
  size_t droppedCount() const { return dropped.size(); }
  size_t copyCount() const { return again.size(); }

private:
  using Values = llvm::SetVector<Value>;
  using Ops = llvm::SetVector<Operation *>;

  /// Computes one more value again; false if that always makes the peak larger.
  bool dropOne();
  /// The operations that have to run again, beside those that do anyway, to have a value; false if that is not
  /// possible.
  bool collect(Value value, Ops &ops) const;
  int64_t peakWith(const Values &without, const Ops &copies) const;
  /// The first place after the border that needs each copy, and the last place that reads its results.
  void placeCopies(const Values &without, const Ops &copies, llvm::DenseMap<Operation *, int64_t> &first,
                   llvm::DenseMap<Operation *, int64_t> &last) const;
  int64_t positionOf(Operation *op) const { return positions.lookup(op); }
  /// Places after the border that read a value or a view of it, ascending.
  ArrayRef<int64_t> lateUses(Value value) const {
    auto found = uses.find(value);
    return found == uses.end() ? ArrayRef<int64_t>() : ArrayRef<int64_t>(found->second);
  }

  int64_t borderAt = 0;
  SmallVector<Operation *> order;
  llvm::DenseMap<Operation *, int64_t> positions;
  llvm::MapVector<Value, SmallVector<int64_t>> uses; // of values kept over the border
  Values candidates, dropped;
  Ops again; // in program order once written
};
} // namespace

RematPlan::RematPlan(Block &block, Operation *previous, Operation *border) {
  for (Operation &op : block) {
    positions[&op] = order.size();
    order.push_back(&op);
  }
  borderAt = positionOf(border);
  int64_t from = previous ? positionOf(previous) : -1;
  for (Operation *op : ArrayRef(order).drop_front(borderAt + 1)) {
    // A view reads nothing; who reads it does.
    if (sharesStorage(op)) continue;
    for (Value operand : op->getOperands()) {
      Value value = storageOf(operand);
      if (isFree(value)) continue;
      int64_t at = positionOf(value.getDefiningOp());
      if (at <= from || at > borderAt) continue;
      SmallVector<int64_t> &places = uses[value];
      if (places.empty() || places.back() != positionOf(op)) places.push_back(positionOf(op));
    }
  }
  for (auto &[value, places] : uses) {
    // What is returned or becomes state has to be there in the end.
    bool isResult = llvm::any_of(places, [&](int64_t at) {
      return isa<ir::SetParamOp>(order[at]) || order[at]->hasTrait<OpTrait::IsTerminator>();
    });
    if (!isResult && isPure(value.getDefiningOp())) candidates.insert(value);
  }
}

bool RematPlan::collect(Value value, Ops &ops) const {
  Operation *op = value.getDefiningOp();
  if (again.contains(op) || ops.contains(op)) return true;
  if (!isPure(op) || !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>)) return false;
  bool readsActivation = false;
  for (Value operand : op->getOperands()) {
    Value source = storageOf(operand);
    if (isFree(source)) {
      readsActivation |= !source.getDefiningOp();
      continue;
    }
    readsActivation = true;
    if (uses.contains(source) && !dropped.contains(source)) continue;
    if (!collect(source, ops)) return false;
  }
  if (!readsActivation) return false; // nothing that nn.after could hold back
  ops.insert(op);
  return true;
}

void RematPlan::placeCopies(const Values &without, const Ops &copies, llvm::DenseMap<Operation *, int64_t> &first,
                            llvm::DenseMap<Operation *, int64_t> &last) const {
  for (Value value : without) {
    Operation *op = value.getDefiningOp();
    ArrayRef<int64_t> places = lateUses(value);
    auto [it, isNew] = first.try_emplace(op, places.front());
    if (!isNew) it->second = std::min(it->second, places.front());
    last[op] = std::max(last.lookup(op), places.back());
  }
  // Operands are needed where the copy runs. Later copies first.
  SmallVector<Operation *> sorted(copies.begin(), copies.end());
  llvm::sort(sorted, [&](Operation *a, Operation *b) { return positionOf(a) > positionOf(b); });
  for (Operation *op : sorted)
    for (Value operand : op->getOperands()) {
      Operation *source = storageOf(operand).getDefiningOp();
      if (!source || !copies.contains(source)) continue;
      int64_t at = first.lookup(op);
      auto [it, isNew] = first.try_emplace(source, at);
      if (!isNew) it->second = std::min(it->second, at);
      last[source] = std::max(last.lookup(source), at);
    }
}

int64_t RematPlan::peakWith(const Values &without, const Ops &copies) const {
  llvm::DenseMap<Operation *, int64_t> first, last;
  placeCopies(without, copies, first, last);
  // Changes of what is alive after the border.
  std::vector<int64_t> change(order.size() + 1);
  llvm::DenseMap<Value, int64_t> until;
  for (auto &[value, places] : uses)
    if (!without.contains(value)) until[value] = places.back();
  llvm::DenseSet<Operation *> isRead; // by what was there before
  for (Value value : without) isRead.insert(value.getDefiningOp());
  std::map<int64_t, int64_t> passing; // the largest of what copies alone read, where they run
  for (Operation *op : copies) {
    int64_t begin = first.lookup(op), end = last.lookup(op), bytes = 0;
    for (Value operand : op->getOperands()) // kept values that a copy reads live on to it
      if (auto found = until.find(storageOf(operand)); found != until.end())
        found->second = std::max(found->second, begin);
    for (Value result : op->getResults()) bytes += arenaBytes(result);
    if (begin == end && !isRead.contains(op)) {
      passing[begin] = std::max(passing[begin], bytes);
      continue;
    }
    change[begin] += bytes;
    change[end + 1] -= bytes;
  }
  for (auto &[place, bytes] : passing) {
    change[place] += bytes;
    change[place + 1] -= bytes;
  }
  for (auto &[value, place] : until) {
    change[borderAt] += arenaBytes(value);
    change[place + 1] -= arenaBytes(value);
  }
  int64_t alive = 0, most = 0;
  for (int64_t delta : change) most = std::max(most, alive += delta);
  return most;
}

int64_t RematPlan::kept() const {
  int64_t bytes = 0;
  for (auto &[value, places] : uses)
    if (!dropped.contains(value)) bytes += arenaBytes(value);
  return bytes;
}

/// Statistics of a normalization and the like: to have them again takes all that they are made of, for few bytes.
static bool isSummary(Value value, ArrayRef<Operation *> madeBy) {
  constexpr int64_t kMuchLarger = 16;
  return llvm::any_of(madeBy, [&](Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [&](Value operand) { return arenaBytes(operand) > kMuchLarger * arenaBytes(value); });
  });
}

void RematPlan::dropMarked() {
  for (Value value : candidates) {
    Ops more;
    if (!isMarked(value.getDefiningOp()) || !collect(value, more) || isSummary(value, more.getArrayRef())) continue;
    dropped.insert(value);
    again.insert(more.begin(), more.end());
  }
}

bool RematPlan::dropOne() {
  struct Choice {
    double cost;
    Value value;
    Ops more;
  };
  std::vector<Choice> choices;
  for (Value value : candidates) {
    Choice choice{0, value, {}};
    if (dropped.contains(value) || arenaBytes(value) == 0 || !collect(value, choice.more)) continue;
    for (Operation *op : choice.more)
      if (auto cost = dyn_cast<CostOpInterface>(op)) choice.cost += double(cost.getFlops());
    choice.cost /= double(arenaBytes(value));
    choices.push_back(std::move(choice));
  }
  llvm::stable_sort(choices, [](const Choice &a, const Choice &b) { return a.cost < b.cost; });
  // Of those that cost about the same, the one that leaves the least alive.
  constexpr size_t kTried = 32;
  int64_t least = peak();
  const Choice *best = nullptr;
  Values bestDropped;
  Ops bestAgain;
  for (const Choice &choice : ArrayRef(choices).take_front(kTried)) {
    if (best && choice.cost > 1.5 * best->cost + 1) break;
    Values without = dropped;
    Ops copies = again;
    without.insert(choice.value);
    copies.insert(choice.more.begin(), choice.more.end());
    int64_t bytes = peakWith(without, copies);
    if (bytes > least || (best && bytes == least)) continue;
    least = bytes;
    best = &choice;
    bestDropped = std::move(without);
    bestAgain = std::move(copies);
  }
  if (!best) return false;
  dropped = std::move(bestDropped);
  again = std::move(bestAgain);
  return true;
}

// Sometimes only two together gain: the peak moves from the border to a place after it. What brought nothing in the
// end is taken back.
void RematPlan::fit(int64_t bytes) {
  constexpr int kPatience = 16;
  Values bestDropped = dropped;
  Ops bestAgain = again;
  int64_t best = peak();
  for (int idle = 0; best > bytes && idle < kPatience && dropOne(); ++idle) {
    if (peak() >= best) continue;
    best = peak();
    bestDropped = dropped;
    bestAgain = again;
    idle = -1;
  }
  dropped = std::move(bestDropped);
  again = std::move(bestAgain);
}

void RematPlan::write() {
  llvm::DenseMap<Operation *, int64_t> first, last;
  placeCopies(dropped, again, first, last);
  SmallVector<Operation *> sorted(again.begin(), again.end());
  llvm::sort(sorted, [&](Operation *a, Operation *b) { return positionOf(a) < positionOf(b); });
  llvm::DenseMap<Value, Value> copyOf; // of results of what runs again
  llvm::DenseMap<std::pair<Value, int64_t>, Value> held;
  auto isCopied = [&](Value value) {
    Operation *source = storageOf(value).getDefiningOp();
    return source && again.contains(source) && (dropped.contains(storageOf(value)) || !uses.contains(storageOf(value)));
  };
  // A value that a copy reads: of another copy, through the same views; else the kept one, held back.
  std::function<Value(OpBuilder &, Value, int64_t)> read = [&](OpBuilder &b, Value value, int64_t at) -> Value {
    if (isCopied(value)) {
      if (Value copy = copyOf.lookup(value)) return copy;
      Operation *view = value.getDefiningOp();
      IRMapping mapping;
      mapping.map(view->getOperand(0), read(b, view->getOperand(0), at));
      return b.clone(*view, mapping)->getResult(0);
    }
    if (isa_and_nonnull<ir::ConstantOp, ir::GetParamOp, ir::IotaOp>(storageOf(value).getDefiningOp())) return value;
    Value &after = held[{value, at}];
    if (after) return after;
    // What the backward pass has just computed; what other ranks have part in may come late.
    Operation *before = order[borderAt];
    for (int64_t i = at - 1; i > borderAt; --i)
      if (order[i]->getNumResults() && isa<ir::NNDialect>(order[i]->getDialect()) &&
          !isa<ir::ConstantOp, ir::GetParamOp, ir::IotaOp>(order[i])) {
        before = order[i];
        break;
      }
    return after = ir::AfterOp::create(b, value.getLoc(), value, before->getResult(0));
  };
  for (Operation *op : sorted) {
    int64_t at = first.lookup(op);
    OpBuilder b(order[at]);
    IRMapping mapping;
    for (Value operand : op->getOperands()) mapping.map(operand, read(b, operand, at));
    Operation *copy = b.clone(*op, mapping);
    copy->removeAttr(ir::kDifferentiatedAttr);
    for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults())) copyOf[from] = to;
  }
  for (Value value : dropped) {
    // Views of it that are read after the border become views of the copy.
    std::function<void(Value, Value)> replace = [&](Value from, Value to) {
      for (OpOperand &use : llvm::make_early_inc_range(from.getUses())) {
        Operation *user = use.getOwner();
        bool isView = bool(sharedBy(use));
        auto position = positions.find(user);
        if (position == positions.end()) continue; // a copy
        if (!isView || to.getDefiningOp()->isBeforeInBlock(user)) {
          if (position->second > borderAt) use.set(to);
          continue;
        }
        OpBuilder b(to.getContext());
        b.setInsertionPointAfterValue(to);
        IRMapping mapping;
        mapping.map(from, to);
        Operation *view = b.clone(*user, mapping);
        replace(user->getResult(0), view->getResult(0));
        if (view->use_empty()) view->erase();
      }
    };
    replace(value, copyOf.lookup(value));
  }
}

namespace {
struct RematPass : sprig::impl::RematBase<RematPass> {
  using RematBase::RematBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    SmallVector<Operation *> borders;
    bool hasMarks = false;
    for (Operation &op : function.getBody().front()) {
      if (op.hasAttr(ir::kDifferentiatedAttr)) borders.push_back(&op);
      hasMarks |= isMarked(&op);
    }
    Operation *previous = nullptr;
    for (Operation *border : borders) {
      if (bytes > 0 || hasMarks) keepLess(function, previous, border);
      border->removeAttr(ir::kDifferentiatedAttr);
      previous = border;
    }
    function.walk([](Operation *op) { op->removeDiscardableAttr(ir::dist::kMostBytesAttr); });
  }

  void keepLess(func::FuncOp function, Operation *previous, Operation *border) {
    moveToForwardPass(border);
    RematPlan plan(function.getBody().front(), previous, border);
    int64_t before = plan.peak();
    plan.dropMarked();
    if (bytes > 0) plan.fit(bytes);
    if (plan.droppedCount()) plan.write();
    remark::RemarkOpts about = remark::RemarkOpts::name("remat").category("memory");
    std::string text =
        llvm::formatv("'{0}' keeps {1} bytes for its backward pass, of {2}: {3} values are computed again "
                      "by {4} operations, {5} bytes at most with them",
                      function.getSymName(), plan.kept(), before, plan.droppedCount(), plan.copyCount(), plan.peak());
    if (bytes > 0 && plan.peak() > bytes) {
      remark::missed(function.getLoc(), about)
          << (text + llvm::formatv("; {0} bytes were asked for", int64_t(bytes)).str());
      function.emitWarning("'") << function.getSymName() << "' keeps " << plan.peak()
                                << " bytes for its backward pass, "
                                << "more than the " << int64_t(bytes)
                                << " that rematerialisation was asked for; nothing else that is computed again helps";
    } else {
      remark::passed(function.getLoc(), about) << text;
    }
  }
};
} // namespace
