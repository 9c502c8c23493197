#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "lib/Target/CPU/Kernels/Contraction/DotProduct.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

/// Vector registers that hold kLanes values of the type that a contraction computes in.
static int64_t registersPerVector(const CpuArch &target, Type elementType) {
  int64_t bytes = kLanes * ((computeType(elementType).getIntOrFloatBitWidth() + 7) / 8);
  return std::max<int64_t>(1, bytes / target.vectorBytes);
}

int64_t sprig::cpu::maxTileRows(const CpuArch &target, Type elementType, int64_t vectors, int64_t rowStride,
                                int64_t interleave) {
  int64_t width = vectors * registersPerVector(target, elementType);
  // One row of accumulators per row, one of the right side's values, one register for the left side's; both sides in
  // two parts where dot products are emulated.
  int64_t parts = DotProduct::registersOf(target, interleave);
  int64_t rows = (target.vectorRegisters - parts - parts * width) / width;
  if (target.tileRows) return std::clamp<int64_t>(rows, 1, target.tileRows);
  // Rows a multiple of 4096 bytes apart fall into one set of a first-level cache, which has 8 or 12 ways.
  bool collide = rowStride > 0 && rowStride * storageBytes(elementType) % 4096 == 0;
  return std::clamp<int64_t>(rows, 1, collide ? 6 : 14);
}

int64_t sprig::cpu::chooseTileVectors(const CpuArch &target, Type elementType, int64_t rows) {
  if (target.tileVectors) return target.tileVectors;
  int64_t wide = registersPerVector(target, elementType);
  if (wide >= 4) return 1;
  if (wide >= 2) return rows >= 3 ? 1 : rows == 2 ? 2 : 4;
  return rows >= 5 ? 2 : rows >= 3 ? 4 : 8;
}

SmallVector<Value> sprig::cpu::zeroTile(KernelBuilder &k, Type elementType, int64_t rows, int64_t vectors) {
  return SmallVector<Value>(rows * vectors, k.zero(computeType(elementType), kLanes));
}

SmallVector<Value> sprig::cpu::zeroTile(KernelBuilder &k, Type elementType, int64_t rows, ArrayRef<int64_t> lanes) {
  SmallVector<Value> row, tile;
  for (int64_t count : lanes) row.push_back(k.zero(computeType(elementType), count));
  for (int64_t i = 0; i < rows; ++i) tile.append(row);
  return tile;
}

Value sprig::cpu::firstLanes(KernelBuilder &k, Value vector, int64_t lanes) {
  if (cast<VectorType>(vector.getType()).getNumElements() == lanes) return vector;
  return vector::ExtractStridedSliceOp::create(k.b, k.loc, vector, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{lanes},
                                               ArrayRef<int64_t>{1});
}

SmallVector<int64_t> sprig::cpu::vectorLanes(int64_t columns) {
  SmallVector<int64_t> lanes(columns / kLanes, kLanes);
  if (int64_t rest = columns % kLanes) lanes.push_back(rest <= kLanes / 2 ? kLanes / 2 : kLanes);
  return lanes;
}

Value sprig::cpu::laneMask(KernelBuilder &k, int64_t valid, int64_t lanes) {
  return valid < lanes ? k.mask(valid, lanes) : Value();
}

TileColumns sprig::cpu::tileColumns(KernelBuilder &k, Value first, int64_t vectors, int64_t valid) {
  TileColumns made;
  made.lanes = vectorLanes(std::min(valid, vectors * kLanes));
  for (int64_t j = 0; j < vectors; ++j) {
    made.values.push_back(k.add(first, j * kLanes));
    made.masks.push_back(laneMask(k, valid - j * kLanes, made.lanes[j]));
  }
  return made;
}

// Two factors of the left side that are there as f32.
static DotProduct::Side wideFactors(KernelBuilder &k, const ContractionLoop &loop, Value at, int64_t valid,
                                    int64_t lanes) {
  auto factor = [&](int64_t index) { return k.splat(k.load(loop.left, k.add(at, index), k.b.getF32Type()), lanes); };
  return {factor(0), valid > 1 ? factor(1) : k.zero(k.b.getF32Type(), lanes)};
}

