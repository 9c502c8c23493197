#include "lib/Target/CPU/Kernels/Contraction/CodedPanels.h"

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
