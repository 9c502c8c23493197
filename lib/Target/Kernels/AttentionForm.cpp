#include "lib/Target/Kernels/AttentionForm.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;
using namespace sprig;

MatrixView::MatrixView(const ir::PointwiseView &source, Value operand, size_t batchRank, bool transposed)
    : view(source) {
  ArrayRef<int64_t> shape = shapeOf(operand);
  size_t own = shape.size() - 2;
  batchStrides.assign(batchRank, 0);
  for (size_t d = 0; d < own; ++d)
    if (shape[d] != 1) batchStrides[d + batchRank - own] = view.strides[d];
  rowStride = view.strides[own + (transposed ? 1 : 0)];
  columnStride = view.strides[own + (transposed ? 0 : 1)];
}

Value MatrixView::begin(ElementBuilder &k, ArrayRef<Value> matrix) const {
  Value begin = k.index(view.offset);
  for (auto [index, stride] : llvm::zip_equal(matrix, batchStrides))
    if (stride) begin = k.add(begin, k.mul(index, stride));
  return begin;
}

Value MatrixView::applyChain(ElementBuilder &k, Value value) const {
  auto vector = dyn_cast<VectorType>(value.getType());
  for (Operation *op : view.chain) {
    SmallVector<Value> arguments;
    for (Value argument : op->getOperands()) {
      auto constant = argument.getDefiningOp<ir::ConstantOp>();
      if (!constant || argument == ir::onlyOperand(op)) {
        arguments.push_back(value);
        continue;
      }
      Value scalar = k.splatConstant(cast<DenseElementsAttr>(constant.getValue()));
      arguments.push_back(vector ? k.splat(scalar, vector.getDimSize(0)) : scalar);
    }
    value = k.apply(op, arguments);
  }
  return value;
}

AttentionForm::AttentionForm(ir::Attention found)
    : attention(std::move(found)), batch(shapeOf(attention.scores.getResult()).drop_back(2)),
      elementType(elementOf(attention.scores.getResult())),
      query(attention.query, attention.scores.getLhs(), batch.size(), attention.scores.getTransposeLhs()),
      key(attention.key, attention.scores.getRhs(), batch.size(), attention.scores.getTransposeRhs()),
      value(attention.value, attention.output.getRhs(), batch.size(), attention.output.getTransposeRhs()) {
  ArrayRef<int64_t> shape = shapeOf(attention.scores.getResult()), left = shapeOf(attention.scores.getLhs());
  rows = shape.end()[-2];
  keys = shape.back();
  depth = left.end()[attention.scores.getTransposeLhs() ? -2 : -1];
  columns = shapeOf(attention.output.getResult()).back();
  resultStrides = *ir::storedStrides(attention.output.getResult(), attention.views);
}

std::optional<AttentionForm> AttentionForm::in(kernel::DispatchOp dispatch) {
  Operation *yield = dispatch->getRegion(0).front().getTerminator();
  if (yield->getNumOperands() != 1) return std::nullopt;
  for (auto product : dispatch->getRegion(0).front().getOps<ir::MatmulOp>()) {
    std::string why;
    std::optional<ir::Attention> attention = ir::matchAttention(product, why);
    if (!attention || attention->result() != yield->getOperand(0)) continue;
    for (const ir::PointwiseView *view : {&attention->query, &attention->key, &attention->value})
      if (!isa<BlockArgument>(view->root)) return std::nullopt;
    return AttentionForm(std::move(*attention));
  }
  return std::nullopt;
}