// A step over interleaved rows, of which the left side has `valid`.
static SmallVector<Value> emitDotStep(KernelBuilder &k, const ContractionLoop &loop, Value step, int64_t valid,
                                      ValueRange carried) {
  DotProduct dot(k, loop.interleave);
  int64_t vectors = loop.rightOffsets.size(), rows = carried.size() / vectors;
  Value right = k.add(loop.rightBase, k.mul(step, loop.rightStep));
  Value left = k.add(loop.leftBase, k.mul(step, loop.leftStep));
  SmallVector<DotProduct::Side> columns;
  for (int64_t j = 0; j < vectors; ++j)
    columns.push_back(dot.right(loop.right, k.add(right, loop.rightOffsets[j]), lanesOf(carried[j])));
  SmallVector<Value> results;
  for (int64_t i = 0; i < rows; ++i) {
    Value at = k.add(left, i * loop.leftRowStride);
    Value word = loop.isWide ? Value() : dot.word(loop.left, at, valid);
    llvm::SmallDenseMap<int64_t, DotProduct::Side> byLanes;
    for (int64_t j = 0; j < vectors; ++j) {
      int64_t lanes = lanesOf(carried[j]);
      if (!byLanes.count(lanes))
        byLanes[lanes] = loop.isWide ? wideFactors(k, loop, at, valid, lanes) : dot.left(word, lanes);
      results.push_back(dot.accumulate(byLanes[lanes], columns[j], carried[i * vectors + j]));
    }
  }
  return results;
}

// The multiply-adds of one step of k.
static SmallVector<Value> emitStep(KernelBuilder &k, const ContractionLoop &loop, Value step, ValueRange carried) {
  if (loop.interleave > 1) return emitDotStep(k, loop, step, loop.interleave, carried);
  int64_t vectors = loop.rightOffsets.size(), rows = carried.size() / vectors;
  Value right = k.add(loop.rightBase, k.mul(step, loop.rightStep));
  Value left = k.add(loop.leftBase, k.mul(step, loop.leftStep));
  SmallVector<Value> columns;
  for (int64_t j = 0; j < vectors; ++j)
    columns.push_back(k.loadVector(loop.right, k.add(right, loop.rightOffsets[j]), loop.elementType,
                                   loop.rightMasks.empty() ? Value() : loop.rightMasks[j], lanesOf(carried[j])));
  SmallVector<Value> results;
  for (int64_t i = 0; i < rows; ++i) {
    Value scalar = k.load(loop.left, k.add(left, i * loop.leftRowStride), loop.elementType);
    Value row = k.splat(scalar), narrow;
    for (int64_t j = 0; j < vectors; ++j) {
      int64_t lanes = lanesOf(carried[j]);
      if (lanes != kLanes && !narrow) narrow = k.splat(scalar, lanes);
      results.push_back(k.multiplyAdd(lanes == kLanes ? row : narrow, columns[j], carried[i * vectors + j]));
    }
  }
  return results;
}

// One chain of multiply-adds over the steps [begin, end), and over the tail if asked for.
static SmallVector<Value> emitChain(KernelBuilder &k, const ContractionLoop &loop, Value begin, Value end,
                                    ValueRange accumulators, bool withTail = false) {
  return DotProduct(k, loop.interleave).withDenormals(accumulators, [&](ValueRange sums) {
    SmallVector<Value> whole =
        k.loop(begin, end, 1, sums, [&](Value step, ValueRange carried) { return emitStep(k, loop, step, carried); });
    return withTail && loop.tail ? emitDotStep(k, loop, end, loop.tail, whole) : whole;
  });
}

static void fetchRow(KernelBuilder &k, const EpilogueFetch &fetch, Value row) {
  constexpr int64_t kLine = 64;
  Value begin = k.add(fetch.base, k.mul(row, fetch.rowStride));
  for (Value buffer : fetch.buffers) {
    int64_t step = kLine / storageBytes(cast<MemRefType>(buffer.getType()).getElementType());
    for (int64_t column = 0; column < fetch.columns; column += step)
      memref::PrefetchOp::create(k.b, k.loc, buffer, k.add(begin, column), /*isWrite=*/false, /*localityHint=*/3,
                                 /*isDataCache=*/true);
  }
}

