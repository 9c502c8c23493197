#include "lib/Target/CPU/Kernels/Elementwise/LoopEvaluator.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

Value LoopEvaluator::stored(Value value, ArrayRef<Coordinate> position) {
  if (auto rows = provided.find(value); rows != provided.end()) {
    Value row = k.add(rows->second.firstRow, blockRow);
    return k.loadVector(rows->second.buffer, k.add(k.mul(row, rows->second.stride), position.back().base),
                        elementOf(value), {}, lanes);
  }
  if (auto it = group.kept.find(value);
      it != group.kept.end() && group.levelNeeded(value) + 1 < level && !isUniform(position))
    return k.loadVector(scratchRow(value), scratchIndex(position), elementOf(value), {}, lanes);
  return {};
}

Value LoopEvaluator::scratchRow(Value value) {
  int64_t elements = group.blockRows ? group.blockRows * group.keptStride()
                                     : group.reducedCount() * (group.innerReduced ? 1 : lanes) + kLanes;
  return k.scratchBuffer(group.kept.lookup(value), MemRefType::get({elements}, storageType(elementOf(value))));
}

Value LoopEvaluator::scratchIndex(ArrayRef<Coordinate> position) {
  Value index = zero;
  for (auto [run, coordinate] : llvm::zip_equal(group.runs, position))
    if (run.reduced) index = k.add(k.mul(index, run.size), coordinate.base);
  if (blockRow) return k.add(k.mul(blockRow, group.keptStride()), index);
  return group.innerReduced ? index : k.mul(index, lanes);
}
