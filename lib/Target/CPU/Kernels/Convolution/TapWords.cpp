#include "lib/Target/CPU/Kernels/Convolution/TapWords.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

/// Where a tap's row of the input begins, at column 0 and the first channel at hand; and whether there is one, where
/// that is not known (else null).
struct TapWords::Taps {
  Value offset, isInside;
};

static Value compare(KernelBuilder &k, arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(k.b, k.loc, predicate, a, b);
}

void TapWords::make(const Row &row) {
  // The input's index of the window's first tap, in depth and height.
  std::array<Value, 2> start{k.sub(k.mul(row.depth, g.stride[0]), k.index(g.low[0])),
                             k.sub(k.mul(row.height, g.stride[1]), k.index(g.low[1]))};
  auto forRows = [&](bool mayLeave) {
    SmallVector<Taps> taps;
    for (int64_t above = 0; above < places.above; ++above) {
      std::array<int64_t, 2> tap{above / g.window[1], above % g.window[1]};
      SmallVector<Value> index{row.sample};
      Value isInside;
      for (int d = 0; d < 2; ++d) {
        Value at = k.add(start[d], tap[d] * g.dilation[d]);
        if (mayLeave && g.hasPadding(d)) {
          Value inside = arith::AndIOp::create(k.b, k.loc, compare(k, arith::CmpIPredicate::sge, at, k.index(0)),
                                               compare(k, arith::CmpIPredicate::slt, at, k.index(g.in[d])));
          isInside = isInside ? arith::AndIOp::create(k.b, k.loc, isInside, inside) : inside;
          at = k.max(k.min(at, k.index(g.in[d] - 1)), k.index(0));
        }
        index.push_back(at);
      }
      index.push_back(k.index(0));
      Value position = k.linearize(index, {g.batch, g.in[0], g.in[1], g.in[2]});
      taps.push_back({k.add(k.mul(position, g.inputChannels), row.channel), isInside});
    }
    for (int64_t group = 0; group < places.rows(); ++group) {
      auto first = group * kernel::DepthwisePlaces::kTogether;
      makeGroup(row, group, ArrayRef(taps).drop_front(first).take_front(kernel::DepthwisePlaces::kTogether));
    }
  };
  // Rows in the middle need no question for each tap.
  Value isWhole;
  for (int d = 0; d < 2; ++d) {
    if (!g.hasPadding(d)) continue;
    Value last = k.add(start[d], (g.window[d] - 1) * g.dilation[d]);
    Value whole = arith::AndIOp::create(k.b, k.loc, compare(k, arith::CmpIPredicate::sge, start[d], k.index(0)),
                                        compare(k, arith::CmpIPredicate::slt, last, k.index(g.in[d])));
    isWhole = isWhole ? arith::AndIOp::create(k.b, k.loc, isWhole, whole) : whole;
  }
  if (isWhole)
    k.ifThen(isWhole, [&] { forRows(false); }, [&] { forRows(true); });
  else
    forRows(false);
}

void TapWords::makeGroup(const Row &row, int64_t group, ArrayRef<Taps> taps) {
  bool isEmpty = g.in[0] * g.in[1] * g.in[2] == 0;
  Value end = k.add(row.begin, row.columns);
  Value from = k.min(k.max(row.begin, k.index(0)), end), to = k.max(k.min(end, k.index(g.in[2])), from);
  if (isEmpty) to = from;
  auto wordOf = [&](Value column) {
    return k.add(k.mul(k.sub(column, row.begin), row.count), group * row.columns * row.count);
  };
  // In this order: what is written behind an end is what comes next.
  if (g.hasPadding(2) || isEmpty) fillSpan(wordOf(row.begin), wordOf(from));
  if (row.count == g.inputChannels)
    copySpan(taps, k.mul(from, row.count), wordOf(from), k.mul(k.sub(to, from), row.count));
  else
    k.loop(from, to, 1,
           [&](Value column) { copySpan(taps, k.mul(column, g.inputChannels), wordOf(column), k.index(row.count)); });
  if (g.hasPadding(2) || isEmpty) fillSpan(wordOf(to), wordOf(end));
}

