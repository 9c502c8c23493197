#include "dialects/NN/ScanStages.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sprig::ir {

RowView RowView::of(Value value) {
  ArrayRef<int64_t> shape = tensorOf(value).getShape();
  RowView view;
  if (shape.empty()) return view;
  view.columns = shape.back();
  for (int64_t size : shape.drop_back()) view.rows *= size;
  return view;
}

std::optional<Product> Product::of(Operation *op) {
  if (!op || !op->hasTrait<MatrixProduct>()) return std::nullopt;
  return Product{op->getOperand(0), op->getOperand(1)};
}

bool isWhole(Operation *op) { return isa<ReduceOp>(op) || Product::of(op); }

Value movedInRow(Operation *op) {
  return isa_and_present<SliceOp, ReshapeOp, BroadcastOp>(op) ? op->getOperand(0) : Value();
}

namespace {
class Analysis {
public:
  Analysis(ScanOp scan, std::string &reason) : scan(scan), reason(reason) {}

  bool run(ScanStages &result) {
    for (Value carried : scan.getInitial()) result.rows = std::max(result.rows, RowView::of(carried).rows);
    for (Value input : scan.getInputArguments()) result.rows = std::max(result.rows, RowView::of(input).rows);
    rows = result.rows;
    Block &body = scan.getStep();
    Operation *yield = body.getTerminator();
    for (BlockArgument argument : body.getArguments())
      if (!checkArgument(argument)) return false;
    for (Operation &op : body.without_terminator()) {
      if (!check(&op)) return refuse(&op);
      if (isNumber(&op)) numbers.insert(&op);
    }
    for (Value value : yield->getOperands())
      if (RowView::of(value).rows != rows) return refuse(yield);
    result.rowsMeet = rowsMeet;
    assignStages(result);
    return true;
  }

private:
  bool refuse(Operation *op) {
    reason = ("its step holds '" + op->getName().getStringRef() + "' of a form that no kernel of rows computes").str();
    return false;
  }

  bool fits(Value value) const {
    RowView view = RowView::of(value);
    return view.columns > 0 && (view.rows == rows || view.rows == 1);
  }

  bool checkArgument(BlockArgument argument) {
    // The right sides of products are no rows.
    bool onlyMatrix = llvm::all_of(argument.getUses(), [](OpOperand &use) {
      auto product = Product::of(use.getOwner());
      return product && product->rhs == use.get() && product->lhs != use.get();
    });
    bool carried = llvm::is_contained(scan.getCarriedArguments(), argument);
    if (!carried && onlyMatrix) return true;
    if (fits(argument) && (!carried || RowView::of(argument).rows == rows)) return true;
    reason = "its step takes " + describe(argument.getType()) + " for " + std::to_string(rows) + " rows";
    return false;
  }

  /// Of integers, ui8 times a constant of i8 that are summed in i32: nothing but constants lies as dot products read
  /// it.
  bool isOfBytes(Operation *op, const Product &product) {
    auto is = [](Value value, bool isUnsigned, unsigned width) {
      Type element = tensorOf(value).getElementType();
      return isUnsigned ? element.isUnsignedInteger(width) : element.isSignlessInteger(width);
    };
    Value matrix = scan->getOperand(cast<BlockArgument>(product.rhs).getArgNumber());
    bool isKnown = !isa<MatmulOp>(op) || isa_and_present<ConstantOp>(matrix.getDefiningOp());
    return isKnown && is(product.lhs, true, 8) && is(product.rhs, false, 8) && is(op->getResult(0), false, 32);
  }

  bool checkProduct(Operation *op, const Product &product) {
    auto rhs = dyn_cast<BlockArgument>(product.rhs);
    if (!rhs || !llvm::is_contained(scan.getInvariantArguments(), rhs) ||
        (isa<IntegerType>(tensorOf(rhs).getElementType()) && !isOfBytes(op, product)))
      return false;
    if (auto matmul = dyn_cast<MatmulOp>(op); matmul && (matmul.getTransposeLhs() || tensorOf(rhs).getRank() != 2))
      return false;
    return RowView::of(product.lhs).rows == rows && RowView::of(op->getResult(0)).rows == rows &&
           RowView::of(product.lhs).columns > 0;
  }

  /// Reductions of whole rows, or of all of them to one number, that are the same in every order.
  bool checkReduction(ReduceOp op) {
    RowView from = RowView::of(op.getOperand()), to = RowView::of(op.getResult());
    int64_t last = tensorOf(op.getOperand()).getRank() - 1;
    bool isExact = isa<IntegerType>(tensorOf(op.getOperand()).getElementType()) || op.getKind() == ReduceKind::min ||
                   op.getKind() == ReduceKind::max;
    if (!isExact || !fits(op.getOperand()) || !llvm::is_contained(op.getAxes(), last) || to.columns != 1) return false;
    if (to.rows == from.rows) return true;
    rowsMeet = true;
    return to.rows == 1;
  }

  /// Whether one number for all places is computed of a reduction.
  bool isNumber(Operation *op) const {
    RowView view = RowView::of(op->getResult(0));
    if (view.rows != 1 || view.columns != 1) return false;
    auto ofNumbers = [&](Value operand) { return numbers.contains(operand.getDefiningOp()); };
    return isa<ReduceOp>(op) || (!Product::of(op) && llvm::any_of(op->getOperands(), ofNumbers));
  }

