#include "lib/Target/CPU/Kernels/Contraction/NarrowPanels.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

NarrowPanels::NarrowPanels(KernelBuilder &k, kernel::MatmulNarrowOp op)
    : UnpackedPanels(k, {op.getLhs().getType().getShape().back(), int64_t(op.getBits())}),
      groups(op.getScales().getType().getDimSize(1)), group(op.getGroup()),
      stretch(groups > 1 ? std::gcd(group, kChainPart) : kChainPart), zero(op.getZero()) {
  codes = k.flatOperand(op.getCodes());
  scales = k.flatOperand(op.getScales());
  if (op.getZeros()) zeroPoints = k.flatOperand(op.getZeros());
}

// An f32 of 2^23 counts ones in its last bit; one of 2^(23 - place) counts them in bit `place`. So a code becomes that
// number plus itself where it lies, by a mask, and less that number and its zero point what it stands for: exactly.
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
  // What lies too high for a mantissa moves down by as much as leaves all of it in places of four bits.
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
  // As emitContraction cuts them.
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
