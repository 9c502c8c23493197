#include "lib/Target/CPU/Kernels/Contraction/WideRows.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

MemRefType WideRows::type(KernelBuilder &k) { return MemRefType::get({kMostRows * kStride}, k.b.getF32Type()); }

void WideRows::widen(const ContractionLoop &loop, Value first, int64_t length, int64_t rows) {
  Type f32 = k.b.getF32Type(), bf16 = k.b.getBF16Type();
  int64_t whole = length / kLanes * kLanes;
  auto move = [&](Value column, Value mask) {
    for (int64_t i = 0; i < rows; ++i) {
      Value at = k.add(k.add(loop.leftBase, k.add(first, i * loop.leftRowStride)), column);
      k.store(k.loadVector(loop.left, at, bf16, mask), wide, k.add(column, i * kStride), f32);
    }
  };
  k.loop(k.index(0), k.index(whole), kLanes, [&](Value column) { move(column, Value()); });
  if (whole < length) move(k.index(whole), k.mask(length - whole));
}

SmallVector<Value> WideRows::contract(const ContractionLoop &loop, int64_t depth, int64_t rows,
                                      ValueRange accumulators) {
  auto part = [&](Value first, int64_t length, ValueRange carried) {
    widen(loop, first, length, rows);
    ContractionLoop of = loop;
    of.left = wide;
    of.leftBase = k.index(0);
    of.leftRowStride = kStride;
    of.isWide = of.isPart = true;
    of.rightBase = k.add(loop.rightBase, k.mul(k.div(first, loop.interleave), loop.rightStep));
    of.takeSteps(k.index(length / loop.interleave), loop.interleave, length % loop.interleave);
    return emitContraction(k, of, carried);
  };
  int64_t whole = depth / kPart * kPart;
  SmallVector<Value> sums = k.loop(k.index(0), k.index(whole), kPart, accumulators,
                                   [&](Value first, ValueRange carried) { return part(first, kPart, carried); });
  return whole < depth ? part(k.index(whole), depth - whole, sums) : sums;
}