// The same chain; its first steps are taken a few at a time, with the fetches of one row before each such group.
static SmallVector<Value> emitFetchingChain(KernelBuilder &k, const ContractionLoop &loop, int64_t count,
                                            ValueRange accumulators) {
  constexpr int64_t kMostSteps = 4;
  int64_t rows = accumulators.size() / loop.rightOffsets.size();
  int64_t steps = std::clamp<int64_t>(count / rows, 1, kMostSteps), fetching = std::min(rows, count / steps) * steps;
  SmallVector<Value> sums =
      k.loop(k.index(0), k.index(fetching), steps, accumulators, [&](Value step, ValueRange carried) {
        fetchRow(k, *loop.fetch, k.div(step, steps));
        return emitChain(k, loop, step, k.add(step, steps), carried);
      });
  return emitChain(k, loop, k.index(fetching), k.index(count), sums);
}

SmallVector<Value> sprig::cpu::emitContraction(KernelBuilder &k, const ContractionLoop &loop, ValueRange accumulators) {
  std::optional<int64_t> count = getConstantIntValue(OpFoldResult(loop.count));
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(accumulators.front().getType()));
  if (loop.fetch && count && *count <= kLongestChain) return emitFetchingChain(k, loop, *count, accumulators);
  bool isShort = loop.isPart || !count || *count * loop.interleave + loop.tail <= kLongestChain;
  Value first = loop.firstStep ? loop.firstStep : k.index(0), end = loop.endStep ? loop.endStep : loop.count;
  if (isShort || !isFloat) return emitChain(k, loop, first, end, accumulators, /*withTail=*/true);
  // The rounding error of a chain grows with its length: long ones are cut at fixed points and their parts added in
  // order.
  SmallVector<Value> zeros;
  for (Value accumulator : accumulators)
    zeros.push_back(k.zero(getElementTypeOrSelf(accumulator.getType()), lanesOf(accumulator)));
  int64_t partSteps = kChainPart / loop.interleave;
  auto addPart = [&](Value begin, Value end, ValueRange totals, bool isLast) {
    SmallVector<Value> part = emitChain(k, loop, begin, end, zeros, isLast), sums;
    for (auto [total, value] : llvm::zip_equal(totals, part))
      sums.push_back(arith::AddFOp::create(k.b, k.loc, total, value));
    return sums;
  };
  int64_t whole = *count / partSteps * partSteps;
  Value firstPart = k.mul(k.div(first, partSteps), partSteps);
  SmallVector<Value> totals =
      k.loop(firstPart, k.min(end, k.index(whole)), partSteps, accumulators, [&](Value part, ValueRange t) {
        Value next = k.add(part, partSteps);
        return addPart(loop.firstStep ? k.max(part, first) : part, loop.endStep ? k.min(next, end) : next, t, false);
      });
  if (whole == *count && !loop.tail) return totals;
  return addPart(k.max(k.index(whole), first), end, totals, true);
}

RowSplit sprig::cpu::splitRows(int64_t length, int64_t most) {
  if (length <= 0) return {};
  int64_t tiles = (length + most - 1) / most, rows = (length + tiles - 1) / tiles;
  int64_t smaller = tiles * rows - length;
  return {rows, tiles - smaller, smaller};
}

void sprig::cpu::forRowTiles(KernelBuilder &k, Value begin, RowSplit split,
                             llvm::function_ref<void(Value first, int64_t rows)> body) {
  Value middle = k.add(begin, split.count * split.rows);
  Value end = k.add(middle, split.smallerCount * (split.rows - 1));
  auto tiles = [&](Value from, Value to, int64_t count, int64_t rows) {
    if (count == 1)
      body(from, rows);
    else if (count > 1)
      k.loop(from, to, rows, [&](Value first) { body(first, rows); });
  };
  tiles(begin, middle, split.count, split.rows);
  tiles(middle, end, split.smallerCount, split.rows - 1);
}
