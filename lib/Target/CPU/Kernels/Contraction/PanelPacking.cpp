#include "lib/Target/CPU/Kernels/Contraction/PanelPacking.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

void sprig::cpu::turnLines(KernelBuilder &k, SmallVectorImpl<Value> &lines) {
  // A butterfly: each stage swaps the off-diagonal blocks of lines that are `distance` apart.
  for (int64_t distance = kLanes / 2; distance >= 1; distance /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      bool upper = lane & distance;
      low.push_back(upper ? kLanes + lane - distance : lane);
      high.push_back(upper ? kLanes + lane : lane + distance);
    }
    for (int64_t i = 0; i < kLanes; ++i) {
      if (i & distance) continue;
      Value a = lines[i], b = lines[i + distance];
      lines[i] = vector::ShuffleOp::create(k.b, k.loc, a, b, low);
      lines[i + distance] = vector::ShuffleOp::create(k.b, k.loc, a, b, high);
    }
  }
}

// Elements move as they are stored: no conversion.
static Value readLine(KernelBuilder &k, Value buffer, Value offset, VectorType type, int64_t count) {
  if (count == kLanes) return vector::LoadOp::create(k.b, k.loc, type, buffer, offset);
  return vector::MaskedLoadOp::create(k.b, k.loc, type, buffer, offset, k.mask(count),
                                      k.zero(type.getElementType(), kLanes));
}

void sprig::cpu::emitPanel(KernelBuilder &k, const PanelSource &source, int64_t columns, Type elementType, Value panel,
                           Value offset, PanelEnd end, llvm::function_ref<Value(Value)> change) {
  auto type = VectorType::get({kLanes}, storageType(elementType));
  Value zero = k.zero(type.getElementType(), kLanes);
  int64_t halves = columns <= kLanes && end == PanelEnd::open ? 1 : 2;
  auto lanesOf = [&](int64_t half) { return std::clamp<int64_t>(columns - half * kLanes, 0, kLanes); };
  auto writeRow = [&](Value row, int64_t half, Value line) {
    Value at = k.add(k.add(offset, k.mul(row, kPanelWidth)), half * kLanes);
    vector::StoreOp::create(k.b, k.loc, change ? change(line) : line, panel, at);
  };

  if (source.columnStride == 1) {
    k.loop(k.index(0), k.index(source.depth), 1, [&](Value row) {
      Value from = k.add(source.base, k.mul(row, source.depthStride));
      for (int64_t half = 0; half < halves; ++half)
        writeRow(row, half,
                 lanesOf(half) ? readLine(k, source.buffer, k.add(from, half * kLanes), type, lanesOf(half)) : zero);
    });
    return;
  }

  // Columns are contiguous in memory: blocks of 16 by 16 turn in registers.
  auto block = [&](Value first, int64_t rows) {
    for (int64_t half = 0; half < halves; ++half) {
      SmallVector<Value> lines;
      for (int64_t j = 0; j < kLanes; ++j) {
        Value from = k.add(k.add(source.base, first), (half * kLanes + j) * source.columnStride);
        lines.push_back(j < lanesOf(half) ? readLine(k, source.buffer, from, type, rows) : zero);
      }
      if (lanesOf(half)) turnLines(k, lines);
      for (int64_t i = 0; i < rows; ++i) writeRow(k.add(first, i), half, lines[i]);
    }
  };
  int64_t whole = source.depth / kLanes * kLanes;
  k.loop(k.index(0), k.index(whole), kLanes, [&](Value first) { block(first, kLanes); });
  if (whole < source.depth) block(k.index(whole), source.depth - whole);
}
