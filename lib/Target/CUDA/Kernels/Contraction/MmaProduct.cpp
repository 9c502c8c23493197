#include "lib/Target/CUDA/Kernels/Contraction/MmaProduct.h"
#include "dialects/NN/SumOrder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

// An instruction multiplies 16 rows by 8 columns over 8 steps; each of its operands is in matrices of 8 places by 4
// steps, of which a lane has an element.
static constexpr int64_t kRows = 16, kColumns = 8, kSteps = 8, kMatrixSteps = 4;
// Elements of a 128-bit copy.
// Slices that are in shared memory at one time.
static constexpr int64_t kMostStages = 4;

MmaShape sprig::cuda::chooseMmaShape(int64_t products, int64_t rows, int64_t columns) {
  if (rows <= 16) return {16, 64, 32, 16, 16};
  if (columns <= 16) return {64, 16, 32, 16, 16};
  constexpr MmaShape kShapes[] = {{128, 128, 16, 64, 32}, {64, 64, 16, 32, 32}, {32, 32, 32, 16, 16}};
  constexpr int64_t kEnough = 128;
  for (const MmaShape &shape : kShapes) {
    int64_t tiles = llvm::divideCeil(rows, shape.rows) * llvm::divideCeil(columns, shape.columns);
    // At most half as much again as there is to compute.
    bool fits = 2 * tiles * shape.rows * shape.columns <= 3 * rows * columns;
    if (fits && products * tiles >= kEnough) return shape;
  }
  return kShapes[2];
}

bool sprig::cuda::isWorthMma(int64_t rows, int64_t columns) {
  constexpr int64_t kFew = 8, kNarrow = 16;
  return std::min(rows, columns) > kFew && std::max(rows, columns) > kNarrow;
}

// Copies, an element of which takes twelve; what multiplies is few beside them.
double sprig::cuda::instructionsPerProduct(const MmaShape &shape, double waste) {
  constexpr double kCopy = 12;
  return waste * kCopy * (1.0 / double(shape.rows) + 1.0 / double(shape.columns));
}

MmaProduct::MmaProduct(GpuBuilder &kernel, const MmaShape &shape, int64_t depth, MmaSide left, MmaSide right)
    : k(kernel), shape(shape), depth(depth), sliceCount(llvm::divideCeil(depth, shape.depth)),
      stages(std::clamp<int64_t>(sliceCount, 2, kMostStages)), f32(kernel.b.getF32Type()) {
  Value lane = k.rem(k.thread(), kWarp), warp = k.div(k.thread(), kWarp);
  group = k.div(lane, 4);
  inGroup = k.rem(lane, 4);
  shared = k.dynamicSharedBuffer(stages * stageSize(), f32);
  int64_t across = shape.columns / shape.warpColumns;
  this->left = slices(std::move(left), shape.rows, shape.warpRows, 0, /*placesFirst=*/true, k.div(warp, across));
  this->right = slices(std::move(right), shape.columns, shape.warpColumns, shape.rows * shape.depth,
                       /*placesFirst=*/false, k.rem(warp, across));
  begin = k.index(0);
  end = k.index(sliceCount);
}

void MmaProduct::endAt(Value steps) { end = k.div(k.add(steps, shape.depth - 1), shape.depth); }

void MmaProduct::onlyPart(Value part) {
  int64_t slices = kChainPart / shape.depth;
  begin = k.mul(part, slices);
  end = k.min(k.add(begin, slices), k.index(sliceCount));
  isPart = true;
}

MmaProduct::Slices MmaProduct::slices(MmaSide side, int64_t tile, int64_t own, int64_t begin, bool placesFirst,
                                      Value warp) {
  Slices s{std::move(side), tile, own, begin, placesFirst, k.mul(warp, own), {}, {}};
  if (s.stepsInner) {
    // Lane 8 m + r has the address of row r of matrix m.
    Value lane = k.rem(k.thread(), kWarp), half = k.rem(k.div(lane, 8), 2), part = k.div(lane, 16);
    if (!placesFirst) std::swap(half, part);
    Value place = k.add(k.mul(half, 8), k.rem(lane, 8));
    s.laneAt = k.add(k.mul(k.add(s.warp, place), shape.depth), begin);
    s.laneTurn = xorOf(part, turnOfPlace(place));
  } else {
    s.laneAt = k.add(k.add(k.mul(inGroup, tile), group), begin);
    s.laneTurn = turnOfStep(s, inGroup);
  }
  return s;
}

// Of steps that are inner: what the number of a group of four is combined with. Eight neighbouring places then have
// groups of one number at different banks.
Value MmaProduct::turnOfPlace(Value place) {
  constexpr int64_t kTogether = 8;
  int64_t quads = shape.depth / kQuad;
  return quads >= kTogether ? k.rem(place, kTogether) : k.rem(k.div(place, kTogether / quads), quads);
}

