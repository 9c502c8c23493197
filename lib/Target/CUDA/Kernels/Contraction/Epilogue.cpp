#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/Constants.h"
#include "lib/Target/CUDA/Kernels/Contraction/ConvForm.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

// The only operation of a dispatch that is a root, of f32 operands in memory, with elementwise operations behind it.
static Operation *rootOf(kernel::DispatchOp dispatch, llvm::function_ref<bool(Operation *)> isRoot) {
  Block &body = dispatch->getRegion(0).front();
  Operation *found = nullptr;
  for (Operation &op : body.without_terminator()) {
    if (ir::splatOf(&op) || (op.hasOneUse() && isFilterView(&op, *op.user_begin()))) continue;
    if (isRoot(&op)) {
      if (found) return nullptr;
      found = &op;
    } else if (!isa<ElementwiseOpInterface>(op) || ir::isCheckedAtRunTime(&op) || op.getNumResults() != 1) {
      return nullptr;
    }
  }
  if (!found || !elementOf(found->getResult(0)).isF32()) return nullptr;
  for (Value operand : found->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!isa<BlockArgument>(isFilterView(def, found) ? def->getOperand(0) : operand)) return nullptr;
  }
  ArrayRef<int64_t> shape = shapeOf(found->getResult(0));
  for (Value value : body.getTerminator()->getOperands())
    if (isa<BlockArgument>(value) || shapeOf(value) != shape) return nullptr;
  return found;
}

Operation *sprig::cuda::contractionOf(kernel::DispatchOp dispatch) {
  return rootOf(dispatch, [](Operation *op) { return fusionKind(op) == FusionKind::contraction; });
}

ir::PoolOp sprig::cuda::poolOf(kernel::DispatchOp dispatch) {
  return cast_if_present<ir::PoolOp>(rootOf(dispatch, llvm::IsaPred<ir::PoolOp>));
}

bool ContractionEmitter::mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned) const {
  return llvm::all_of(dispatch->getRegion(0).getArgument(operand).getUsers(), llvm::IsaPred<ElementwiseOpInterface>);
}

bool Epilogue::isFlat(Operation *contraction) {
  return llvm::all_of(contraction->getBlock()->without_terminator(), [&](Operation &op) {
    if (&op == contraction || !isa<ElementwiseOpInterface>(op)) return true;
    return llvm::all_of(op.getOperands(), [&](Value operand) {
      auto type = cast<RankedTensorType>(operand.getType());
      return type.getShape() == shapeOf(contraction->getResult(0)) || type.getNumElements() == 1;
    });
  });
}

void Epilogue::store(ValueRange sums, ValueRange indices, Value offset) {
  Evaluator::Scope scope(evaluator);
  Value sum = sums[0];
  if (lanes() > 1) sum = vector::FromElementsOp::create(k.b, k.loc, VectorType::get({lanes()}, sum.getType()), sums);
  evaluator.define(contraction->getResult(0), sum);
  Position position;
  for (Value index : indices) position.push_back({index, 0});
  if (lanes() > 1) position.back().step = 1;
  // All results are computed before the first is stored: it may take an operand's bytes.
  ValueRange yielded = contraction->getBlock()->getTerminator()->getOperands();
  SmallVector<Value> values;
  for (Value value : yielded) values.push_back(evaluator.vectorAt(value, position));
  for (auto [r, value] : llvm::enumerate(yielded))
    k.store(values[r], k.flat(k.resultBuffer(r)), offset, elementOf(value));
}
