#include "lib/Target/CUDA/Kernels/Contraction/TileProduct.h"
#include "dialects/NN/SumOrder.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace sprig;

// Elements of a 128-bit access.
static constexpr int64_t kQuad = 4;
// Steps of the deepest slice.
static constexpr int64_t kDeepest = 256;

static int64_t powerFor(int64_t size) { return llvm::PowerOf2Ceil(size); }

TileShape sprig::chooseTile(int64_t products, int64_t rows, int64_t columns, int64_t depth) {
  TileShape tile;
  // Of few rows or columns the other side is read once: deep slices keep many bytes on their way.
  constexpr int64_t kFew = 8;
  if (std::min(rows, columns) <= kFew) {
    tile = {std::min(kFew, powerFor(rows)), std::min(kFew, powerFor(columns)), kDeepest, 1, 1, 128};
  } else {
    constexpr TileShape kTiles[] = {
        {128, 128, 8, 8, 8, 256}, {64, 64, 16, 8, 4, 128}, {32, 32, 32, 2, 4, 128}, {16, 16, 64, 2, 2, 64}};
    constexpr int64_t kEnough = 128;
    for (const TileShape &candidate : kTiles) {
      tile = candidate;
      int64_t tiles = llvm::divideCeil(rows, tile.rows) * llvm::divideCeil(columns, tile.columns);
      // At most half as much again as there is to compute.
      bool fits = 2 * tiles * tile.rows * tile.columns <= 3 * rows * columns;
      if (fits && products * tiles >= kEnough) break;
    }
  }
  tile.depth = std::min(tile.depth, powerFor(std::max<int64_t>(depth, 8)));
  return tile;
}

void sprig::fitSlices(TileShape &tile, int64_t depth) {
  constexpr int64_t kShallowest = 8;
  auto isWasteful = [&] { return 8 * int64_t(llvm::alignTo(depth, tile.unrolled())) > 9 * depth; };
  while (tile.depth > kShallowest && isWasteful()) tile.depth /= 2;
}

// The product itself, reading of shared memory for it, and copies, an element of which takes eight.
double sprig::instructionsPerProduct(const TileShape &tile, double waste) {
  auto perElement = [](int64_t a, int64_t b) { return 1.0 / double(a) + 1.0 / double(b); };
  constexpr double kCopy = 8;
  return waste * (1 + perElement(tile.threadRows, tile.threadColumns) + kCopy * perElement(tile.rows, tile.columns));
}

TileProduct::TileProduct(GpuBuilder &kernel, const TileShape &shape, int64_t depth, TileSide left, TileSide right,
                         int64_t longestChain)
    : k(kernel), shape(shape), depth(depth), longestChain(longestChain), f32(kernel.b.getF32Type()),
      // The product of zeros of different signs is -0: added to any chain, it changes no bit.
      left(slices(std::move(left), shape.rows, shape.threadRows, -0.0)),
      right(slices(std::move(right), shape.columns, shape.threadColumns, 0.0)) {
  int64_t across = shape.columns / shape.threadColumns;
  this->left.thread = k.div(k.thread(), across);
  this->right.thread = k.rem(k.thread(), across);
}

TileProduct::Slices TileProduct::slices(TileSide side, int64_t tile, int64_t own, double padding) {
  Slices s{std::move(side), tile, own, std::min({own, kQuad, side.together}), tile / own, shape.depth, padding, {}, {}};
  s.isWide &= s.inner == TileSide::Steps || tile % kQuad == 0;
  s.shared = s.memory ? s.memory : k.sharedBuffer({sliceElements(shape, depth, tile)}, f32);
  return s;
}

Value TileProduct::Slices::placeOf(ElementBuilder &k, Value thread, int64_t i) const {
  return k.add(k.mul(thread, groupWidth), i / groupWidth * threadCount * groupWidth + i % groupWidth);
}

Value TileProduct::Slices::placeOfSlot(ElementBuilder &k, Value slot) const {
  Value i = k.div(slot, threadCount), thread = k.rem(slot, threadCount);
  Value group = k.add(k.mul(k.div(i, groupWidth), threadCount), thread);
  return k.add(k.mul(group, groupWidth), k.rem(i, groupWidth));
}

