#include "lib/Transforms/SinkReshapes.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sprig;

// A reduction that drops its dimensions is one that keeps them and a view: so its consumers can share its loops.
static void keepDims(ir::ReduceOp reduce) {
  if (reduce.getKeepDims() || reduce.getAxes().empty()) return;
  if (llvm::none_of(reduce->getUsers(), [](Operation *user) { return isa<ElementwiseOpInterface>(user); })) return;
  SmallVector<int64_t> shape(tensorOf(reduce.getOperand()).getShape());
  for (int64_t axis : reduce.getAxes()) shape[axis] = 1;
  RankedTensorType dropped = tensorOf(reduce.getResult());
  OpBuilder builder(reduce->getContext());
  builder.setInsertionPointAfter(reduce);
  auto view = ir::ReshapeOp::create(builder, reduce.getLoc(), dropped, reduce.getResult());
  reduce.getResult().replaceAllUsesExcept(view, view);
  reduce.setKeepDims(true);
  reduce.getResult().setType(RankedTensorType::get(shape, dropped.getElementType()));
}

/// Whether a value broadcasts in the same way to both shapes: along trailing dimensions that they share.
static bool broadcastsAlike(Value value, ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  ArrayRef<int64_t> own = tensorOf(value).getShape();
  while (!own.empty() && own.front() == 1) own = own.drop_front();
  if (own.size() > a.size() || own.size() > b.size()) return false;
  return a.take_back(own.size()) == b.take_back(own.size());
}

/// Whether a value comes from a contraction through elementwise operations alone, which join its epilogue.
static bool isEpilogueOf(Operation *op, llvm::SmallPtrSetImpl<Operation *> &epilogues) {
  return fusionKind(op) == FusionKind::contraction || epilogues.contains(op);
}

// op(reshape(x), y) becomes reshape(op(x, y)). After a contraction, whose epilogue it then joins, other operands are
// seen through views for that.
static void sinkBehind(Operation *op, llvm::SmallPtrSetImpl<Operation *> &epilogues) {
  if (!isa<ElementwiseOpInterface>(op) || op->getNumResults() != 1) return;
  RankedTensorType result = tensorOf(op->getResult(0));
  std::optional<SmallVector<int64_t>> source;
  bool behindContraction = false;
  for (Value operand : op->getOperands()) {
    auto reshape = operand.getDefiningOp<ir::ReshapeOp>();
    if (!reshape || tensorOf(operand).getShape() != result.getShape()) continue;
    ArrayRef<int64_t> shape = tensorOf(reshape.getOperand()).getShape();
    if (source && ArrayRef(*source) != shape) return;
    // Of a view of an argument or a constant nothing is gained.
    Operation *producer = reshape.getOperand().getDefiningOp();
    if (!source && producer && (isa<ElementwiseOpInterface>(producer) || fusionKind(producer) != FusionKind::none))
      source = SmallVector<int64_t>(shape);
    if (source && producer) behindContraction |= isEpilogueOf(producer, epilogues);
  }
  if (!source) return;
  auto view = [&](Value value, ArrayRef<int64_t> shape) -> Value {
    OpBuilder builder(op);
    return ir::ReshapeOp::create(builder, op->getLoc(), tensorOf(value).clone(shape), value);
  };
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    auto reshape = operand.getDefiningOp<ir::ReshapeOp>();
    if (reshape && tensorOf(operand).getShape() == result.getShape() &&
        tensorOf(reshape.getOperand()).getShape() == ArrayRef(*source)) {
      operands.push_back(reshape.getOperand());
      continue;
    }
    bool alike = broadcastsAlike(operand, *source, result.getShape());
    if (!alike && !(behindContraction && tensorOf(operand).getShape() == result.getShape())) return;
    operands.push_back(operand);
  }
  for (Value &operand : operands) {
    ArrayRef<int64_t> shape = tensorOf(operand).getShape();
    if (shape == result.getShape() && shape != ArrayRef(*source))
      operand = view(operand, *source);
    else if (shape.size() > source->size()) // by leading ones
      operand = view(operand, shape.take_back(source->size()));
  }
  OpBuilder builder(op);
  Operation *moved = builder.clone(*op);
  moved->setOperands(operands);
  moved->getResult(0).setType(result.clone(*source));
  if (behindContraction) epilogues.insert(moved);
  op->getResult(0).replaceAllUsesWith(ir::ReshapeOp::create(builder, op->getLoc(), result, moved->getResult(0)));
  SmallVector<Value> old(op->getOperands());
  op->erase();
  // A view that nothing reads any more would still count as a use of its producer outside of the group.
  for (Value value : SetVector<Value>(old.begin(), old.end()))
    if (auto reshape = value.getDefiningOp<ir::ReshapeOp>(); reshape && reshape->use_empty()) reshape->erase();
}

void sprig::sinkReshapes(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (auto reduce = dyn_cast<ir::ReduceOp>(op)) keepDims(reduce);
  // In program order a view that has moved meets the next consumer in the same walk.
  llvm::SmallPtrSet<Operation *, 16> epilogues;
  for (Operation &op : llvm::make_early_inc_range(block)) sinkBehind(&op, epilogues);
}
