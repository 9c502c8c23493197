#include "lib/Target/CPU/Kernels/Contraction/NibblePanels.h"
#include "lib/Target/CPU/Kernels/Contraction/DotProduct.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"

using namespace mlir;
using namespace sprig;

NibblePanels::NibblePanels(KernelBuilder &k, kernel::MatmulPackedOp op)
    : k(k), places{cast<RankedTensorType>(op.getLhs().getType()).getShape().back(), 4}, lowest(*op.getLowest()),
      codes(k.flat(k.operandBuffer(cast<BlockArgument>(op.getPanels())))) {}

static Value splatted(KernelBuilder &k, VectorType type, int64_t value) {
  Attribute each = k.b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(k.b, k.loc, DenseElementsAttr::get(type, each));
}

static VectorType bytesIn(KernelBuilder &k, int64_t lanes) { return VectorType::get({lanes * 4}, k.b.getI8Type()); }

std::pair<Value, Value> NibblePanels::codesOf(const Columns &columns, unsigned vector, Value word) const {
  int64_t lanes = columns.lanes[vector], half = columns.first + vector;
  Value at = k.add(k.mul(k.add(columns.panel, half / 2), places.size()), half % 2 * kLanes * 4);
  VectorType bytes = bytesIn(k, lanes), words = VectorType::get({lanes}, k.b.getI32Type());
  Value both = vector::LoadOp::create(k.b, k.loc, bytes, codes, k.add(at, k.mul(word, kPanelWidth * 4)));
  both = vector::BitCastOp::create(k.b, k.loc, words, both);
  Value upper = arith::ShRUIOp::create(k.b, k.loc, both, splatted(k, words, 4));
  auto masked = [&](Value shifted) -> Value {
    Value code = arith::AndIOp::create(k.b, k.loc, shifted, splatted(k, words, 0x0f0f0f0f));
    return vector::BitCastOp::create(k.b, k.loc, bytes, code);
  };
  return {masked(both), masked(upper)};
}

bool NibblePanels::isHidden() const { return DotProduct::isNative(k.target, 4); }

Value NibblePanels::withLowest(Value codes) const {
  if (lowest == 0) return codes;
  return arith::AddIOp::create(k.b, k.loc, codes, splatted(k, cast<VectorType>(codes.getType()), lowest));
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
    DotProduct::Side ones = dot.right(splatted(k, bytesIn(k, lanesOfAll), 1), lanesOfAll);
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
      Value *row = &sums[size_t(i) * sumsOfRow], all = row[vectors];
      auto type = cast<VectorType>(row[j].getType());
      if (type != all.getType())
        all = vector::ExtractStridedSliceOp::create(k.b, k.loc, all, ArrayRef<int64_t>{0}, type.getShape(),
                                                    ArrayRef<int64_t>{1});
      Value moved = arith::MulIOp::create(k.b, k.loc, all, splatted(k, type, lowest));
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
