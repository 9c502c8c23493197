// The remat pass: values that wait for the backward pass are computed again instead, until what is alive fits.
#include "lib/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace sprig {
#define GEN_PASS_DEF_REMAT
#include "lib/Transforms/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;

static int64_t bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * storageBytes(type.getElementType());
}

/// State, inputs and constants are there all the time: they are neither counted nor computed.
static bool isAlwaysThere(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || isa<nn::GetParamOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
}

/// Another name of a value, which takes no memory.
static bool isView(Operation *op) { return isa_and_nonnull<nn::ReshapeOp, nn::AfterOp>(op); }

static Value viewed(Value value) {
  while (isView(value.getDefiningOp())) value = value.getDefiningOp()->getOperand(0);
  return value;
}

namespace {
// Lifetimes in a block, counted in its operations; views belong to what they show.
class Lifetimes {
public:
  explicit Lifetimes(Block &block);

  int64_t at(Operation *op) const { return position.lookup(op); }
  int64_t lastUse(Value value) const { return last.lookup(viewed(value)); }
  /// Whether a value is in memory in front of the operation at `place` anyway.
  bool isKeptBehind(Value value, int64_t place) const { return isAlwaysThere(viewed(value)) || lastUse(value) >= place; }

  int64_t peak = 0, peakAt = 0; // bytes, and the operation that they are alive at
  SmallVector<Value> values;    // that take memory, in program order

private:
  llvm::DenseMap<Operation *, int64_t> position;
  llvm::DenseMap<Value, int64_t> last;
};

// What computing a value again takes: the operations, in program order, and what they read that stays.
struct Chain {
  llvm::SetVector<Operation *> ops;
  int64_t flops = 0;
};

class Rematerializer {
public:
  Rematerializer(Block &block, int64_t limit) : block(block), limit(limit) {}
  void run();

  int64_t before = 0, after = 0, values = 0, flops = 0;

private:
  bool addToChain(Value value, int64_t place, const Lifetimes &lifetimes, Chain &chain) const;
  bool replaceOne(const Lifetimes &lifetimes);
  void computeAgain(Value value, Operation *user, const Chain &chain);

  Block &block;
  int64_t limit;
  llvm::DenseSet<Value> given; // computed again already, or clones
};
} // namespace

Lifetimes::Lifetimes(Block &block) {
  int64_t count = 0;
  for (Operation &op : block) {
    position[&op] = count;
    for (Value operand : op.getOperands()) last[viewed(operand)] = count;
    ++count;
  }
  SmallVector<int64_t> change(count + 2, 0);
  for (Operation &op : block) {
    if (isView(&op)) continue;
    for (Value result : op.getResults()) {
      if (isAlwaysThere(result)) continue;
      values.push_back(result);
      int64_t from = at(&op), to = std::max(from, lastUse(result));
      change[from] += bytesOf(result);
      change[to + 1] -= bytesOf(result);
    }
  }
  int64_t alive = 0;
  for (int64_t i = 0; i < count; ++i) {
    alive += change[i];
    if (alive > peak) peak = alive, peakAt = i;
  }
}

// Long chains cost more than they save, and their own values must be somewhere.
static constexpr size_t kLongestChain = 64;

bool Rematerializer::addToChain(Value value, int64_t place, const Lifetimes &lifetimes, Chain &chain) const {
  Operation *op = value.getDefiningOp();
  if (chain.ops.contains(op)) return true;
  if (!op || !isPure(op) || op->getNumRegions() || chain.ops.size() >= kLongestChain) return false;
  for (Value operand : op->getOperands())
    if (!lifetimes.isKeptBehind(operand, place) && !addToChain(operand, place, lifetimes, chain)) return false;
  chain.ops.insert(op);
  if (auto cost = dyn_cast<CostOpInterface>(op)) chain.flops += cost.getFlops();
  return true;
}