void TapWords::fillSpan(Value from, Value to) {
  Type i32 = k.b.getI32Type();
  Value word = arith::ConstantOp::create(k.b, k.loc, i32, k.b.getI32IntegerAttr(int32_t(uint32_t(fill) * 0x01010101u)));
  k.loop(from, to, kSlack,
         [&](Value at) { vector::StoreOp::create(k.b, k.loc, k.splat(word, kSlack), words, ValueRange{at}); });
}

// In whole vectors, then in 16 bytes, then one by one.
void TapWords::copySpan(ArrayRef<Taps> taps, Value from, Value to, Value length) {
  Value done = k.index(0);
  for (int64_t bytes : {k.target.vectorBytes, 16, 1}) {
    Value end = k.mul(k.div(length, bytes), bytes);
    k.loop(done, end, bytes, [&](Value i) { storeWords(taps, k.add(from, i), k.add(to, i), bytes); });
    done = end;
  }
}

/// As many bytes of a tap's row, or what the padding counts as.
Value TapWords::load(const Taps &tap, Value from, int64_t bytes) {
  IntegerType i8 = k.b.getI8Type();
  auto type = VectorType::get({bytes}, i8);
  Value loaded = vector::LoadOp::create(k.b, k.loc, type, input, ValueRange{k.add(tap.offset, from)});
  if (!tap.isInside) return loaded;
  return arith::SelectOp::create(k.b, k.loc, k.splat(tap.isInside, bytes), loaded, k.constant(i8, fill, bytes));
}

// Bytes a, b, c and d of each channel side by side: unpacking works within 128 bits, so words of four channels are put
// there first from where they end up.
void TapWords::storeWords(ArrayRef<Taps> taps, Value from, Value to, int64_t bytes) {
  Type i8 = k.b.getI8Type(), i16 = k.b.getI16Type(), i32 = k.b.getI32Type();
  auto as = [&](Value vector, int64_t count, Type element) -> Value {
    return vector::BitCastOp::create(k.b, k.loc, VectorType::get({count}, element), vector);
  };
  SmallVector<Value> rows;
  for (const Taps &tap : taps) rows.push_back(load(tap, from, bytes));
  while (rows.size() < 4) rows.push_back(k.zero(i8, bytes));
  auto shuffle = [&](Value a, Value b, ArrayRef<int64_t> mask) -> Value {
    return vector::ShuffleOp::create(k.b, k.loc, a, b, mask);
  };
  if (bytes == 1) {
    Value pairs[2] = {shuffle(rows[0], rows[1], {0, 1}), shuffle(rows[2], rows[3], {0, 1})};
    Value word = as(shuffle(pairs[0], pairs[1], {0, 1, 2, 3}), 1, i32);
    vector::StoreOp::create(k.b, k.loc, word, words, ValueRange{to});
    return;
  }
  int64_t lanes = bytes / 16; // of 128 bits
  SmallVector<int64_t> gathered;
  for (int64_t lane = 0; lane < lanes; ++lane)
    for (int64_t quarter = 0; quarter < 4; ++quarter) gathered.push_back(lanes * quarter + lane);
  if (lanes > 1)
    for (Value &row : rows) {
      if (row.getDefiningOp<arith::ConstantOp>()) continue;
      Value dwords = as(row, bytes / 4, i32);
      row = as(shuffle(dwords, dwords, gathered), bytes, i8);
    }
  // The lower or upper halves of each lane of a and b, element by element in turn.
  auto unpack = [&](Value a, Value b, int64_t perLane, int64_t half) {
    SmallVector<int64_t> mask;
    int64_t all = lanes * perLane;
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t i = 0; i < perLane / 2; ++i) {
        int64_t at = lane * perLane + half * perLane / 2 + i;
        mask.append({at, all + at});
      }
    return shuffle(a, b, mask);
  };
  for (int64_t half = 0; half < 2; ++half) {
    Value ab = as(unpack(rows[0], rows[1], 16, half), bytes / 2, i16);
    Value cd = as(unpack(rows[2], rows[3], 16, half), bytes / 2, i16);
    for (int64_t quarter = 0; quarter < 2; ++quarter) {
      Value made = as(unpack(ab, cd, 8, quarter), bytes / 4, i32);
      vector::StoreOp::create(k.b, k.loc, made, words, ValueRange{k.add(to, (2 * half + quarter) * (bytes / 4))});
    }
  }
}
