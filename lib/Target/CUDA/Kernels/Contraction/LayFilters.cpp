// Constant filters of convolutions that become tiles: their rows side by side in memory, so that a slice's copies are.
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CUDA/Kernels/Contraction/ConvForm.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "llvm/ADT/DenseMap.h"
#include <cstring>

using namespace mlir;
using namespace sprig;

static ElementsAttr filterConstant(Operation *op) {
  auto constant = op->getOperand(1).getDefiningOp<ir::ConstantOp>();
  std::string reason;
  if (!constant || !elementTypeOf(constant.getResult()).isF32() || !ir::isReadableConstant(constant.getValue(), reason))
    return {};
  return constant.getValue();
}

// The constant that the transpose by filterPermutation sees as the filter.
static Value withRowsInside(Operation *op, ElementsAttr attribute) {
  ir::ConstantView view(attribute);
  ArrayRef<int64_t> shape = view.type().getShape();
  SmallVector<int64_t> permutation = filterPermutation(op), stored(shape.size());
  for (auto [to, from] : llvm::enumerate(permutation)) stored[from] = shape[to];
  int64_t window = 1;
  for (int64_t size : shape.drop_front(2)) window *= size;
  bool isTransposed = isa<ir::ConvTransposeOp>(op);
  const char *source = view.bytes().data();
  std::vector<char> bytes(view.bytes().size());
  int64_t outer = stored.end()[-2], inner = stored.back();
  for (int64_t a = 0; a < outer; ++a)
    for (int64_t b = 0; b < inner; ++b) {
      const char *taps = source + (isTransposed ? a * inner + b : b * outer + a) * window * int64_t(sizeof(float));
      for (int64_t tap = 0; tap < window; ++tap)
        std::memcpy(&bytes[((tap * outer + a) * inner + b) * sizeof(float)], taps + tap * sizeof(float), sizeof(float));
    }
  OpBuilder b(op);
  auto type = RankedTensorType::get(stored, view.elementType());
  return ir::ConstantOp::create(b, op->getLoc(), type, ir::makeConstant(type, std::move(bytes)));
}

void sprig::layFiltersForCuda(Block &block) {
  llvm::DenseMap<Value, Value> made[2]; // of convolutions, of transposed ones
  for (Operation &op : llvm::make_early_inc_range(block)) {
    std::optional<ConvForm> form = ConvForm::of(&op);
    if (!form || !form->isWorthTiles() || form->filter.row == 1 || form->filter.channel == 1) continue;
    ElementsAttr attribute = filterConstant(&op);
    if (!attribute || ir::ConstantView(attribute).isSplat()) continue;
    Value &stored = made[isa<ir::ConvTransposeOp>(op)][op.getOperand(1)];
    if (!stored) stored = withRowsInside(&op, attribute);
    OpBuilder b(&op);
    op.setOperand(1, ir::TransposeOp::create(b, op.getLoc(), stored, b.getDenseI64ArrayAttr(filterPermutation(&op))));
  }
}
