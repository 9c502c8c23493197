#include "lib/Target/CPU/Kernels/Builder/TileRanges.h"
#include "dialects/Interfaces/OpInterfaces.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

// As many leading dimensions of the space as lie evenly in the buffer count; tiles that differ in the others alone
// share a range.
std::optional<TileRange> TileRanges::rangeOf(ArrayRef<TileStep> steps, Type tensor) const {
  auto type = cast<RankedTensorType>(tensor);
  for (size_t count = steps.size(); count > 0; --count) {
    int64_t step = 0, span = 0, places = 1, per = 1;
    bool isEven = true;
    for (size_t d = count; d-- > 0;) {
      if (space[d] == 1) continue;
      if (step == 0) step = span = steps[d].stride;
      isEven &= step > 0 && steps[d].stride == span;
      span *= space[d];
      places *= space[d];
    }
    if (!isEven || step == 0) continue;
    for (size_t d = count; d < space.size(); ++d) per *= space[d];
    const TileStep &tile = steps[count - 1];
    // The larger half of odd rows, or one with a halo, still says where threads meet.
    bool isNarrow = 4 * tile.extent <= 3 * type.getNumElements();
    // A window may lie in the padding as a whole.
    bool isInside = tile.begin + tile.extent > 0 && tile.begin + (places - 1) * step < type.getNumElements();
    if (!isNarrow || !isInside || per > std::numeric_limits<uint32_t>::max()) return std::nullopt;
    int64_t bytes = storageBytes(type.getElementType());
    return TileRange{0, tile.begin * bytes, step * bytes, tile.extent * bytes, per};
  }
  return std::nullopt;
}

void TileRanges::operand(unsigned index, ArrayRef<SmallVector<TileStep>> reads) {
  SmallVector<TileRange> own;
  for (const SmallVector<TileStep> &steps : reads) {
    std::optional<TileRange> range = rangeOf(steps, dispatch->getOperand(index).getType());
    if (!range) return;
    range->operand = index;
    if (!llvm::is_contained(own, *range)) own.push_back(*range);
  }
  // A few each: more say little.
  constexpr size_t kMost = 4;
  if (own.size() <= kMost) ranges.append(own);
}

void TileRanges::operands(llvm::function_ref<SmallVector<TileStep>(OpOperand &)> stepsOf) {
  for (BlockArgument argument : dispatch->getRegion(0).getArguments()) {
    SmallVector<SmallVector<TileStep>> reads;
    for (OpOperand &use : argument.getUses()) reads.push_back(stepsOf(use));
    operand(argument.getArgNumber(), reads);
  }
}

void TileRanges::result(unsigned index, ArrayRef<TileStep> steps) {
  std::optional<TileRange> range = rangeOf(steps, dispatch->getResult(index).getType());
  if (!range) return;
  range->operand = dispatch->getNumOperands() + index;
  ranges.push_back(*range);
}

SmallVector<TileRange> TileRanges::take() {
  llvm::stable_sort(ranges, [](const TileRange &a, const TileRange &b) { return a.operand < b.operand; });
  return std::move(ranges);
}
