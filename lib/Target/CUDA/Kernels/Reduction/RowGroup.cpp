#include "lib/Target/CUDA/Kernels/Reduction/RowGroup.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/Kernels/ElementBuilder.h"
#include "lib/Target/Kernels/LoopSpace.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

std::optional<RowGroup> RowGroup::analyze(kernel::DispatchOp dispatch) {
  Block &body = dispatch->getRegion(0).front();
  auto ops = llvm::map_to_vector(body.without_terminator(), [](Operation &op) { return &op; });
  return analyze(ops, body.getTerminator()->getOperands());
}

std::optional<RowGroup> RowGroup::analyze(ArrayRef<Operation *> ops, ValueRange yielded) {
  RowGroup group;
  group.ops.assign(ops.begin(), ops.end());
  group.yielded.assign(yielded.begin(), yielded.end());
  if (!group.collect()) return std::nullopt;
  group.chooseParts();
  return group;
}

bool RowGroup::collect() {
  llvm::DenseSet<Operation *> members(ops.begin(), ops.end());
  for (Operation *op : ops)
    if (auto reduce = dyn_cast<ir::ReduceOp>(op)) reductions.push_back(reduce);
  if (reductions.empty()) return false;
  LoopSpace space;
  space.hasReduction = true;
  space.axes.assign(reductions[0].getAxes().begin(), reductions[0].getAxes().end());
  space.shape.assign(shapeOf(reductions[0].getOperand()).begin(), shapeOf(reductions[0].getOperand()).end());
  shape = space.shape;
  for (Operation *op : ops) {
    if (!space.takes(op, [&](Operation *other) { return members.contains(other); })) return false;
    int64_t needed = -1;
    for (Value operand : op->getOperands()) needed = std::max(needed, levelNeeded(operand));
    if (isa<ir::ReduceOp>(op)) levels = std::max(levels, ++needed + 1);
    // What moves elements would read the sums of other rows.
    if (needed >= 0 && (isLoopGenerator(op) || isa<ir::TransposeOp, ir::SliceOp>(op))) return false;
    levelOf[op->getResult(0)] = needed;
  }
  for (auto [d, size] : llvm::enumerate(shape)) {
    bool isReduced = llvm::is_contained(space.axes, static_cast<int64_t>(d));
    (isReduced ? reducedDims : keptDims).push_back(d);
    (isReduced ? length : rows) *= size;
  }
  return llvm::all_of(yielded, [&](Value value) { return space.mayYield(value); });
}

void RowGroup::chooseParts() {
  alongRows = !reducedDims.empty() && reducedDims.back() == static_cast<int64_t>(shape.size()) - 1;
  int64_t most = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(length, 1))));
  if (alongRows) {
    // A warp a row; of long rows a block.
    constexpr int64_t kLongRow = 256;
    parts = length > kLongRow ? kThreads : std::min(most, CudaArch::kWarp);
    return;
  }
  // Neighbouring threads read neighbouring rows; several share one where there are few rows, and long ones.
  constexpr int64_t kManyRows = 1 << 14, kWorthSharing = kLongestLoneRow + 1;
  // All partial results of a block lie in static shared memory, eight bytes each at most.
  bool fits = static_cast<int64_t>(reductions.size()) * kThreads * 8 <= CudaArch::kStaticSharedPerBlock;
  if (rows < kManyRows && length >= kWorthSharing && fits) parts = length >= 16 * kWorthSharing ? 32 : 8;
}

int64_t RowGroup::levelNeeded(Value value) const {
  auto it = levelOf.find(value);
  return it == levelOf.end() ? -1 : it->second;
}

bool RowGroup::isRow(Value value) const {
  if (value.getDefiningOp<ir::ReduceOp>()) return true;
  ArrayRef<int64_t> own = shapeOf(value);
  if (own.size() > shape.size()) return false;
  int64_t missing = shape.size() - own.size();
  return llvm::all_of(reducedDims, [&](int64_t dim) { return dim < missing || own[dim - missing] == 1; });
}

GpuPlan RowGroup::plan() const { return {static_cast<int64_t>(llvm::divideCeil(rows, rowsPerBlock())), kThreads}; }