// Where four steps of a slot lie. Eight neighbouring slots, whose lanes are served together, have them at different
// banks, and so have eight neighbours in the order of memory.
Value TileProduct::Slices::quad(ElementBuilder &k, Value slot, Value quad) const {
  constexpr int64_t kTogether = 8;
  int64_t quads = depth / kQuad;
  Value turn = quads >= kTogether ? k.rem(slot, kTogether) : k.rem(k.div(slot, kTogether / quads), quads);
  return k.mul(k.add(k.mul(slot, quads), arith::XOrIOp::create(k.b, k.loc, quad, turn)), kQuad);
}

TileProduct::Unit TileProduct::unit(const Slices &s, Value i) {
  int64_t width = s.isWide ? kQuad : 1, inner = (s.inner == TileSide::Steps ? s.depth : s.tile) / width;
  Value within = k.mul(k.rem(i, inner), width), outer = k.div(i, inner);
  if (s.inner == TileSide::Places) return {within, outer, k.add(k.mul(outer, s.tile), within)};
  return {s.placeOfSlot(k, outer), within, k.add(s.quad(k, outer, k.div(within, kQuad)), k.rem(within, kQuad))};
}

Value TileProduct::isBelow(Value index, Value bound) {
  return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, index, bound);
}

SmallVector<Value> TileProduct::valuesIf(Value condition, llvm::function_ref<SmallVector<Value>()> then,
                                         ValueRange otherwise) {
  auto choice = scf::IfOp::create(k.b, k.loc, otherwise.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(k.b);
  k.b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(k.b, k.loc, then());
  k.b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(k.b, k.loc, otherwise);
  return SmallVector<Value>(choice.getResults());
}

// Places beyond the matrix read its last one, whose sums nobody takes.
Value TileProduct::readUnit(const Slices &s, const Unit &unit, Value begin) {
  int64_t width = s.isWide ? kQuad : 1, atOnce = s.inner == TileSide::Places ? width : 1;
  Value place = k.add(s.first, unit.place), step = k.add(begin, unit.step);
  if (s.places % s.tile) place = k.min(place, k.index(s.places - atOnce));
  if (depth % s.depth == 0) return s.read(place, step);
  Value value = s.read(place, k.min(step, k.index(depth - (s.inner == TileSide::Steps ? width : 1))));
  Value none = k.constant(f32, s.padding);
  if (s.isWide) none = k.splat(none, kQuad);
  return arith::SelectOp::create(k.b, k.loc, isBelow(step, k.index(depth)), value, none);
}

void TileProduct::forUnits(const Slices &s, llvm::function_ref<void(Value i, Value exists)> body) {
  int64_t units = unitsOf(s);
  for (int64_t begin = 0; begin < units; begin += shape.threads) {
    Value i = k.add(k.thread(), begin);
    body(i, begin + shape.threads <= units ? Value() : isBelow(i, k.index(units)));
  }
}

void TileProduct::fetch(const Slices &s, Value begin, SmallVectorImpl<Value> &values) {
  forUnits(s, [&](Value i, Value exists) {
    auto read = [&]() -> SmallVector<Value> { return {readUnit(s, unit(s, i), begin)}; };
    values.push_back(exists ? valuesIf(exists, read, k.zero(f32, s.isWide ? kQuad : 0))[0] : read()[0]);
  });
}

void TileProduct::put(const Slices &s, Value buffer, ArrayRef<Value> &values) {
  forUnits(s, [&](Value i, Value exists) {
    auto write = [&] { k.store(values.front(), s.shared, k.add(unit(s, i).at, k.mul(buffer, s.size())), f32); };
    exists ? k.ifThen(exists, write) : write();
    values = values.drop_front();
  });
}

SmallVector<Value> TileProduct::fetchBoth(Value begin) {
  SmallVector<Value> values;
  for (const Slices *s : {&left, &right})
    if (s->enter) s->enter(begin);
  fetch(left, begin, values);
  fetch(right, begin, values);
  return values;
}

void TileProduct::putBoth(Value buffer, ValueRange fetched) {
  SmallVector<Value> list(fetched);
  ArrayRef<Value> values(list);
  put(left, buffer, values);
  put(right, buffer, values);
}

// The thread's places at four steps of the slice that begins there, one step after the other.
SmallVector<Value> TileProduct::readFour(const Slices &s, Value firstStep, Value buffer, Value step) {
  SmallVector<Value> values(kQuad * s.own);
  auto load = [&](Value at, int64_t count) -> SmallVector<Value> {
    if (count == 1) return {k.load(s.shared, at, f32)};
    Value vector = k.loadVector(s.shared, at, f32, {}, count);
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < count; ++lane)
      elements.push_back(vector::ExtractOp::create(k.b, k.loc, vector, lane));
    return elements;
  };
  if (s.wholeStride) {
    for (int64_t i = 0; i < s.own; ++i) {
      Value place = k.mul(s.placeOf(k, s.thread, i), s.wholeStride);
      for (auto [e, value] : llvm::enumerate(load(k.add(place, k.add(firstStep, step)), kQuad)))
        values[e * s.own + i] = value;
    }
    return values;
  }
  Value begin = k.mul(buffer, s.size());
  if (s.inner == TileSide::Steps) {
    // The slots of a thread differ by multiples of `threadCount`, which is no less than what their order depends on.
    Value first = k.add(begin, s.quad(k, s.thread, k.div(step, kQuad)));
    for (int64_t i = 0; i < s.own; ++i)
      for (auto [e, value] : llvm::enumerate(load(k.add(first, i * s.threadCount * s.depth), kQuad)))
        values[e * s.own + i] = value;
    return values;
  }
  for (int64_t e = 0; e < kQuad; ++e)
    for (int64_t i = 0; i < s.own; i += s.groupWidth) {
      Value at = k.add(k.mul(k.add(step, e), s.tile), s.placeOf(k, s.thread, i));
      llvm::copy(load(k.add(begin, at), s.groupWidth), values.begin() + e * s.own + i);
    }
  return values;
}

