#include "dialects/NN/Select.h"
#include "dialects/Interfaces/TensorTypes.h"

using namespace mlir;

namespace sprig::ir {

std::optional<int64_t> selectedAxis(SliceOp op) {
  std::optional<int64_t> axis;
  for (auto [i, size, whole] : llvm::enumerate(op.getSizes(), shapeOf(op.getOperand()))) {
    if (size == whole && (size <= 1 || op.getSteps()[i] == 1)) continue;
    if (size != 1 || axis) return std::nullopt;
    axis = int64_t(i);
  }
  return axis;
}

Value select(OpBuilder &b, Location loc, Value value, int64_t axis, int64_t index) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> starts(shape.size(), 0), sizes(shape), steps(shape.size(), 1);
  starts[axis] = index;
  sizes[axis] = 1;
  return SliceOp::create(b, loc, value, starts, sizes, steps);
}

} // namespace sprig::ir
