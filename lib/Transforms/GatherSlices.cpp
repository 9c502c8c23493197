#include "lib/Transforms/GatherSlices.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"
#include "llvm/ADT/MapVector.h"
#include <cstring>
#include <numeric>

using namespace mlir;
using namespace sprig;

// Fewer slices are better read in place.
static constexpr size_t kManySlices = 64;

namespace {
/// Slices of one value that are equal but for their starts.
struct SliceGroup {
  SmallVector<ir::SliceOp> slices;
  /// Along which starts differ; -1: along none yet, -2: along several.
  int64_t axis = -1;

  void add(ir::SliceOp slice) {
    ArrayRef<int64_t> starts = slice.getStarts();
    if (!slices.empty())
      for (auto [dim, start, first] : llvm::enumerate(starts, slices.front().getStarts()))
        if (start != first) axis = axis == -1 || axis == int64_t(dim) ? int64_t(dim) : -2;
    slices.push_back(slice);
  }
  bool isWorthGathers() {
    ir::SliceOp first = slices.front();
    return slices.size() > kManySlices && axis >= 0 && (first.getSteps()[axis] == 1 || first.getSizes()[axis] == 1);
  }
  void replace();

private:
  Value restOf(OpBuilder &b, Location loc);
};
} // namespace

static Value indicesOf(OpBuilder &b, Location loc, int64_t first, int64_t count) {
  SmallVector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  std::vector<char> bytes(numbers.size() * sizeof(int64_t));
  if (count) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return ir::ConstantOp::create(b, loc,
                                ir::makeConstant(RankedTensorType::get({count}, b.getI64Type()), std::move(bytes)));
}

// What all slices are of, whole along their axis.
Value SliceGroup::restOf(OpBuilder &b, Location loc) {
  ir::SliceOp first = slices.front();
  ArrayRef<int64_t> shape = tensorOf(first.getOperand()).getShape();
  SmallVector<int64_t> starts(first.getStarts()), sizes(first.getSizes()), steps(first.getSteps());
  starts[axis] = 0, sizes[axis] = shape[axis], steps[axis] = 1;
  if (ArrayRef(sizes) == shape && llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    return first.getOperand();
  return ir::SliceOp::create(b, loc, first.getOperand(), starts, sizes, steps);
}

// Slices that are cut at multiples of their size are elements of a dimension that counts them; the elements of others
// are picked one by one.
void SliceGroup::replace() {
  ir::SliceOp front = slices.front();
  OpBuilder b(front);
  Value rest = restOf(b, front.getLoc());
  SmallVector<int64_t> shape(tensorOf(rest).getShape());
  int64_t size = front.getSizes()[axis];
  bool isCut = size > 0 && shape[axis] % size == 0 &&
               llvm::all_of(slices, [&](ir::SliceOp slice) { return slice.getStarts()[axis] % size == 0; });
  if (isCut && size > 1) {
    shape[axis] /= size;
    shape.insert(shape.begin() + axis + 1, size);
    rest = ir::ReshapeOp::create(b, front.getLoc(), tensorOf(rest).clone(shape), rest);
  }
  unsigned device = kernel::deviceOf(front);
  for (ir::SliceOp slice : slices) {
    b.setInsertionPoint(slice);
    int64_t start = slice.getStarts()[axis];
    Value indices = isCut ? indicesOf(b, slice.getLoc(), start / size, 1) : indicesOf(b, slice.getLoc(), start, size);
    auto gather = ir::GatherOp::create(b, slice.getLoc(), rest, indices, axis);
    kernel::setDevice(gather, device);
    Value result = gather;
    if (result.getType() != slice.getType()) result = ir::ReshapeOp::create(b, slice.getLoc(), slice.getType(), result);
    slice.getResult().replaceAllUsesWith(result);
    slice.erase();
  }
}

void sprig::gatherSlices(Block &block) {
  using Form = std::tuple<Value, Type, Attribute, unsigned>; // operand, result, steps, device
  llvm::MapVector<Form, SliceGroup> groups;
  for (auto slice : block.getOps<ir::SliceOp>())
    groups[{slice.getOperand(), slice.getType(), slice.getStepsAttr(), kernel::deviceOf(slice)}].add(slice);
  for (auto &[form, group] : groups)
    if (group.isWorthGathers()) group.replace();
}