// Of places that are inner: the same for groups of eight. Four neighbouring steps have them at different banks.
Value MmaProduct::turnOfStep(const Slices &s, Value step) {
  constexpr int64_t kBanks = 32, kTogether = 4;
  int64_t rows = std::max<int64_t>(kBanks / s.tile, 1); // that banks go round in
  return k.mul(k.rem(k.div(step, rows), kTogether / rows), 8);
}

MmaProduct::Unit MmaProduct::unit(const Slices &s, Value i) {
  int64_t width = s.isWide ? kQuad : 1, inner = (s.stepsInner ? shape.depth : s.tile) / width;
  Value within = k.mul(k.rem(i, inner), width), outer = k.div(i, inner);
  if (!s.stepsInner) return {within, outer, k.add(k.mul(outer, s.tile), xorOf(within, turnOfStep(s, outer)))};
  Value quad = k.mul(xorOf(k.div(within, kQuad), turnOfPlace(outer)), kQuad);
  return {outer, within, k.add(k.mul(outer, shape.depth), k.add(quad, k.rem(within, kQuad)))};
}

Value MmaProduct::isBelow(Value index, Value bound) {
  return k.b.createOrFold<arith::CmpIOp>(k.loc, arith::CmpIPredicate::ult, index, bound);
}

Value MmaProduct::both(Value a, Value b) { return a && b ? Value(arith::AndIOp::create(k.b, k.loc, a, b)) : a ? a : b; }

// What is beyond the matrix or the last step is not read, and zeros come in its place.
void MmaProduct::copy(const Slices &s, Value firstStep, Value stage) {
  int64_t width = s.isWide ? kQuad : 1, units = s.tile * shape.depth / width, threads = shape.threads();
  auto one = [&](int64_t begin) {
    Unit own = unit(s, k.add(k.thread(), begin));
    Value place = k.add(s.first, own.place), step = k.add(firstStep, own.step);
    auto [from, isThere] = s.at(place, step);
    Value exists = both(both(s.places % s.tile ? isBelow(place, s.places) : Value(),
                             depth % shape.depth ? isBelow(step, depth) : Value()),
                        isThere);
    k.copyAsync(s.buffer, from, shared, k.add(k.add(stage, s.begin), own.at), width, exists);
  };
  for (int64_t begin = 0; begin < units; begin += threads)
    begin + threads <= units ? one(begin) : k.ifThen(isBelow(k.thread(), units - begin), [&] { one(begin); });
}

void MmaProduct::copySlice(Value slice) {
  Value stage = stageOf(slice), firstStep = k.mul(slice, shape.depth);
  for (const Slices *side : {&left, &right}) {
    if (side->enter) side->enter(firstStep);
    copy(*side, firstStep, stage);
  }
}

// Of 16 places from `place` of the warp's on and 8 steps of a slice: four matrices, of which the lane has place `group`
// and step `inGroup`. Rounded to tf32.
SmallVector<Value, 4> MmaProduct::readMatrices(const Slices &s, Value stage, int64_t place, int64_t step) {
  SmallVector<Value, 4> words;
  if (s.stepsInner) {
    Value quad = k.mul(xorOf(s.laneTurn, k.index(step / kQuad)), kQuad);
    Value at = k.add(k.add(k.add(stage, s.laneAt), place * shape.depth), quad);
    Value matrices = nvgpu::LdMatrixOp::create(k.b, k.loc, VectorType::get({4, 1}, f32), shared, at,
                                               /*transpose=*/false, /*numTiles=*/4);
    for (int64_t i = 0; i < 4; ++i)
      words.push_back(vector::ExtractOp::create(k.b, k.loc, matrices, ArrayRef<int64_t>{i, 0}));
  } else {
    // Groups change places within 32, where the warp begins or not.
    constexpr int64_t kBanks = 32;
    bool isAligned = s.own % kBanks == 0;
    for (int64_t i = 0; i < 4; ++i) {
      int64_t half = place + 8 * (s.placesFirst ? i % 2 : i / 2);
      int64_t part = step + kMatrixSteps * (s.placesFirst ? i / 2 : i % 2);
      Value low = isAligned ? k.index(half % kBanks) : k.add(s.warp, half);
      Value high = isAligned ? k.add(s.warp, half / kBanks * kBanks) : k.index(0);
      Value at = k.add(k.add(k.add(stage, s.laneAt), k.add(high, xorOf(low, s.laneTurn))), part * s.tile);
      words.push_back(k.load(shared, at, f32));
    }
  }
  for (Value &word : words)
    word = NVVM::ConvertFloatToTF32Op::create(k.b, k.loc, k.b.getI32Type(), word, NVVM::FPRoundingMode::RNA);
  return words;
}