// A NaN that arithmetic does not make.
static constexpr int32_t kAbsent = 0x7fedcba9;

static Value isAbsent(ElementBuilder &k, Value element) {
  Value bits = arith::BitcastOp::create(k.b, k.loc, k.b.getI32Type(), element);
  Value mark = arith::ConstantIntOp::create(k.b, k.loc, kAbsent, 32);
  return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, bits, mark);
}

Value TileProduct::elementOrAbsent(ElementBuilder &k, Value isThere, Value element) {
  Type f32 = k.b.getF32Type();
  Value nan = k.constant(f32, std::numeric_limits<double>::quiet_NaN());
  Value mark = arith::BitcastOp::create(k.b, k.loc, f32, arith::ConstantIntOp::create(k.b, k.loc, kAbsent, 32));
  element = arith::SelectOp::create(k.b, k.loc, isAbsent(k, element), nan, element);
  return arith::SelectOp::create(k.b, k.loc, isThere, element, mark);
}

// Goes on with the chains by so many steps of a slice, or a few more, which are padding.
SmallVector<Value> TileProduct::multiply(Value begin, Value buffer, Value steps, ValueRange chains) {
  // Of columns that lack some steps, chains stay as they were before these.
  auto keepAbsent = [&](ArrayRef<Value> elements, ValueRange before, MutableArrayRef<Value> sums) {
    for (auto [j, element] : llvm::enumerate(elements)) {
      Value absent = isAbsent(k, element);
      for (int64_t at = j; at < left.own * right.own; at += right.own)
        sums[at] = arith::SelectOp::create(k.b, k.loc, absent, before[at], sums[at]);
    }
  };
  int64_t apart = right.presence && right.presence < shape.depth ? right.presence : 0;
  auto four = [&](Value step, MutableArrayRef<Value> sums) {
    SmallVector<Value> a = readFour(left, begin, buffer, step), b = readFour(right, begin, buffer, step);
    SmallVector<Value> before(sums);
    for (int64_t e = 0; e < kQuad; ++e) {
      for (int64_t i = 0; i < left.own; ++i)
        for (int64_t j = 0; j < right.own; ++j) {
          Value &sum = sums[i * right.own + j];
          sum = k.multiplyAdd(a[e * left.own + i], b[e * right.own + j], sum);
        }
      if (!apart || (e + 1) % apart != 0) continue;
      keepAbsent(ArrayRef(b).slice(e * right.own, right.own), before, sums);
      before.assign(sums.begin(), sums.end());
    }
  };
  int64_t unrolled = shape.unrolled();
  auto run = [&](Value first, ValueRange carried) {
    SmallVector<Value> sums(carried);
    for (int64_t step = 0; step < unrolled; step += kQuad) four(k.add(first, step), sums);
    return sums;
  };
  SmallVector<Value> sums =
      unrolled == shape.depth ? run(k.index(0), chains) : k.loop(k.index(0), steps, unrolled, chains, run);
  if (right.presence && !apart)
    keepAbsent(ArrayRef(readFour(right, begin, buffer, k.index(0))).take_front(right.own), chains, sums);
  return sums;
}

