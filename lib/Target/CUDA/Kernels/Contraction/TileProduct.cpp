#include "lib/Target/CUDA/Kernels/Contraction/TileProduct.h"
#include "dialects/NN/SumOrder.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

// Elements of a 128-bit access.
// Steps of the deepest slice. They are written out one after the other: many more, and ptxas reads so far ahead that
// registers do not suffice.
static constexpr int64_t kDeepest = 64;

static int64_t powerFor(int64_t size) { return llvm::PowerOf2Ceil(size); }

TileShape sprig::cuda::chooseTile(int64_t products, int64_t rows, int64_t columns, int64_t depth) {
  TileShape tile;
  // Of few rows or columns the other side is read once.
  constexpr int64_t kFew = 8;
  if (std::min(rows, columns) <= kFew) {
    tile = {std::min(kFew, powerFor(rows)), std::min(kFew, powerFor(columns)), kDeepest, 1, 1, 128};
  } else {
    constexpr TileShape kTiles[] = {
        {128, 128, 8, 8, 8, 256}, {64, 64, 16, 8, 4, 128}, {32, 32, 16, 2, 4, 128}, {16, 16, 32, 2, 2, 64}};
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

void sprig::cuda::fitSlices(TileShape &tile, int64_t depth) {
  constexpr int64_t kShallowest = 8;
  auto isWasteful = [&] { return 8 * int64_t(llvm::alignTo(depth, tile.unrolled())) > 9 * depth; };
  while (tile.depth > kShallowest && isWasteful()) tile.depth /= 2;
}

// The product itself, reading of shared memory for it, and copies, an element of which takes eight.
double sprig::cuda::instructionsPerProduct(const TileShape &tile, double waste) {
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
  int64_t most = std::min(own, kQuad), group = std::min(most, side.together);
  Slices s{std::move(side), tile, own, group, most, tile / own, shape.depth, padding, {}, {}};
  s.isWide &= s.inner == TileSide::Steps || tile % kQuad == 0;
  if (s.isWide) s.laidWidth = group; // neighbours in memory stay that
  return s;
}

void TileProduct::allocate(Slices &s) { s.shared = s.memory ? s.memory : k.sharedBuffer({stages * s.size()}, f32); }

static Value dealt(ElementBuilder &k, Value thread, int64_t i, int64_t threads, int64_t width) {
  return k.add(k.mul(thread, width), i / width * threads * width + i % width);
}

Value TileProduct::Slices::placeOf(ElementBuilder &k, Value thread, int64_t i) const {
  return dealt(k, thread, i, threadCount, groupWidth);
}

Value TileProduct::Slices::laidOf(ElementBuilder &k, Value thread, int64_t i) const {
  return dealt(k, thread, i, threadCount, laidWidth);
}

Value TileProduct::Slices::laid(ElementBuilder &k, Value place) const {
  if (laidWidth == groupWidth) return place;
  Value group = k.div(place, groupWidth), thread = k.rem(group, threadCount);
  Value i = k.add(k.mul(k.div(group, threadCount), groupWidth), k.rem(place, groupWidth));
  Value block = k.mul(k.div(i, laidWidth), threadCount * laidWidth);
  return k.add(k.add(block, k.mul(thread, laidWidth)), k.rem(i, laidWidth));
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
  if (s.inner == TileSide::Places) return {within, outer, k.add(k.mul(outer, s.tile), s.laid(k, within))};
  return {s.placeOfSlot(k, outer), within, k.add(s.quad(k, outer, k.div(within, kQuad)), k.rem(within, kQuad))};
}

Value TileProduct::isBelow(Value index, Value bound) {
  return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, index, bound);
}

SmallVector<Value> TileProduct::either(Value condition, llvm::function_ref<SmallVector<Value>()> then,
                                       llvm::function_ref<SmallVector<Value>()> otherwise) {
  auto choice = scf::IfOp::create(
      k.b, k.loc, condition, [&](OpBuilder &, Location) { scf::YieldOp::create(k.b, k.loc, then()); },
      [&](OpBuilder &, Location) { scf::YieldOp::create(k.b, k.loc, otherwise()); });
  return SmallVector<Value>(choice.getResults());
}

SmallVector<Value> TileProduct::valuesIf(Value condition, llvm::function_ref<SmallVector<Value>()> then,
                                         ValueRange otherwise) {
  return either(condition, then, [&] { return SmallVector<Value>(otherwise); });
}

// Places beyond the matrix read its last one, whose sums nobody takes.
TileElement TileProduct::readUnit(const Slices &s, const Unit &unit, Value begin) {
  int64_t width = s.isWide ? kQuad : 1, atOnce = s.inner == TileSide::Places ? width : 1;
  Value place = k.add(s.first, unit.place), step = k.add(begin, unit.step);
  if (s.places % s.tile) place = k.min(place, k.index(s.places - atOnce));
  auto read = [&](Value place, Value step) -> TileElement {
    if (!s.at) return s.read(place, step);
    Value at = s.at(place, step);
    return s.isWide ? k.loadVector(s.buffer, at, f32, {}, kQuad) : k.load(s.buffer, at, f32);
  };
  if (depth % s.depth == 0) return read(place, step);
  TileElement element = read(place, k.min(step, k.index(depth - (s.inner == TileSide::Steps ? width : 1))));
  Value isStep = isBelow(step, k.index(depth));
  element.isStep = element.isStep ? Value(arith::AndIOp::create(k.b, k.loc, element.isStep, isStep)) : isStep;
  return element;
}

// A NaN that arithmetic does not make.
static constexpr int32_t kAbsent = 0x7fedcba9;

static Value isAbsent(ElementBuilder &k, Value element) {
  Value bits = arith::BitcastOp::create(k.b, k.loc, k.b.getI32Type(), element);
  Value mark = arith::ConstantIntOp::create(k.b, k.loc, kAbsent, 32);
  return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, bits, mark);
}

