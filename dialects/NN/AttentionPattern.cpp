#include "dialects/NN/AttentionPattern.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sprig::ir {

namespace {
/// Follows the left side of a product up to the product that it is computed from, row by row.
class RowWalk {
public:
  explicit RowWalk(MatmulOp output) : output(output), shape(shapeOf(output.getLhs())) {}

  std::string run(Attention &attention) {
    if (!dependsOnScores(output.getLhs())) return {};
    if (!reduces) return {};
    if (products.size() > 1) return "several products go into its left side";
    attention.output = output;
    attention.scores = cast<MatmulOp>(products.front());
    llvm::SetVector<Operation *> members;
    for (Operation *op : order) {
      if (!depends.lookup(op->getResult(0))) continue;
      for (Value operand : op->getOperands())
        if (!depends.lookup(operand) && isCounted(operand)) insertCounted(operand, members);
      members.insert(op);
    }
    attention.rows.assign(members.begin(), members.end());
    for (Operation *op : order)
      if (depends.lookup(op->getResult(0)) && !staysInside(op, members)) return name(op) + " is used elsewhere too";
    if (!staysInside(attention.scores, members)) return name(attention.scores) + " is used elsewhere too";
    return refuse(attention);
  }

private:
  static std::string name(Operation *op) { return op->getName().getStringRef().str(); }

  // Elementwise operations and reductions on whole rows or one value a row; all else is an operand.
  bool fits(Operation *op) const {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return reduce.getKeepDims() && shapeOf(reduce.getOperand()) == shape && reduce.getAxes().size() == 1 &&
             reduce.getAxes()[0] == static_cast<int64_t>(shape.size()) - 1;
    if (!isa<ElementwiseOpInterface>(op) || op->getNumResults() != 1) return false;
    if (isCheckedAtRunTime(op)) return false;
    ArrayRef<int64_t> own = shapeOf(op->getResult(0));
    if (own == shape) return true;
    return own.size() == shape.size() && own.drop_back() == shape.drop_back() && own.back() == 1 &&
           !elementOf(op->getResult(0)).isInteger(1);
  }

  // What a few cheap operations make of splat constants and of indices alone (a causal mask): computed in place,
  // whoever else reads it. No booleans of rows, which fits() does not take either.
  bool isCounted(Value value, int depth = 8) const {
    Operation *op = value.getDefiningOp();
    if (!op || shapeOf(value).size() > shape.size()) return false;
    if (splatOf(value) || isa<IotaOp>(op)) return true;
    bool isOfRows = shapeOf(value).empty() || shapeOf(value).back() == 1;
    if (isOfRows && elementOf(value).isInteger(1)) return false;
    return depth && isa<AddOp, SubOp, MulOp, CompareOp, AndOp, OrOp, NotOp, SelectOp, CastOp>(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isCounted(operand, depth - 1); });
  }
  static void insertCounted(Value value, llvm::SetVector<Operation *> &members) {
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands()) insertCounted(operand, members);
    members.insert(op);
  }

  bool dependsOnScores(Value value) {
    if (auto found = depends.find(value); found != depends.end()) return found->second;
    Operation *op = value.getDefiningOp();
    bool result = false;
    if (auto product = dyn_cast_if_present<MatmulOp>(op); product && shapeOf(value) == shape) {
      if (!llvm::is_contained(products, op)) products.push_back(op);
      result = true;
    } else if (op && order.size() < 64 && fits(op)) {
      for (Value operand : op->getOperands()) result |= dependsOnScores(operand);
      if (result) {
        order.push_back(op);
        reduces |= isa<ReduceOp>(op);
      }
    }
    return depends[value] = result;
  }

  bool staysInside(Operation *op, const llvm::SetVector<Operation *> &members) const {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return members.contains(user) ||
             (user == output && op->getResult(0) == output->getOperand(0) && op->getResult(0) != output->getOperand(1));
    });
  }

  std::string refuse(Attention &attention) {
    MatmulOp scores = attention.scores;
    Type element = elementOf(scores.getResult());
    if (!isa<FloatType>(element) || elementOf(output.getLhs()) != element) return "its element types differ";
    if (output.getTransposeLhs()) return "the second product takes the weights transposed";
    if (shapeOf(output.getResult()).drop_back(2) != shape.drop_back(2)) return "the batches of both products differ";
    if (shape.back() < 2 || llvm::is_contained(shape, 0) || llvm::is_contained(shapeOf(output.getResult()), 0))
      return "a row has no more than one element";
    if (llvm::is_contained(shapeOf(scores.getLhs()), 0)) return "the first product has nothing to sum up";
    return {};
  }

  MatmulOp output;
  ArrayRef<int64_t> shape;
  llvm::DenseMap<Value, bool> depends;
  SmallVector<Operation *> products, order;
  bool reduces = false;
};
} // namespace

/// An operand of a product through its views where neighbours of one of its last two dimensions are neighbours there.
static PointwiseView operandView(Value operand) {
  PointwiseView view = PointwiseView::through(operand);
  ArrayRef<int64_t> last = ArrayRef(view.strides).take_back(2);
  return last[0] == 1 || last[1] == 1 ? view : PointwiseView::of(operand);
}

/// What is computed as a view is no value in memory, so nothing else of the attention may read it: such an operand is
/// read as it lies.
static void keepReadValues(Attention &attention) {
  struct Operand {
    PointwiseView *view;
    Value value;
  };
  Operand operands[] = {{&attention.query, attention.scores.getLhs()},
                        {&attention.key, attention.scores.getRhs()},
                        {&attention.value, attention.output.getRhs()}};
  auto isRead = [&](Operation *op) {
    if (isa<ConstantOp>(op)) return false; // a splat, which is no buffer anywhere
    auto readsIt = [&](Operation *row) { return llvm::is_contained(row->getOperands(), op->getResult(0)); };
    auto isItsRoot = [&](const Operand &operand) { return operand.view->root == op->getResult(0); };
    return llvm::any_of(attention.rows, readsIt) || llvm::any_of(operands, isItsRoot);
  };
  // An operand that is read as it lies is a root to the others, of which each changes once at most.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Operand &operand : operands)
      if (llvm::any_of(operand.view->ops, isRead)) {
        *operand.view = PointwiseView::of(operand.value);
        changed = true;
      }
  }
}

std::optional<Attention> matchAttention(MatmulOp output, std::string &why) {
  Attention attention;
  why = RowWalk(output).run(attention);
  if (!why.empty() || !attention.scores) return std::nullopt;
  attention.query = operandView(attention.scores.getLhs());
  attention.key = operandView(attention.scores.getRhs());
  attention.value = operandView(output.getRhs());
  keepReadValues(attention);
  SmallVector<Operation *> views;
  Value last = output.getResult();
  while (last.hasOneUse()) {
    Operation *user = *last.getUsers().begin();
    if (!isa<TransposeOp, ReshapeOp>(user)) break;
    views.push_back(user);
    last = user->getResult(0);
    auto strides = storedStrides(output.getResult(), views);
    if (!strides) break;
    if (strides->back() == 1 && isa<TransposeOp>(user)) attention.views = views;
  }
  return attention;
}

} // namespace sprig::ir
