// Filters of convolutions that become tiles, as slices are copied of them: constants with their rows side by side in
// memory, others that pay for it with their first dimension, once for a convolution and the gradient of its input.
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Machine/CudaModel.h"
#include "lib/Target/CUDA/Kernels/Contraction/ConvForm.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

static ElementsAttr filterConstant(Operation *op) {
  auto constant = op->getOperand(1).getDefiningOp<ir::ConstantOp>();
  std::string reason;
  if (!constant || !elementOf(constant.getResult()).isF32() || !ir::isReadableConstant(constant.getValue(), reason))
    return {};
  return constant.getValue();
}

// Whether rows are of the filter's first dimension.
static bool isFirstOfRows(Operation *op) { return isa<ir::ConvOp>(op); }

// The constant that the transpose by filterPermutation sees as the filter.
static Value withRowsInside(Operation *op, ElementsAttr attribute) {
  ir::ConstantView view(attribute);
  ArrayRef<int64_t> shape = view.type().getShape();
  bool isTransposed = !isFirstOfRows(op);
  SmallVector<int64_t> permutation = filterPermutation(shape.size(), !isTransposed), stored(shape.size());
  for (auto [to, from] : llvm::enumerate(permutation)) stored[from] = shape[to];
  int64_t window = 1;
  for (int64_t size : shape.drop_front(2)) window *= size;
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

static void setView(Operation *op, Value stored, bool isFirstInner) {
  OpBuilder b(op);
  int64_t rank = shapeOf(stored).size();
  auto permutation = b.getDenseI64ArrayAttr(filterPermutation(rank, isFirstInner));
  auto view = ir::TransposeOp::create(b, op->getLoc(), stored, permutation);
  kernel::setDevice(view, kernel::deviceOf(op));
  op->setOperand(1, view);
}

// Nanoseconds that a convolution takes to read sectors of which it needs a part, by the second-level cache's rate on a
// large GPU: each tile's slices have elements that are as far apart as the window has taps.
static double wasteOf(const ConvForm &form, Value filter) {
  constexpr double kBytes = 8000;
  constexpr int64_t kSector = 8; // elements
  int64_t apart = std::min(kSector, llvm::product_of(shapeOf(filter).drop_front(2)));
  double bytes = sizeof(float) * double(llvm::product_of(shapeOf(filter)));
  return double(llvm::divideCeil(form.columns(), form.tile.columns)) * bytes * double(apart - 1) / kBytes;
}

static double costOfTranspose(Value filter) {
  using machine::CudaDevice;
  double bytes = 2 * sizeof(float) * double(llvm::product_of(shapeOf(filter)));
  return CudaDevice::kLaunchNanoseconds + bytes / CudaDevice::kMovedBytes;
}

void sprig::cuda::layFiltersForCuda(Block &block, llvm::function_ref<bool(Operation *)> isHere) {
  llvm::DenseMap<Value, Value> made[2]; // of convolutions, of transposed ones
  struct Changing {
    SmallVector<Operation *> convolutions;
    double waste = 0;
  };
  llvm::MapVector<std::pair<Value, unsigned>, Changing> changing; // by the convolutions' device
  for (Operation &op : llvm::make_early_inc_range(block)) {
    std::optional<ConvForm> form = ConvForm::of(&op);
    if (!form || !isHere(&op) || !form->isWorthTiles() || form->filter.row == 1 || form->filter.channel == 1) continue;
    Value filter = op.getOperand(1);
    if (!filter.getDefiningOp<ir::ConstantOp>()) {
      if (!elementOf(filter).isF32()) continue; // tiles are of f32
      Changing &same = changing[{filter, kernel::deviceOf(&op)}];
      same.convolutions.push_back(&op);
      same.waste += wasteOf(*form, filter);
      continue;
    }
    ElementsAttr attribute = filterConstant(&op);
    if (!attribute || ir::ConstantView(attribute).isSplat()) continue;
    Value &stored = made[isFirstOfRows(&op)][filter];
    if (!stored) stored = withRowsInside(&op, attribute);
    setView(&op, stored, isFirstOfRows(&op));
  }
  // In a branch or loop one block would turn them round.
  if (!isa<func::FuncOp>(block.getParentOp())) return;
  for (auto &[place, same] : changing) {
    auto [filter, device] = place;
    if (4 * same.waste < 5 * costOfTranspose(filter)) continue;
    Operation *first = same.convolutions.front();
    OpBuilder b(first);
    int64_t rank = shapeOf(filter).size();
    SmallVector<int64_t> permutation;
    for (int64_t d = 2; d < rank; ++d) permutation.push_back(d);
    permutation.append({1, 0});
    auto stored = ir::TransposeOp::create(b, first->getLoc(), filter, b.getDenseI64ArrayAttr(permutation));
    kernel::setDevice(stored, device);
    for (Operation *op : same.convolutions) setView(op, stored, /*isFirstInner=*/true);
  }
}