// Data that look like the mark become another NaN.
static Value elementOrAbsent(ElementBuilder &k, Value isThere, Value element) {
  Type f32 = k.b.getF32Type();
  Value nan = k.constant(f32, std::numeric_limits<double>::quiet_NaN());
  Value mark = arith::BitcastOp::create(k.b, k.loc, f32, arith::ConstantIntOp::create(k.b, k.loc, kAbsent, 32));
  element = arith::SelectOp::create(k.b, k.loc, isAbsent(k, element), nan, element);
  return arith::SelectOp::create(k.b, k.loc, isThere, element, mark);
}

Value TileProduct::finished(const Slices &s, const TileElement &element) {
  Value value = element.value;
  if (element.isThere) value = elementOrAbsent(k, element.isThere, value);
  if (!element.isStep) return value;
  Value none = k.constant(f32, s.padding);
  if (isa<VectorType>(value.getType())) none = k.splat(none, kQuad);
  return arith::SelectOp::create(k.b, k.loc, element.isStep, value, none);
}

void TileProduct::forUnits(const Slices &s, llvm::function_ref<void(Value i, Value exists)> body) {
  int64_t units = unitsOf(s);
  for (int64_t begin = 0; begin < units; begin += shape.threads) {
    Value i = k.add(k.thread(), begin);
    body(i, begin + shape.threads <= units ? Value() : isBelow(i, k.index(units)));
  }
}

// What is read where the condition holds, else zeros.
TileProduct::Fetched TileProduct::fetchedIf(Value condition, llvm::function_ref<Fetched()> read) {
  constexpr Value TileElement::*kFields[] = {&TileElement::value, &TileElement::isThere, &TileElement::isStep};
  Fetched fetched;
  auto yield = [&](auto valueOf) {
    SmallVector<Value> values;
    for (const TileElement &element : fetched)
      for (auto field : kFields)
        if (Value value = element.*field) values.push_back(valueOf(value));
    scf::YieldOp::create(k.b, k.loc, values);
  };
  auto choice = scf::IfOp::create(
      k.b, k.loc, condition,
      [&](OpBuilder &, Location) {
        fetched = read();
        yield([](Value value) { return value; });
      },
      [&](OpBuilder &, Location) {
        yield([&](Value value) -> Value {
          return arith::ConstantOp::create(k.b, k.loc, cast<TypedAttr>(k.b.getZeroAttr(value.getType())));
        });
      });
  ResultRange results = choice.getResults();
  for (TileElement &element : fetched)
    for (auto field : kFields)
      if (element.*field) {
        element.*field = results.front();
        results = results.drop_front();
      }
  return fetched;
}

