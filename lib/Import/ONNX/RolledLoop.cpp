#include "lib/Import/ONNX/RolledLoop.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNYield.h"
#include "dialects/NN/ScanStages.h"
#include "lib/Import/ONNX/Importer.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace sprig::onnximport {

// Fewer steps are as well unrolled: what is known of each then folds.
static constexpr int64_t kFewestSteps = 4;

static RankedTensorType sliceType(Value sequence) {
  return RankedTensorType::get(Emit::shape(sequence).drop_front(), Emit::elem(sequence));
}

static bool isSplat(Operation *op) {
  auto constant = dyn_cast_if_present<ir::ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return dense && dense.isSplat();
}

/// Whether a scan becomes one kernel once its composites are primitives.
static bool becomesKernel(ir::ScanOp scan) {
  OwningOpRef<ir::ScanOp> clone(scan.clone());
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation &op : llvm::make_early_inc_range(clone->getStep())) {
      auto composite = dyn_cast<DecomposableOpInterface>(op);
      if (!composite) continue;
      OpBuilder b(&op);
      auto values = composite.decompose(b);
      if (failed(values)) return false;
      op.replaceAllUsesWith(*values);
      op.erase();
      changed = true;
    }
  }
  std::string reason;
  return ir::ScanStages::analyze(*clone, reason).has_value();
}

namespace {
class Rolling {
public:
  Rolling(Node &n, int64_t steps, ValueRange sequences, ValueRange initial)
      : n(n), b(n.state.builder), steps(steps), sequences(sequences), initial(initial), block(new Block) {
    region.push_back(block);
    for (Value sequence : sequences) block->addArgument(sliceType(sequence), n.loc);
    for (Value carried : initial) block->addArgument(carried.getType(), n.loc);
  }

  bool runStep(LoopStep step) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    auto arguments = block->getArguments();
    Values slices(arguments.take_front(sequences.size())), carried(arguments.drop_front(sequences.size()));
    llvm::SaveAndRestore inLoop(n.state.rolledLoops, n.state.rolledLoops + 1);
    auto yielded = step(slices, carried);
    if (!yielded) return false;
    for (auto [value, carried] : llvm::zip(*yielded, initial))
      if (value.getType() != carried.getType()) return false;
    ir::YieldOp::create(b, n.loc, *yielded);
    return true;
  }

  /// Moves what no argument decides in front of the loop.
  void hoist() {
    for (Operation &op : llvm::make_early_inc_range(block->without_terminator()))
      if (llvm::none_of(op.getOperands(), [&](Value operand) { return operand.getParentBlock() == block; }))
        op.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (isOpTriviallyDead(&op)) op.erase();
  }

  /// An element that the number of the step picks from something fixed is a sequence of its own.
  void gatherBySlices() {
    for (auto gather : llvm::make_early_inc_range(block->getOps<ir::GatherOp>())) {
      Value data = gather.getOperand();
      if (data.getParentBlock() == block || gather.getAxis() != 0 || gather.getIndices() != block->getArgument(0) ||
          Emit::shape(data)[0] < steps)
        continue;
      Value sequence = n.sliceAxis(data, 0, 0, steps);
      BlockArgument slice = block->insertArgument(sequences.size(), sliceType(sequence), n.loc);
      sequences.push_back(sequence);
      gather.getResult().replaceAllUsesWith(slice);
      gather.erase();
    }
  }

  Values finish() {
    Values invariants;
    Operation *yield = block->getTerminator();
    IRMapping inside;
    for (Operation &op : llvm::make_early_inc_range(*block))
      for (OpOperand &operand : op.getOpOperands()) {
        Value value = operand.get();
        if (value.getParentBlock() == block) continue;
        if (!inside.contains(value)) {
          if (isSplat(value.getDefiningOp())) {
            Operation *clone = value.getDefiningOp()->clone();
            block->push_front(clone);
            inside.map(value, clone->getResult(0));
          } else {
            inside.map(value, Value(block->addArgument(value.getType(), n.loc)));
            invariants.push_back(value);
          }
        }
        operand.set(inside.lookup(value));
      }
    SmallVector<Type> types;
    for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
      Ints shape(Emit::shape(value));
      if (i >= initial.size()) shape.insert(shape.begin(), steps);
      types.push_back(n.tensor(shape, Emit::elem(value)));
    }
    scan = ir::ScanOp::create(b, n.loc, types, sequences, initial, invariants, steps);
    scan.getBody().takeBody(region);
    return Values(scan.getResults());
  }

  bool usesCounterFreely() const {
    return llvm::all_of(block->getArgument(0).getUsers(),
                        [](Operation *user) { return isa<ElementwiseOpInterface>(user); });
  }

  Node &n;
  OpBuilder &b;
  int64_t steps;
  Values sequences, initial;
  Region region;
  Block *block;
  ir::ScanOp scan;
};
} // namespace

std::optional<Values> rollLoop(Node &n, int64_t steps, ValueRange sequences, ValueRange initial, bool counter,
                               LoopStep step) {
  if (steps < kFewestSteps) return std::nullopt;
  Rolling rolling(n, steps, sequences, initial);
  Importer::Attempt attempt(n.importer, *rolling.block);
  try {
    if (!rolling.runStep(step)) return std::nullopt;
  } catch (const NeedsNumber &) {
    return std::nullopt; // a number that differs from step to step decides a shape
  } catch (const Error &) {
    return std::nullopt; // unrolling says what is wrong, if it is with numbers that are known
  }
  rolling.hoist();
  if (counter) {
    rolling.gatherBySlices();
    if (!rolling.usesCounterFreely()) return std::nullopt;
  }
  attempt.keep();
  Values results = rolling.finish();
  if (becomesKernel(rolling.scan)) return results;
  rolling.scan.erase();
  return std::nullopt;
}

} // namespace sprig::onnximport
