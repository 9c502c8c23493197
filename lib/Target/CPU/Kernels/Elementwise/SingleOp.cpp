#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

KernelPlan sprig::cpu::planOfSlices(kernel::DispatchOp dispatch, const AxisView &operand) {
  KernelPlan plan;
  plan.tiles = operand.inner == 0 ? 0 : operand.outer;
  if (plan.tiles == 0) return plan;
  auto slices = [&](Value value) -> SmallVector<TileStep> {
    int64_t size = cast<RankedTensorType>(value.getType()).getNumElements() / operand.outer;
    return {{size, 0, size}};
  };
  TileRanges ranges(dispatch, {operand.outer});
  ranges.operands([&](OpOperand &use) { return slices(use.get()); });
  for (auto [index, result] : llvm::enumerate(dispatch->getResults())) ranges.result(index, slices(result));
  plan.ranges = ranges.take();
  return plan;
}

void sprig::cpu::forVectors(KernelBuilder &k, int64_t length, llvm::function_ref<void(Value, Value)> body) {
  int64_t whole = length / kLanes * kLanes;
  k.loop(k.index(0), k.index(whole), kLanes, [&](Value offset) { body(offset, Value()); });
  if (whole < length) body(k.index(whole), k.mask(length - whole));
}

void sprig::cpu::copyRow(KernelBuilder &k, Value from, Value fromOffset, Value to, Value toOffset, int64_t length) {
  Type element = cast<MemRefType>(from.getType()).getElementType();
  auto type = VectorType::get({kLanes}, element);
  auto copy = [&](Value offset, Value mask) {
    Value source = k.add(fromOffset, offset), target = k.add(toOffset, offset);
    if (!mask) {
      vector::StoreOp::create(k.b, k.loc, vector::LoadOp::create(k.b, k.loc, type, from, source), to, target);
      return;
    }
    Value loaded = vector::MaskedLoadOp::create(k.b, k.loc, type, from, source, mask, k.zero(element, kLanes));
    vector::MaskedStoreOp::create(k.b, k.loc, to, target, mask, loaded);
  };
  if (length == 1) {
    memref::StoreOp::create(k.b, k.loc, memref::LoadOp::create(k.b, k.loc, from, fromOffset), to, toOffset);
    return;
  }
  constexpr int64_t kUnroll = 4;
  int64_t blocks = length / (kUnroll * kLanes) * (kUnroll * kLanes);
  k.loop(k.index(0), k.index(blocks), kUnroll * kLanes, [&](Value offset) {
    SmallVector<Value> values;
    for (int64_t u = 0; u < kUnroll; ++u)
      values.push_back(vector::LoadOp::create(k.b, k.loc, type, from, k.add(k.add(fromOffset, offset), u * kLanes)));
    for (int64_t u = 0; u < kUnroll; ++u)
      vector::StoreOp::create(k.b, k.loc, values[u], to, k.add(k.add(toOffset, offset), u * kLanes));
  });
  forVectors(k, length - blocks, [&](Value offset, Value mask) { copy(k.add(offset, blocks), mask); });
}