void TileProduct::fetch(const Slices &s, Value begin, Fetched &fetched) {
  forUnits(s, [&](Value i, Value exists) {
    auto read = [&] { return Fetched{readUnit(s, unit(s, i), begin)}; };
    llvm::append_range(fetched, exists ? fetchedIf(exists, read) : read());
  });
}

void TileProduct::put(const Slices &s, Value begin, ArrayRef<TileElement> &fetched) {
  forUnits(s, [&](Value i, Value exists) {
    auto write = [&] { k.store(finished(s, fetched.front()), s.shared, k.add(unit(s, i).at, sliceAt(s, begin)), f32); };
    exists ? k.ifThen(exists, write) : write();
    fetched = fetched.drop_front();
  });
}

TileProduct::Fetched TileProduct::fetchBoth(Value begin) {
  Fetched fetched;
  for (const Slices *s : {&left, &right})
    if (isFetched(*s) && s->enter) s->enter(begin);
  for (const Slices *s : {&left, &right})
    if (isFetched(*s)) fetch(*s, begin, fetched);
  return fetched;
}

void TileProduct::putBoth(Value begin, ArrayRef<TileElement> fetched) {
  for (const Slices *s : {&left, &right})
    if (isFetched(*s)) put(*s, begin, fetched);
}

// Steps beyond the last one are zeros, which nobody multiplies.
void TileProduct::copySlice(const Slices &s, Value begin) {
  int64_t width = s.isWide ? kQuad : 1, atOnce = s.inner == TileSide::Places ? width : 1;
  if (s.enter) s.enter(begin);
  forUnits(s, [&](Value i, Value exists) {
    auto copy = [&] {
      Unit own = unit(s, i);
      Value place = k.add(s.first, own.place), step = k.add(begin, own.step), isStep;
      if (s.places % s.tile) place = k.min(place, k.index(s.places - atOnce));
      if (depth % s.depth) isStep = isBelow(step, k.index(depth));
      k.copyAsync(s.buffer, s.at(place, step), s.shared, k.add(own.at, sliceAt(s, begin)), width, isStep);
    };
    exists ? k.ifThen(exists, copy) : copy();
  });
}

// A group of copies, empty where nothing is copied any more.
void TileProduct::copySlices(Value begin) {
  for (const Slices *s : {&left, &right})
    if (isCopied(*s)) copySlice(*s, begin);
}

// The thread's places at four steps of the slice that begins there, one step after the other. Where they lie differs by
// a constant from slice to slice and from eight groups of four to the next, so addresses are added up once.
SmallVector<Value> TileProduct::readFour(const Slices &s, Value begin, int64_t step) {
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
    Value at = k.add(begin, step);
    for (int64_t i = 0; i < s.own; ++i) {
      Value place = k.mul(s.placeOf(k, s.thread, i), s.wholeStride);
      for (auto [e, value] : llvm::enumerate(load(k.add(place, at), kQuad))) values[e * s.own + i] = value;
    }
    return values;
  }
  Value slice = sliceAt(s, begin);
  if (s.inner == TileSide::Steps) {
    // The slots of a thread differ by multiples of `threadCount`, which is no less than what their order depends on.
    constexpr int64_t kOrdered = 8 * kQuad; // in which the order is one
    Value within = s.quad(k, s.thread, k.index(step % kOrdered / kQuad));
    Value at = k.add(k.add(slice, within), step / kOrdered * kOrdered);
    for (int64_t i = 0; i < s.own; ++i)
      for (auto [e, value] : llvm::enumerate(load(k.add(at, i * s.threadCount * s.depth), kQuad)))
        values[e * s.own + i] = value;
    return values;
  }
  for (int64_t e = 0; e < kQuad; ++e)
    for (int64_t i = 0; i < s.own; i += s.laidWidth) {
      Value at = k.add(k.add(slice, s.laidOf(k, s.thread, i)), (step + e) * s.tile);
      llvm::copy(load(at, s.laidWidth), values.begin() + e * s.own + i);
    }
  return values;
}

