#include "lib/Target/CPU/Kernels/Contraction/NibblePanels.h"
#include "lib/Target/CPU/Kernels/Contraction/DotProduct.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

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
