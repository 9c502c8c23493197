#include "lib/Target/CPU/Kernels/Contraction/CodedPanels.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "lib/Target/CPU/Kernels/Contraction/DotProduct.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

Value CodedPanels::wordsOf(const Columns &columns, unsigned vector, Value word) const {
  int64_t lanes = columns.lanes[vector], half = columns.first + vector;
  Value at = k.add(k.mul(k.add(columns.panel, half / 2), places.size()), half % 2 * kLanes * 4);
  auto bytes = VectorType::get({lanes * 4}, k.b.getI8Type());
  Value loaded = vector::LoadOp::create(k.b, k.loc, bytes, codes, k.add(at, k.mul(word, kPanelWidth * 4)));
  return vector::BitCastOp::create(k.b, k.loc, VectorType::get({lanes}, k.b.getI32Type()), loaded);
}

std::pair<Value, Value> CodedPanels::nibblesOf(Value words) const {
  int64_t lanes = cast<VectorType>(words.getType()).getNumElements();
  Value mask = k.constant(k.b.getI32Type(), 0x0f0f0f0f, lanes);
  Value upper = arith::ShRUIOp::create(k.b, k.loc, words, k.constant(k.b.getI32Type(), 4, lanes));
  return {arith::AndIOp::create(k.b, k.loc, words, mask), arith::AndIOp::create(k.b, k.loc, upper, mask)};
}

Value CodedPanels::placeOf(const Columns &columns, unsigned vector, Value group, int64_t groups) const {
  int64_t half = columns.first + vector;
  Value panel = k.add(columns.panel, half / 2);
  return k.add(k.mul(k.add(k.mul(panel, groups), group), kPanelWidth), half % 2 * kLanes);
}

Value CodedPanels::pointsAt(Value points, Value at, int64_t lanes) const {
  Value bytes = vector::LoadOp::create(k.b, k.loc, VectorType::get({lanes}, k.b.getI8Type()), points, at);
  return arith::ExtUIOp::create(k.b, k.loc, VectorType::get({lanes}, k.b.getI32Type()), bytes);
}

NarrowPanels::NarrowPanels(KernelBuilder &k, kernel::MatmulNarrowOp op)
    : UnpackedPanels(k, {op.getLhs().getType().getShape().back(), int64_t(op.getBits())}),
      groups(op.getScales().getType().getDimSize(1)), group(op.getGroup()),
      stretch(groups > 1 ? std::gcd(group, kChainPart) : kChainPart), zero(op.getZero()) {
  codes = k.flatOperand(op.getCodes());
  scales = k.flatOperand(op.getScales());
  if (op.getZeros()) zeroPoints = k.flatOperand(op.getZeros());
}

// The last bit of an f32 of 2^23 counts ones, and bit `place` of an f32 of 2^(23 - place) does. So a mask that leaves a
// code where it lies in such a number adds the code to it, and the difference to that number and the zero point is what
// the code stands for: exactly.
static constexpr int kMantissa = 23, kBias = 127;
static int64_t offsetBits(int64_t place) { return (kBias + kMantissa - place) << kMantissa; }
static float offset(int64_t place) { return float(int64_t(1) << (kMantissa - place)); }

NarrowPanels::Scaling NarrowPanels::scalingOf(const Columns &columns, unsigned vector, Value groupIndex) const {
  int64_t lanes = columns.lanes[vector];
  Value at = placeOf(columns, vector, groupIndex, groups);
  Type f32 = k.b.getF32Type();
  Scaling scaling{k.loadVector(scales, at, f32, Value(), lanes), {}};
  Value points;
  if (zeroPoints)
    points = arith::SIToFPOp::create(k.b, k.loc, VectorType::get({lanes}, f32), pointsAt(zeroPoints, at, lanes));
  for (int64_t place = 0; place <= 16; place += 4) {
    if (!zeroPoints) {
      scaling.zeros.push_back(k.constant(k.b.getF32FloatAttr(offset(place) + float(zero)), lanes));
      continue;
    }
    Value base = k.constant(k.b.getF32FloatAttr(offset(place)), lanes);
    scaling.zeros.push_back(arith::AddFOp::create(k.b, k.loc, base, points));
  }
  return scaling;
}

Value NarrowPanels::number(Value words, int64_t place, const Scaling &scaling) const {
  int64_t lanes = cast<VectorType>(words.getType()).getDimSize(0), mask = ((int64_t(1) << places.bits) - 1) << place;
  Value code = arith::AndIOp::create(k.b, k.loc, words, k.constant(k.b.getI32Type(), mask, lanes));
  code = arith::OrIOp::create(k.b, k.loc, code, k.constant(k.b.getI32Type(), offsetBits(place), lanes));
  Value moved = vector::BitCastOp::create(k.b, k.loc, VectorType::get({lanes}, k.b.getF32Type()), code);
  Value difference = arith::SubFOp::create(k.b, k.loc, moved, scaling.zeros[place / 4]);
  return arith::MulFOp::create(k.b, k.loc, difference, scaling.scale);
}