Value MmaProduct::multiplyAdd(ArrayRef<Value> left, ArrayRef<Value> right, ValueRange sums) {
  using NVVM::MMALayout, NVVM::MMATypes;
  Type result = LLVM::LLVMStructType::getLiteral(k.b.getContext(), SmallVector<Type>(4, f32));
  return NVVM::MmaOp::create(k.b, k.loc, result, left, right, sums, ArrayRef<int64_t>{kRows, kColumns, kSteps},
                             /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
                             std::array{MMATypes::tf32, MMATypes::tf32}, std::array{MMALayout::row, MMALayout::col});
}

// Goes on with the warp's sums by a slice: those of 16 rows and 8 columns are four of a lane, of all rows and columns
// row by row.
SmallVector<Value> MmaProduct::multiplySlice(Value stage, ValueRange carried) {
  SmallVector<Value> sums(carried);
  for (int64_t step = 0; step < shape.depth; step += kSteps) {
    SmallVector<SmallVector<Value, 4>> b;
    for (int64_t column = 0; column < shape.warpColumns; column += 2 * kColumns)
      b.push_back(readMatrices(right, stage, column, step));
    Value *own = sums.begin();
    for (int64_t row = 0; row < shape.warpRows; row += kRows) {
      SmallVector<Value, 4> a = readMatrices(left, stage, row, step);
      for (const SmallVector<Value, 4> &two : b)
        for (int64_t i : {0, 2}) {
          Value made = multiplyAdd(a, {two[i], two[i + 1]}, ValueRange(ArrayRef(own, 4)));
          for (int64_t j = 0; j < 4; ++j) *own++ = LLVM::ExtractValueOp::create(k.b, k.loc, made, j);
        }
    }
  }
  return sums;
}

// Sums from zero over the slices from `begin` to `end`, each of which an earlier one has sent on its way. A group of
// copies for each slice: all but the last `stages - 2` have ended when the next is multiplied.
SmallVector<Value> MmaProduct::chains(Value begin, Value end) {
  SmallVector<Value> zeros(shape.warpRows * shape.warpColumns / kWarp, k.zero(f32));
  int64_t ahead = stages - 1;
  return k.loop(begin, end, 1, zeros, [&](Value slice, ValueRange carried) {
    k.waitForCopies(stages - 2);
    // All have copied this slice, and nobody reads the one before any more, in whose place the next one goes.
    k.barrier();
    if (sliceCount > ahead) {
      Value next = k.add(slice, ahead);
      k.ifThen(isBelow(next, this->end), [&] { copySlice(next); });
    }
    k.endCopyGroup();
    return multiplySlice(stageOf(slice), carried);
  });
}

SmallVector<Value> MmaProduct::sums() {
  std::optional<int64_t> known = isPart ? std::nullopt : getConstantIntValue(end);
  for (int64_t i = 0; i < stages - 1; ++i) {
    Value slice = k.add(begin, i);
    auto copyOne = [&] { copySlice(slice); };
    if (!known)
      k.ifThen(isBelow(slice, end), copyOne);
    else if (i < *known)
      copyOne();
    k.endCopyGroup();
  }
  if (isPart || depth <= kLongestChain) return chains(begin, end);
  int64_t part = kChainPart / shape.depth;
  SmallVector<Value> zeros(shape.warpRows * shape.warpColumns / kWarp, k.zero(f32));
  return k.loop(k.index(0), end, part, zeros, [&](Value begin, ValueRange totals) {
    SmallVector<Value> result, own = chains(begin, k.min(k.add(begin, part), end));
    for (auto [total, sum] : llvm::zip_equal(totals, own))
      result.push_back(arith::AddFOp::create(k.b, k.loc, total, sum));
    return result;
  });
}

void MmaProduct::emit(llvm::function_ref<void(Value, Value, ValueRange)> body) {
  SmallVector<Value> all = sums();
  ValueRange rest = all;
  for (int64_t row = 0; row < shape.warpRows; row += kRows)
    for (int64_t column = 0; column < shape.warpColumns; column += kColumns)
      for (int64_t half : {0, 8}) {
        Value r = k.add(k.add(left.first, left.warp), k.add(group, row + half));
        Value c = k.add(k.add(right.first, right.warp), k.add(k.mul(inGroup, 2), column));
        body(r, c, rest.take_front(2));
        rest = rest.drop_front(2);
      }
}

Value MmaProduct::exists(Value row, Value column) {
  Value result;
  for (auto [place, side] : {std::pair(row, &left), std::pair(column, &right)})
    if (side->places % side->tile) result = both(result, isBelow(place, side->places));
  return result;
}