// A value's uses from `user` on read a copy that is computed in front of it. Its leaves are read behind what the user
// reads of the backward pass, so that nothing merges the copy with the first computation.
void Rematerializer::computeAgain(Value value, Operation *user, const Chain &chain) {
  OpBuilder b(user);
  SmallVector<Value> dependencies;
  for (Operation *op = user->getPrevNode(); op && dependencies.empty(); op = op->getPrevNode())
    if (op->getNumResults() && !isAlwaysThere(op->getResult(0)) && !chain.ops.contains(op))
      dependencies.push_back(op->getResult(0));
  IRMapping mapping;
  for (Operation *op : chain.ops)
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (mapping.contains(operand) || chain.ops.contains(source) ||
          (source && source->hasTrait<OpTrait::ConstantLike>()))
        continue;
      mapping.map(operand, nn::AfterOp::create(b, value.getLoc(), operand, dependencies).getResult());
    }
  for (Operation *op : chain.ops)
    for (Value result : b.clone(*op, mapping)->getResults()) given.insert(result);
  Value copy = mapping.lookup(value);
  value.replaceUsesWithIf(copy, [&](OpOperand &use) {
    Operation *owner = block.findAncestorOpInBlock(*use.getOwner());
    return owner == user || user->isBeforeInBlock(owner);
  });
  given.insert(value);
}

// Of the values that are alive at the peak but not used around it, the one that saves most for what it costs.
bool Rematerializer::replaceOne(const Lifetimes &lifetimes) {
  double best = 0;
  Value chosen;
  Operation *chosenUser = nullptr;
  Chain chosenChain;
  for (Value value : lifetimes.values) {
    if (given.contains(value) || lifetimes.at(value.getDefiningOp()) >= lifetimes.peakAt ||
        lifetimes.lastUse(value) <= lifetimes.peakAt)
      continue;
    // The first operation behind the peak that reads it, itself or through a view.
    Operation *user = nullptr;
    for (Operation *each : value.getUsers()) {
      Operation *owner = block.findAncestorOpInBlock(*each);
      if (lifetimes.at(owner) > lifetimes.peakAt && (!user || owner->isBeforeInBlock(user))) user = owner;
    }
    if (!user || user->hasTrait<OpTrait::IsTerminator>()) continue;
    Chain chain;
    // Not through itself: the chain starts at its operands, which must be there where it is needed.
    if (!addToChain(value, lifetimes.at(user), lifetimes, chain)) continue;
    double score = double(bytesOf(value)) / double(chain.flops + int64_t(64) * int64_t(chain.ops.size()));
    if (score <= best) continue;
    best = score;
    chosen = value;
    chosenUser = user;
    chosenChain = std::move(chain);
  }
  if (!chosen) return false;
  computeAgain(chosen, chosenUser, chosenChain);
  ++values;
  flops += chosenChain.flops;
  return true;
}

void Rematerializer::run() {
  Lifetimes lifetimes(block);
  before = after = lifetimes.peak;
  while (lifetimes.peak > limit && replaceOne(lifetimes)) {
    lifetimes = Lifetimes(block);
    after = std::min(after, lifetimes.peak);
  }
  after = lifetimes.peak;
}

namespace {
struct Remat : sprig::impl::RematBase<Remat> {
  using RematBase::RematBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || bytes <= 0) return;
    // What waits for a backward pass is in steps.
    Block &block = function.getBody().front();
    if (block.getOps<nn::SetParamOp>().empty()) return;
    Rematerializer remat(block, bytes);
    remat.run();
    std::string text =
        llvm::formatv("'{0}': {1} values computed again for {2} operations more; at most {3} bytes alive "
                      "between operations, before {4}, asked for {5}",
                      function.getSymName(), remat.values, remat.flops, remat.after, remat.before, int64_t(bytes));
    remark::passed(function.getLoc(), remark::RemarkOpts::name("remat").category("memory")) << text;
    if (remat.after > bytes)
      function.emitWarning("needs ") << remat.after << " bytes between its operations, more than the " << int64_t(bytes)
                                     << " that rematerialisation was asked for; nothing else can be computed again";
  }
};
} // namespace