// Goes on with the chains by the steps of a slice: all that it may have, or the first `steps` of them and a few more,
// which are padding.
SmallVector<Value> TileProduct::multiply(Value begin, int64_t most, Value steps, ValueRange chains) {
  // Of columns that lack some steps, chains stay as they were before these.
  auto keepAbsent = [&](ArrayRef<Value> elements, ValueRange before, MutableArrayRef<Value> sums) {
    for (auto [j, element] : llvm::enumerate(elements)) {
      Value absent = isAbsent(k, element);
      for (int64_t at = j; at < left.own * right.own; at += right.own)
        sums[at] = arith::SelectOp::create(k.b, k.loc, absent, before[at], sums[at]);
    }
  };
  int64_t apart = right.presence && right.presence < shape.depth ? right.presence : 0;
  using Elements = std::pair<SmallVector<Value>, SmallVector<Value>>; // of both sides
  auto read = [&](int64_t step) -> Elements { return {readFour(left, begin, step), readFour(right, begin, step)}; };
  auto four = [&](const Elements &elements, int64_t count, MutableArrayRef<Value> sums) {
    const auto &[a, b] = elements;
    SmallVector<Value> before(sums);
    for (int64_t e = 0; e < count; ++e) {
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
  // While four steps are multiplied, the next four are read, those of the next round too.
  SmallVector<Value> sums(chains);
  Elements elements = read(0);
  auto run = [&](int64_t first) {
    SmallVector<Value> results(sums);
    Elements now = elements;
    for (int64_t step = first; step < std::min(first + shape.unrolled(), most); step += kQuad) {
      int64_t ahead = step + kQuad;
      Elements next = ahead < most ? read(ahead) : now;
      four(now, steps ? kQuad : std::min(kQuad, most - step), results);
      now = std::move(next);
    }
    llvm::append_range(results, now.first);
    llvm::append_range(results, now.second);
    return results;
  };
  for (int64_t first = 0; first < most; first += shape.unrolled()) {
    SmallVector<Value> carried(sums), results;
    llvm::append_range(carried, elements.first);
    llvm::append_range(carried, elements.second);
    bool isCertain = first == 0 || !steps;
    results = isCertain ? run(first) : valuesIf(isBelow(k.index(first), steps), [&] { return run(first); }, carried);
    ArrayRef<Value> rest = results;
    for (SmallVector<Value> *part : {&sums, &elements.first, &elements.second}) {
      part->assign(rest.begin(), rest.begin() + part->size());
      rest = rest.drop_front(part->size());
    }
  }
  if (right.presence && !apart) keepAbsent(ArrayRef(readFour(right, begin, 0)).take_front(right.own), chains, sums);
  return sums;
}

// Chains from zero over the steps from `begin`, where a part begins, to `end`: `count`, where that is the same for all.
// While a slice is multiplied, later ones are on their way: copies of as many as shared memory has a place for, and
// what passes registers of the next.
SmallVector<Value> TileProduct::chains(Value begin, Value end, std::optional<int64_t> count) {
  const int64_t step = shape.depth, ahead = std::max<int64_t>(stages - 1, 1);
  const bool anyCopied = isCopied(left) || isCopied(right);
  auto work = [&](Value at, int64_t most, Value steps, ValueRange carried) {
    auto multiplied = [&] { return multiply(at, most, steps, carried); };
    if (shape.workers() == shape.threads) return multiplied();
    return valuesIf(isBelow(k.thread(), k.index(shape.workers())), multiplied, carried);
  };
  // All have the slice, and nobody reads the one before any more.
  auto meet = [&](int64_t groupsLeft) {
    if (anyCopied) k.waitForCopies(groupsLeft);
    k.barrier();
  };
  for (int64_t slice = 0; anyCopied && slice < ahead; ++slice) {
    if (slice * step < *count) copySlices(k.add(begin, slice * step));
    k.endCopyGroup();
  }
  SmallVector<Value> chains(left.own * right.own, k.zero(f32));
  putBoth(begin, fetchBoth(begin));
  if (!count && depth <= step) {
    meet(0);
    return work(begin, step, k.sub(end, begin), chains);
  }
  if (!count || *count > step)
    chains = k.loop(begin, k.sub(end, k.index(step)), step, chains, [&](Value at, ValueRange carried) {
      meet(ahead - 1);
      if (anyCopied) {
        Value next = k.add(at, ahead * step);
        if (*count > ahead * step) k.ifThen(isBelow(next, end), [&] { copySlices(next); });
        k.endCopyGroup();
      }
      Value next = k.add(at, step);
      Fetched fetched = fetchBoth(next);
      SmallVector<Value> result = work(at, step, {}, carried);
      putBoth(next, fetched);
      return result;
    });
  meet(0);
  if (count) {
    int64_t before = (*count - 1) / step * step;
    return work(k.add(begin, before), *count - before, {}, chains);
  }
  auto last = [&] {
    Value at = k.add(begin, k.mul(k.div(k.sub(k.sub(end, begin), k.index(1)), step), step));
    return work(at, step, k.sub(end, at), chains);
  };
  return valuesIf(isBelow(begin, end), last, chains);
}

// Copies go far ahead, as long as all slices have so many bytes at most.
static int64_t stagesFor(const TileShape &shape, int64_t count, bool areCopied) {
  constexpr int64_t kMost = 4, kBytes = 32 << 10;
  int64_t slices = llvm::divideCeil(count, shape.depth);
  if (slices == 1) return 1;
  int64_t bytes = (shape.rows + shape.columns) * shape.depth * int64_t(sizeof(float));
  return areCopied && slices > 2 && kMost * bytes <= kBytes ? kMost : 2;
}

SmallVector<Value> TileProduct::sums() {
  bool isCut = part || depth > longestChain;
  // What is there at once comes sooner by registers, through the first-level cache.
  areCopied = !end && depth > shape.depth;
  stages = stagesFor(shape, isCut ? std::min(depth, kChainPart) : depth, isCopied(left) && isCopied(right));
  static_assert(kChainPart % kDeepest == 0, "parts are whole slices");
  allocate(left);
  allocate(right);
  if (!isCut) return end ? chains(k.index(0), end, std::nullopt) : chains(k.index(0), k.index(depth), depth);
  // The last part may have fewer steps, and code of its own.
  int64_t whole = depth / kChainPart, rest = depth % kChainPart;
  auto wholePart = [&](Value begin) { return chains(begin, k.add(begin, kChainPart), kChainPart); };
  auto lastPart = [&] { return chains(k.index(whole * kChainPart), k.index(depth), rest); };
  if (part) {
    auto ofPart = [&] { return wholePart(k.mul(part, kChainPart)); };
    if (rest == 0) return ofPart();
    return whole ? either(isBelow(part, k.index(whole)), ofPart, lastPart) : lastPart();
  }
  SmallVector<Value> totals(left.own * right.own, k.zero(f32));
  auto add = [&](ValueRange totals, ValueRange chains) {
    SmallVector<Value> result;
    for (auto [total, chain] : llvm::zip_equal(totals, chains))
      result.push_back(arith::AddFOp::create(k.b, k.loc, total, chain));
    return result;
  };
  totals = k.loop(k.index(0), k.index(whole * kChainPart), kChainPart, totals, [&](Value begin, ValueRange totals) {
    SmallVector<Value> result = add(totals, wholePart(begin));
    k.barrier(); // the next part's slices take the place of this one's
    return result;
  });
  return rest ? add(totals, lastPart()) : totals;
}

void TileProduct::emit(llvm::function_ref<void(ValueRange)> body) {
  SmallVector<Value> all = sums();
  for (Value &sum : all) sum = k.pin(sum);
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
