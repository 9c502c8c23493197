#include "lib/Target/Kernels/ScanRow.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;
using namespace sprig;
using ir::RowView;

Value sprig::loopOverTime(ElementBuilder &k, ir::ScanOp scan, llvm::function_ref<void(Value, Value)> step) {
  int64_t steps = scan.getSteps();
  Value zero = k.index(0);
  return k.loop(zero, k.index(steps), 1, zero, [&](Value i, ValueRange parity) -> SmallVector<Value> {
    step(scan.getReverse() ? k.sub(k.index(steps - 1), i) : i, parity[0]);
    return {k.sub(k.index(1), parity[0])};
  })[0];
}

bool ScanRow::isInMemory(Value value) const {
  if (!value.getDefiningOp() || ir::isWhole(value.getDefiningOp())) return true;
  for (unsigned stage = 0; stage < currentStage; ++stage)
    if (stages.stages[stage].kept.contains(value)) return true;
  return false;
}

void ScanRow::forParts(Value value, llvm::function_ref<void(Value, int64_t)> body) const {
  auto concat = value.getDefiningOp<ir::ConcatOp>();
  if (!concat || isInMemory(value)) return body(value, 0);
  int64_t column = 0;
  for (Value part : concat.getOperands()) {
    body(part, column);
    column += RowView::of(part).columns;
  }
}

Value ScanRow::at(Value value, int64_t shift) {
  if (RowView::of(value).columns == 1) shift = 0;
  auto key = std::make_pair(static_cast<const void *>(value.getAsOpaquePointer()), shift);
  if (auto found = known.find(key); found != known.end()) return found->second;
  Value computed = compute(value, shift);
  known[key] = computed;
  return computed;
}

Value ScanRow::compute(Value value, int64_t shift) {
  if (isInMemory(value)) return load(value, shift);
  Operation *def = value.getDefiningOp();
  if (auto constant = dyn_cast<ir::ConstantOp>(def))
    return uniform(builder.splatConstant(cast<DenseElementsAttr>(constant.getValue())));
  if (auto slice = dyn_cast<ir::SliceOp>(def))
    return at(slice.getOperand(), shift + (slice.getStarts().empty() ? 0 : slice.getStarts().back()));
  if (Value moved = ir::movedInRow(def)) return at(moved, shift);
  SmallVector<Value> arguments;
  for (Value operand : def->getOperands()) arguments.push_back(at(operand, shift));
  return builder.apply(def, arguments);
}