// Chains from zero over the steps from `begin` to `end`. While a slice is multiplied, the next one is on its way to
// registers.
SmallVector<Value> TileProduct::chains(Value begin, Value end) {
  SmallVector<Value> zeros(left.own * right.own, k.zero(f32));
  int64_t step = shape.depth;
  auto work = [&](Value buffer, Value at, ValueRange carried) {
    auto multiplied = [&] { return multiply(at, buffer, k.min(k.sub(end, at), k.index(step)), carried); };
    if (shape.workers() == shape.threads) return multiplied();
    return valuesIf(isBelow(k.thread(), k.index(shape.workers())), multiplied, carried);
  };
  putBoth(k.index(0), fetchBoth(begin));
  k.barrier();
  if (depth <= step) return work(k.index(0), begin, zeros);
  return k.loop(begin, end, step, zeros, [&](Value at, ValueRange carried) {
    Value buffer = k.rem(k.div(at, step), 2), next = k.add(at, step);
    Value isMore = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, next, end);
    SmallVector<Value> nothing;
    for (const Slices *s : {&left, &right})
      nothing.append(llvm::divideCeil(unitsOf(*s), shape.threads), k.zero(f32, s->isWide ? kQuad : 0));
    SmallVector<Value> fetched = valuesIf(isMore, [&] { return fetchBoth(next); }, nothing);
    SmallVector<Value> result = work(buffer, at, carried);
    k.ifThen(isMore, [&] { putBoth(k.sub(k.index(1), buffer), fetched); });
    k.barrier();
    return result;
  });
}

SmallVector<Value> TileProduct::sums() {
  static_assert(kChainPart % (2 * kDeepest) == 0, "each part begins with the first of two buffers");
  auto chainsOf = [&](Value begin) { return chains(begin, k.min(k.add(begin, kChainPart), k.index(depth))); };
  if (part) return chainsOf(k.mul(part, kChainPart));
  if (depth <= longestChain) return chains(k.index(0), end ? end : k.index(depth));
  SmallVector<Value> zeros(left.own * right.own, k.zero(f32));
  return k.loop(k.index(0), k.index(depth), kChainPart, zeros, [&](Value begin, ValueRange totals) {
    SmallVector<Value> result;
    for (auto [total, chain] : llvm::zip_equal(totals, chainsOf(begin)))
      result.push_back(arith::AddFOp::create(k.b, k.loc, total, chain));
    return result;
  });
}

void TileProduct::emit(llvm::function_ref<void(ValueRange)> body) {
  SmallVector<Value> all = sums();
  if (shape.workers() == shape.threads) return body(all);
  k.ifThen(isBelow(k.thread(), k.index(shape.workers())), [&] { body(all); });
}

Value TileProduct::exists(Value row, Value column) {
  Value result;
  for (auto [place, side] : {std::pair(row, &left), std::pair(column, &right)}) {
    if (side->places % side->tile == 0) continue;
    Value here = isBelow(place, k.index(side->places));
    result = result ? Value(arith::AndIOp::create(k.b, k.loc, result, here)) : here;
  }
  return result;
}