SmallVector<Value> NarrowPanels::forWord(const Columns &columns, ArrayRef<Scaling> scalings, Value word, int64_t rows,
                                         ValueRange carried, Body body) const {
  // Codes that lie too high for a mantissa are moved down, by as much as leaves all of them in places of four bits.
  const int64_t down = places.bits == 4 ? 12 : 16;
  SmallVector<Value> words, moved;
  for (auto [j, lanes] : llvm::enumerate(columns.lanes)) {
    words.push_back(wordsOf(columns, unsigned(j), word));
    moved.push_back(arith::ShRUIOp::create(k.b, k.loc, words.back(), k.constant(k.b.getI32Type(), down, lanes)));
  }
  SmallVector<Value> results(carried);
  Value first = k.mul(word, places.wordRows());
  for (int64_t row = 0; row < rows; ++row) {
    int64_t place = row % 4 * 8 + places.shiftOf(row);
    bool isHigh = place + places.bits > kMantissa;
    SmallVector<Value> numbers;
    for (unsigned j = 0; j < words.size(); ++j)
      numbers.push_back(number(isHigh ? moved[j] : words[j], isHigh ? place - down : place, scalings[j]));
    results = body(k.add(first, row), numbers, results);
  }
  return results;
}

SmallVector<Value> NarrowPanels::forStretch(const Columns &columns, Value index, int64_t words, int64_t tail,
                                            ValueRange carried, Body body) const {
  Value groupIndex = groups > 1 ? k.div(k.mul(index, stretch), group) : k.index(0);
  SmallVector<Scaling> scalings;
  for (unsigned j = 0; j < columns.lanes.size(); ++j) scalings.push_back(scalingOf(columns, j, groupIndex));
  Value begin = k.mul(index, stretch / places.wordRows()), end = k.add(begin, words);
  SmallVector<Value> results = k.loop(begin, end, 1, carried, [&](Value word, ValueRange values) {
    return forWord(columns, scalings, word, places.wordRows(), values, body);
  });
  return tail ? forWord(columns, scalings, end, tail, results, body) : results;
}

SmallVector<Value> NarrowPanels::forRows(const Columns &columns, Value begin, Value end, bool withRest,
                                         ValueRange carried, Body body) const {
  SmallVector<Value> results = k.loop(begin, end, 1, carried, [&](Value index, ValueRange values) {
    return forStretch(columns, index, stretch / places.wordRows(), 0, values, body);
  });
  int64_t rest = places.depth % stretch;
  if (!withRest || rest == 0) return results;
  int64_t words = rest / places.wordRows(), tail = rest % places.wordRows();
  return forStretch(columns, k.index(places.depth / stretch), words, tail, results, body);
}

SmallVector<Value> NarrowPanels::contract(Value left, Value leftBase, int64_t rows, const Columns &columns) const {
  Type f32 = k.b.getF32Type();
  SmallVector<Value> zeros = zeroTile(k, f32, rows, columns.lanes);
  auto chain = [&](Value begin, Value end, bool withRest) {
    return forRows(columns, begin, end, withRest, zeros, [&](Value row, ArrayRef<Value> numbers, ValueRange sums) {
      SmallVector<Value> results;
      for (int64_t i = 0; i < rows; ++i) {
        Value scalar = k.load(left, k.add(k.add(leftBase, row), i * places.depth), f32);
        for (auto [j, number] : llvm::enumerate(numbers))
          results.push_back(k.multiplyAdd(k.splat(scalar, columns.lanes[j]), number, sums[i * numbers.size() + j]));
      }
      return results;
    });
  };
  int64_t stretches = places.depth / stretch, perPart = kChainPart / stretch;
  if (places.depth <= kLongestChain) return chain(k.index(0), k.index(stretches), /*withRest=*/true);
  // The parts are cut as emitContraction cuts them.
  auto addPart = [&](Value begin, Value end, ValueRange totals, bool isLast) {
    SmallVector<Value> sums;
    for (auto [total, value] : llvm::zip_equal(totals, chain(begin, end, isLast)))
      sums.push_back(arith::AddFOp::create(k.b, k.loc, total, value));
    return sums;
  };
  int64_t whole = places.depth / kChainPart * perPart;
  SmallVector<Value> totals = k.loop(k.index(0), k.index(whole), perPart, zeros, [&](Value begin, ValueRange sums) {
    return addPart(begin, k.add(begin, perPart), sums, false);
  });
  return places.depth % kChainPart ? addPart(k.index(whole), k.index(stretches), totals, true) : totals;
}

MemRefType NarrowPanels::unpackedType() const {
  return MemRefType::get({places.depth * kPanelWidth}, k.b.getF32Type());
}

void NarrowPanels::unpack(Value panel, Value target) const {
  Columns both{panel, 0, {kLanes, kLanes}};
  forRows(both, k.index(0), k.index(places.depth / stretch), /*withRest=*/true, ValueRange(),
          [&](Value row, ArrayRef<Value> numbers, ValueRange) {
            for (auto [j, number] : llvm::enumerate(numbers))
              vector::StoreOp::create(k.b, k.loc, number, target, k.add(k.mul(row, kPanelWidth), int64_t(j) * kLanes));
            return SmallVector<Value>();
          });
}