  bool check(Operation *op) {
    if (op->getNumResults() != 1 || !fits(op->getResult(0))) return false;
    if (auto product = Product::of(op)) return checkProduct(op, *product);
    if (auto reduce = dyn_cast<ReduceOp>(op)) return checkReduction(reduce);
    if (isa<ConstantOp>(op)) return bool(splatOf(op));
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return fits(operand); })) return false;
    RowView view = RowView::of(op->getResult(0));
    if (auto slice = dyn_cast<SliceOp>(op)) {
      RowView from = RowView::of(slice.getOperand());
      return from.rows == view.rows && slice.getSteps().back() == 1 && (view.columns > 1 || from.columns == 1) &&
             llvm::all_of(slice.getStarts().drop_back(), [](int64_t start) { return start == 0; });
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      RowView from = RowView::of(reshape.getOperand());
      return from.rows == view.rows && from.columns == view.columns;
    }
    if (isa<BroadcastOp>(op)) return true;
    if (auto concat = dyn_cast<ConcatOp>(op))
      return int64_t(concat.getAxis()) + 1 == tensorOf(concat.getResult()).getRank();
    return isa<ElementwiseOpInterface>(op) && !isCheckedAtRunTime(op);
  }

  static Value origin(Value value) {
    while (Value moved = movedInRow(value.getDefiningOp())) value = moved;
    return value;
  }

  /// Whether a product or reduction reads its operand where it lies.
  static bool liesInMemory(Value operand) { return isa<BlockArgument>(operand) || isWhole(operand.getDefiningOp()); }

  /// What an operation reads whole: a product its left side, a reduction its operand. Null of others.
  static Value readWhole(Operation *op) {
    if (auto product = Product::of(op)) return product->lhs;
    return isa<ReduceOp>(op) ? op->getOperand(0) : Value();
  }

  /// Whether an operation reads an operand in a later stage than the one that computes it: all of its row, parts that
  /// are joined in memory, or a number that all places share. Reductions come before a stage's products.
  bool readsLater(Operation *op, Value operand) const {
    Operation *def = operand.getDefiningOp();
    if (operand == readWhole(op)) return !liesInMemory(operand) || (isa<ReduceOp>(op) && def && isWhole(def));
    if (isa_and_present<ConcatOp>(def)) return true;
    return def && numbers.contains(def) && !isa<ReduceOp>(def) && !numbers.contains(op);
  }

  // Every operation as late as its users allow, within as few stages as there must be.
  void assignStages(ScanStages &result) {
    Block &body = scan.getStep();
    llvm::DenseMap<Operation *, int64_t> earliest, stage;
    int64_t last = 0;
    for (Operation &op : body.without_terminator()) {
      int64_t at = 0;
      for (Value operand : op.getOperands())
        if (Operation *def = operand.getDefiningOp())
          at = std::max(at, earliest.lookup(def) + readsLater(&op, operand));
      earliest[&op] = at;
      last = std::max(last, at);
    }
    result.stages.resize(last + 1);
    auto need = [&](Value value, int64_t at) {
      Operation *def = value.getDefiningOp();
      if (!def) return;
      auto [entry, fresh] = stage.try_emplace(def, at);
      entry->second = std::min(entry->second, at);
    };
    for (Value value : body.getTerminator()->getOperands()) need(value, last);
    SmallVector<Operation *> operations;
    for (Operation &op : body.without_terminator()) operations.push_back(&op);
    for (Operation *op : llvm::reverse(operations)) {
      auto found = stage.find(op);
      if (found == stage.end()) continue; // nothing uses it
      int64_t at = found->second;
      for (Value operand : op->getOperands()) need(operand, at - readsLater(op, operand));
    }
    for (Operation *op : operations) {
      if (!stage.count(op)) continue;
      int64_t at = stage.lookup(op);
      if (Product::of(op)) result.stages[at].products.push_back(op);
      if (auto reduce = dyn_cast<ReduceOp>(op)) result.stages[at].reductions.push_back(reduce);
      for (Value operand : op->getOperands()) keep(result, stage, operand, at, operand == readWhole(op));
    }
    for (Value value : body.getTerminator()->getOperands()) keep(result, stage, value, last, false);
  }

  /// A value that is read after its stage stays in memory, as does what a product or reduction reads.
  void keep(ScanStages &result, const llvm::DenseMap<Operation *, int64_t> &stage, Value value, int64_t readAt,
            bool isReadWhole) {
    if (isReadWhole) {
      if (!liesInMemory(value)) result.stages[stage.lookup(value.getDefiningOp())].kept.insert(value);
      return;
    }
    // Moves are read through.
    value = origin(value);
    Operation *def = value.getDefiningOp();
    if (!def || isa<ConstantOp>(def) || isWhole(def)) return;
    if (int64_t at = stage.lookup(def); at < readAt) result.stages[at].kept.insert(value);
  }

  ScanOp scan;
  std::string &reason;
  int64_t rows = 1;
  bool rowsMeet = false;
  llvm::DenseSet<Operation *> numbers;
};
} // namespace

std::optional<ScanStages> ScanStages::analyze(ScanOp scan, std::string &reason) {
  ScanStages result;
  if (!Analysis(scan, reason).run(result)) return std::nullopt;
  return result;
}

} // namespace sprig::ir