NibblePanels::NibblePanels(KernelBuilder &k, kernel::MatmulPackedOp op)
    : UnpackedPanels(k, {cast<RankedTensorType>(op.getLhs().getType()).getShape().back(), 4}), lowest(*op.getLowest()) {
  codes = k.flatOperand(op.getPanels());
}

std::pair<Value, Value> NibblePanels::codesOf(const Columns &columns, unsigned vector, Value word) const {
  auto bytes = VectorType::get({columns.lanes[vector] * 4}, k.b.getI8Type());
  auto [low, high] = nibblesOf(wordsOf(columns, vector, word));
  return {vector::BitCastOp::create(k.b, k.loc, bytes, low), vector::BitCastOp::create(k.b, k.loc, bytes, high)};
}

bool NibblePanels::isHidden() const { return DotProduct::isNative(k.target, 4); }

Value NibblePanels::withLowest(Value codes) const {
  if (lowest == 0) return codes;
  int64_t lanes = cast<VectorType>(codes.getType()).getNumElements();
  return arith::AddIOp::create(k.b, k.loc, codes, k.constant(k.b.getI8Type(), lowest, lanes));
}

SmallVector<Value> NibblePanels::contract(Value left, Value leftBase, int64_t rows, const Columns &columns) const {
  DotProduct dot(k, /*factors=*/4);
  const size_t vectors = columns.lanes.size();
  const int64_t lanesOfAll = columns.lanes.front(); // of the sum that columns share: no other vector has more
  // Then behind the columns' sums there is that of the row itself.
  const bool sumsRows = lowest && rows <= 2;
  const size_t sumsOfRow = vectors + (sumsRows ? 1 : 0);
  auto step = [&](Value word, int64_t valid, ValueRange carried) {
    SmallVector<std::pair<DotProduct::Side, DotProduct::Side>> right;
    for (auto [j, lanes] : llvm::enumerate(columns.lanes)) {
      auto [low, high] = codesOf(columns, unsigned(j), word);
      if (!sumsRows) low = withLowest(low), high = withLowest(high);
      right.push_back({dot.right(low, lanes), dot.right(high, lanes)});
    }
    DotProduct::Side ones = dot.right(k.constant(k.b.getI8Type(), 1, lanesOfAll * 4), lanesOfAll);
    SmallVector<Value> sums(carried);
    Value first = k.add(leftBase, k.mul(word, places.wordRows()));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t part = 0; part * 4 < valid; ++part) {
        Value at = k.add(first, i * places.depth + part * 4);
        Value factors = dot.word(left, at, std::min<int64_t>(valid - part * 4, 4));
        Value *row = &sums[size_t(i) * sumsOfRow];
        for (auto [j, lanes] : llvm::enumerate(columns.lanes))
          row[j] = dot.accumulate(dot.left(factors, lanes), part ? right[j].second : right[j].first, row[j]);
        if (sumsRows) row[vectors] = dot.accumulate(dot.left(factors, lanesOfAll), ones, row[vectors]);
      }
    return sums;
  };
  SmallVector<int64_t> lanes(columns.lanes);
  if (sumsRows) lanes.push_back(lanesOfAll);
  int64_t whole = places.depth / places.wordRows(), rest = places.depth % places.wordRows();
  SmallVector<Value> sums =
      k.loop(k.index(0), k.index(whole), 1, zeroTile(k, k.b.getI32Type(), rows, lanes),
             [&](Value word, ValueRange carried) { return step(word, places.wordRows(), carried); });
  if (rest) sums = step(k.index(whole), rest, sums);
  if (!sumsRows) return sums;
  SmallVector<Value> results;
  for (int64_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < vectors; ++j) {
      Value *row = &sums[size_t(i) * sumsOfRow], all = firstLanes(k, row[vectors], columns.lanes[j]);
      Value moved = arith::MulIOp::create(k.b, k.loc, all, k.constant(k.b.getI32Type(), lowest, columns.lanes[j]));
      results.push_back(arith::AddIOp::create(k.b, k.loc, row[j], moved));
    }
  return results;
}

MemRefType NibblePanels::unpackedType() const { return MemRefType::get({2 * places.size()}, k.b.getI8Type()); }

void NibblePanels::unpack(Value panel, Value target) const {
  Columns both{panel, 0, {kLanes, kLanes}};
  k.loop(k.index(0), k.index(places.words()), 1, [&](Value word) {
    for (unsigned j = 0; j < 2; ++j) {
      auto [low, high] = codesOf(both, j, word);
      Value at = k.add(k.mul(word, 2 * kPanelWidth * 4), j * kLanes * 4);
      vector::StoreOp::create(k.b, k.loc, withLowest(low), target, at);
      vector::StoreOp::create(k.b, k.loc, withLowest(high), target, k.add(at, kPanelWidth * 4));
    }
  });
}
