// Quantisation and products of quantised tensors: scalar bodies, costs, decompositions.
#include "dialects/NN/NNQuantized.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/IntegerBounds.h"
#include "dialects/NN/IntegerProducts.h"
#include "dialects/NN/ScalarBuilder.h"
#include "dialects/NN/VjpExpression.h"

using namespace mlir;

namespace sprig::ir {

/// An integer in storage form as an i32.
static Value inWord(ScalarBuilder &s, Value x, Type element) {
  Type i32 = s.b.getI32Type();
  if (element.isInteger(32)) return x;
  return element.isUnsignedInteger() ? s.to<arith::ExtUIOp>(x, i32) : s.to<arith::ExtSIOp>(x, i32);
}

// Comparisons by selects are single instructions, and send NaN to the lowest number. Clipped first, between integers, a
// quotient is rounded, ties to even, by the addition of a number so large that the integer is the lower bits of the
// sum.
Value QuantizeOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  auto type = cast<IntegerType>(tensorOf(getResult()).getElementType());
  Type element = ScalarBuilder::elementOf(args[0]), i32 = s.b.getI32Type();
  Value zero = inWord(s, args[2], type), offset = s.to<arith::SIToFPOp>(zero, element);
  double span = double(uint64_t(1) << type.getWidth()), low = type.isUnsigned() ? 0 : -span / 2;
  Value lowest = s.sub(s.f(offset, low), offset), highest = s.sub(s.f(offset, low + span - 1), offset);
  Value v = s.div(args[0], args[1]);
  v = s.select(s.cmp(arith::CmpFPredicate::OGT, v, lowest), v, lowest);
  v = s.select(s.cmp(arith::CmpFPredicate::OLT, v, highest), v, highest);
  v = s.add(v, element.isF64() ? 0x1.8p52 : 0x1.8p23);
  Value integer = element.isF64() ? s.to<arith::TruncIOp>(s.bits(v, s.b.getI64Type()), i32) : s.bits(v, i32);
  return s.to<arith::TruncIOp>(s.addi(integer, zero), s.b.getIntegerType(type.getWidth()));
}

Value DequantizeOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  Type element = tensorOf(getOperand()).getElementType();
  Value difference = s.subi(inWord(s, args[0], element), inWord(s, args[2], element));
  return s.mul(s.to<arith::SIToFPOp>(difference, ScalarBuilder::elementOf(args[1])), args[1]);
}

// Of the scale alone: integers have no gradient.
LogicalResult DequantizeOp::buildVjp(VjpExpression &e) {
  if (!e.needs(1)) return success();
  Type i32 = e.b.getI32Type();
  Value difference = e.sub(e.cast(getOperand(), i32), e.cast(getZero(), i32));
  Value numbers = e.cast(difference, tensorOf(getScale()).getElementType());
  e.give(1, e.unbroadcast(e.mul(e.g(), numbers), getScale().getType()));
  return success();
}

FailureOr<SmallVector<Value>> FakeQuantizeOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Value q = QuantizeOp::create(b, getLoc(), getOperand(), getScale(), getZero());
  IntegerBounds all = integersOf(tensorOf(getZero()).getElementType()), kept = all.clipped(getLow(), getHigh());
  if (kept.low > all.low) q = e.binary<MaxOp>(q, e.splat(q, double(kept.low)));
  if (kept.high < all.high) q = e.binary<MinOp>(q, e.splat(q, double(kept.high)));
  return SmallVector<Value>{DequantizeOp::create(b, getLoc(), q, getScale(), getZero())};
}

// The integers again, as floats: exact, and cheaper than to keep them. NaN is clipped, to the lowest as by nn.quantize.
LogicalResult FakeQuantizeOp::buildVjp(VjpExpression &e) {
  IntegerBounds kept = integersOf(tensorOf(getZero()).getElementType()).clipped(getLow(), getHigh());
  Value x = e.widened(getOperand()), scale = e.widened(getScale());
  Value zero = e.cast(getZero(), tensorOf(x).getElementType()), quotient = e.div(x, scale);
  Value integer = e.add(e.unary<RoundOp>(quotient), zero);
  Value low = e.splat(integer, double(kept.low)), high = e.splat(integer, double(kept.high));
  Value clipped = e.select(e.compare(ComparePredicate::gt, integer, low), integer, low);
  clipped = e.select(e.compare(ComparePredicate::lt, clipped, high), clipped, high);
  Value isKept = e.compare(ComparePredicate::eq, integer, clipped);
  e.give(0, getOperand(), [&] { return e.select(isKept, e.g(), e.splat(e.g(), 0)); });
  e.give(1, getScale(), [&] {
    Value steps = e.sub(e.sub(clipped, zero), e.select(isKept, quotient, e.splat(quotient, 0)));
    return e.mul(e.g(), e.cast(steps, tensorOf(e.g()).getElementType()));
  });
  return success();
}

int64_t MatmulIntegerOp::getFlops() { return 2 * getType().getNumElements() * tensorOf(getLhs()).getShape().back(); }
int64_t ConvIntegerOp::getFlops() {
  return 2 * getType().getNumElements() * llvm::product_of(tensorOf(getFilter()).getShape().drop_front());
}

/// The elements of a constant of bytes as numbers; nothing of other values.
static std::optional<SmallVector<int>> bytesOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  std::string reason;
  if (!constant || !isReadableConstant(constant.getValue(), reason)) return std::nullopt;
  bool isUnsigned = tensorOf(value).getElementType().isUnsignedInteger();
  SmallVector<int> numbers;
  for (char byte : ConstantView(constant.getValue()).expanded())
    numbers.push_back(isUnsigned ? int(uint8_t(byte)) : int(int8_t(byte)));
  return numbers;
}

static Value wordConstant(Expression &e, ArrayRef<uint32_t> numbers, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, e.b.getI32Type());
  ArrayRef<char> bytes(reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(uint32_t));
  return ConstantOp::create(e.b, e.loc, type, makeConstant(type, bytes));
}

/// `perPlace` elements in a row share a zero point of `places`, which repeat. Where a difference of a place leaves i8,
/// its bytes count from the middle of their type.
static IntegerWeight centredConstant(Expression &e, Value weight, Value zero, int64_t perPlace, int64_t places) {
  auto numbers = bytesOf(weight), zeros = bytesOf(zero);
  if (!numbers || !zeros) return {};
  int middle = tensorOf(weight).getElementType().isUnsignedInteger() ? 128 : 0;
  auto placeOf = [&](size_t i) { return int64_t(i) / perPlace % places; };
  auto zeroOf = [&](int64_t place) { return (*zeros)[zeros->size() == 1 ? 0 : size_t(place)]; };
  SmallVector<uint32_t> rest(size_t(places), 0);
  for (auto [i, number] : llvm::enumerate(*numbers)) {
    int64_t place = placeOf(i);
    int zeroPoint = zeroOf(place), difference = number - zeroPoint;
    if (difference < -128 || difference > 127) rest[place] = uint32_t(middle - zeroPoint);
  }
  std::vector<char> bytes;
  bytes.reserve(numbers->size());
  for (auto [i, number] : llvm::enumerate(*numbers)) {
    int64_t place = placeOf(i);
    bytes.push_back(char(number - zeroOf(place) - int(rest[place])));
  }
  auto type = RankedTensorType::get(tensorOf(weight).getShape(), e.b.getI8Type());
  IntegerWeight centred{ConstantOp::create(e.b, e.loc, type, makeConstant(type, std::move(bytes))), {}};
  if (llvm::any_of(rest, [](uint32_t number) { return number != 0; })) centred.rest = wordConstant(e, rest, places);
  return centred;
}

/// The sums of a constant of i8 over all elements of each of `places`, as i32 that wraps. Taken here: of a large weight
/// no folder would keep the wide copy that nn.reduce adds up.
static Value sumsOfPlaces(Expression &e, Value weight, int64_t perPlace, int64_t places) {
  SmallVector<uint32_t> sums(places, 0);
  for (auto [i, number] : llvm::enumerate(*bytesOf(weight))) sums[int64_t(i) / perPlace % places] += uint32_t(number);
  return wordConstant(e, sums, places);
}

/// Bytes as unsigned ones, and their zero point in 32 bits: signed ones are moved up by half their range.
static std::pair<Value, Value> asUnsigned(Expression &e, Value x, Value zero) {
  Value wide = e.cast(zero, e.b.getI32Type());
  if (tensorOf(x).getElementType().isUnsignedInteger()) return {x, wide};
  Value moved = e.cast(x, e.b.getIntegerType(8, /*isSigned=*/false));
  return {e.binary<XorOp>(moved, e.splat(moved, 128)), e.add(wide, e.splat(wide, 128))};
}

static bool isZero(Value zero) {
  auto numbers = bytesOf(zero);
  return numbers && llvm::all_of(*numbers, [](int number) { return number == 0; });
}

/// x - zero in 32 bits.
static Value centred(Expression &e, Value x, Value zero) {
  Value wide = e.cast(x, e.b.getI32Type());
  return isZero(zero) ? wide : e.sub(wide, e.cast(zero, e.b.getI32Type()));
}

/// number in every place, as an i32.
static Value word(Expression &e, int64_t number) { return wordConstant(e, uint32_t(number), {}); }

DynamicBytes quantizeByRange(Expression &e, Value x) {
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(x).getRank()));
  Value none = e.splat(x, 0);
  Value low = e.binary<MinOp>(e.reduce(ReduceKind::min, x, all, /*keepDims=*/false), none);
  Value high = e.binary<MaxOp>(e.reduce(ReduceKind::max, x, all, /*keepDims=*/false), none);
  DynamicBytes q;
  q.scale = e.div(e.sub(high, low), e.splat(x, 255));
  // All zeros: any scale serves, but not 0 / 0.
  q.divisor = e.select(e.compare(ComparePredicate::eq, q.scale, none), e.splat(x, 1), q.scale);
  Value point = e.unary<RoundOp>(e.div(e.sub(none, low), q.divisor));
  point = e.binary<MinOp>(e.binary<MaxOp>(point, none), e.splat(x, 255));
  q.zero = e.cast(point, e.b.getIntegerType(8, /*isSigned=*/false));
  q.bytes = QuantizeOp::create(e.b, e.loc, x, q.divisor, q.zero);
  return q;
}

namespace {
/// A matrix [K, N], or [N, K] where it is transposed.
struct MatrixSizes {
  int64_t depth, columns, perColumn;
  MatrixSizes(Value matrix, bool isTransposed) {
    ArrayRef<int64_t> shape = tensorOf(matrix).getShape();
    depth = shape[isTransposed ? 1 : 0], columns = shape[isTransposed ? 0 : 1];
    perColumn = isTransposed ? depth : 1;
  }
};
} // namespace

IntegerWeight integerWeight(Expression &e, Value weight, Value zero, bool isTransposed) {
  MatrixSizes sizes(weight, isTransposed);
  return centredConstant(e, weight, zero, sizes.perColumn, sizes.columns);
}

Value columnSums(Expression &e, Value bytes, bool isTransposed) {
  MatrixSizes sizes(bytes, isTransposed);
  return sumsOfPlaces(e, bytes, sizes.perColumn, sizes.columns);
}

// With w - b = w' + c once and for all, sum (x - a)(w - b) is sum x w' - a sum w' + c sum (x - a): the sums of the
// columns of w' are constants too, c is 0 where the differences are bytes, and the product is one of ui8 and i8. In
// integers that wrap, all of these are equal.
Value multiplyBytes(Expression &e, Value x, Value zero, const IntegerWeight &weight, llvm::function_ref<Value()> sums,
                    bool isTransposed) {
  Type i32 = e.b.getI32Type();
  Value product =
      MatmulOp::create(e.b, e.loc, x, weight.bytes, /*transpose_lhs=*/false, isTransposed, TypeAttr::get(i32));
  if (zero) product = e.sub(product, e.mul(zero, sums()));
  if (!weight.rest) return product;
  Value ofRows = e.reduce(ReduceKind::sum, e.cast(x, i32), tensorOf(x).getRank() - 1, /*keepDims=*/true);
  if (zero) ofRows = e.sub(ofRows, e.mul(zero, word(e, tensorOf(x).getShape().back())));
  return e.add(product, e.mul(ofRows, weight.rest));
}

FailureOr<SmallVector<Value>> MatmulIntegerOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  bool isTransposed = getTransposeRhs();
  IntegerWeight weight;
  if (tensorOf(getRhs()).getRank() == 2) weight = integerWeight(e, getRhs(), getRhsZero(), isTransposed);
  if (!weight.bytes) {
    Value product = MatmulOp::create(b, getLoc(), centred(e, getLhs(), getLhsZero()),
                                     centred(e, getRhs(), getRhsZero()), /*transpose_lhs=*/false, isTransposed);
    return SmallVector<Value>{product};
  }
  auto [x, zero] = asUnsigned(e, getLhs(), getLhsZero());
  bool isCentred = x == getLhs() && isZero(getLhsZero());
  auto sums = [&] { return columnSums(e, weight.bytes, isTransposed); };
  return SmallVector<Value>{multiplyBytes(e, x, isCentred ? Value() : zero, weight, sums, isTransposed)};
}

/// The sums of x - zero over the windows of a convolution and over the channels of each group: [N, groups, 1,
/// spatial...], or without the 1 for one group. The padding adds nothing.
static Value sumsOfWindows(Expression &e, ConvIntegerOp op, Value x, Value zero) {
  RankedTensorType type = tensorOf(x);
  int64_t groups = int64_t(op.getGroups()), perGroup = type.getDimSize(1) / groups;
  SmallVector<int64_t> grouped(type.getShape());
  grouped[1] = groups;
  grouped.insert(grouped.begin() + 2, perGroup);
  Value sums = e.cast(x, e.b.getI32Type());
  sums = groups == 1 ? e.reduce(ReduceKind::sum, sums, 1, /*keepDims=*/true)
                     : e.reduce(ReduceKind::sum, e.reshape(sums, grouped), 2, /*keepDims=*/false);
  if (zero) sums = e.sub(sums, e.mul(zero, word(e, perGroup)));
  ArrayRef<int64_t> window = tensorOf(op.getFilter()).getShape().drop_front(2);
  auto isAll = [](ArrayRef<int64_t> values, int64_t wanted) {
    return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
  };
  if (!(isAll(window, 1) && isAll(op.getStrides(), 1) && isAll(op.getPadding(), 0)))
    sums = PoolOp::create(e.b, e.loc, ReduceKind::sum, sums, window, op.getStrides(), op.getDilations(),
                          op.getPadding(), /*channels_last=*/false);
  if (groups == 1) return sums;
  SmallVector<int64_t> shape(tensorOf(sums).getShape());
  shape.insert(shape.begin() + 2, 1);
  return e.reshape(sums, shape);
}

// As above; the padding, which counts as the zero point, is written out where that is not 0. Of filters of one channel
// each that are computed, sums are exact in f32.
FailureOr<SmallVector<Value>> ConvIntegerOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  RankedTensorType input = tensorOf(getInput()), filter = tensorOf(getFilter());
  int64_t taps = llvm::product_of(filter.getShape().drop_front()), outputs = filter.getDimSize(0),
          spatial = filter.getRank() - 2, groups = int64_t(getGroups());
  auto convolve = [&](Value x, Value w, DenseI64ArrayAttr padding, TypeAttr accumulator) -> Value {
    return ConvOp::create(b, getLoc(), x, w, getStridesAttr(), getDilationsAttr(), padding, getGroupsAttr(), UnitAttr(),
                          accumulator);
  };
  constexpr int64_t kExactTaps = (1 << 24) / (255 * 255);
  Type i32 = b.getI32Type();
  bool isDepthwise = filter.getDimSize(1) == 1 && groups > 1 && taps <= kExactTaps;
  // Several filters for a channel are no dot products of their own kernel, and groups of so few would waste panels.
  bool isMultiple = isDepthwise && outputs != groups;
  IntegerWeight weight;
  if (!isMultiple) weight = centredConstant(e, getFilter(), getFilterZero(), taps, outputs);
  if (!weight.bytes) {
    Value x = centred(e, getInput(), getInputZero()), w = centred(e, getFilter(), getFilterZero());
    if (!isDepthwise) return SmallVector<Value>{convolve(x, w, getPaddingAttr(), {})};
    Type f32 = b.getF32Type();
    return SmallVector<Value>{e.cast(convolve(e.cast(x, f32), e.cast(w, f32), getPaddingAttr(), {}), i32)};
  }
  auto [x, zero] = asUnsigned(e, getInput(), getInputZero());
  zero = e.reshape(zero, {});
  bool isCentred = x == getInput() && isZero(getInputZero());
  Value sums;
  if (weight.rest && !isDepthwise) sums = sumsOfWindows(e, *this, x, isCentred ? Value() : zero);
  ArrayRef<int64_t> padding = getPadding();
  DenseI64ArrayAttr paddingLeft = getPaddingAttr();
  if (!isCentred && llvm::any_of(padding, [](int64_t size) { return size != 0; })) {
    SmallVector<int64_t> low{0, 0}, high{0, 0};
    llvm::append_range(low, padding.take_front(spatial));
    llvm::append_range(high, padding.drop_front(spatial));
    Value value = e.cast(zero, tensorOf(x).getElementType());
    x = PadOp::create(b, getLoc(), PadMode::constant, x, value, low, high);
    paddingLeft = b.getDenseI64ArrayAttr(SmallVector<int64_t>(2 * spatial, 0));
  }
  TypeAttr accumulator = TypeAttr::get(i32);
  Value product = convolve(x, weight.bytes, paddingLeft, accumulator);
  SmallVector<int64_t> perChannel(input.getRank() - 1, 1);
  perChannel[0] = outputs;
  if (!isCentred) {
    Value ofFilters = sumsOfPlaces(e, weight.bytes, taps, outputs);
    product = e.sub(product, e.mul(zero, e.reshape(ofFilters, perChannel)));
  }
  if (!weight.rest) return SmallVector<Value>{product};
  if (isDepthwise) {
    // Sums of a channel's windows are products of bytes with ones.
    Value ones = createSplat(b, getLoc(), RankedTensorType::get(filter.getShape(), b.getI8Type()), 1);
    sums = convolve(x, ones, paddingLeft, accumulator);
    if (!isCentred) sums = e.sub(sums, e.mul(zero, word(e, taps)));
  } else if (groups > 1) {
    SmallVector<int64_t> perGroup(input.getRank(), 1);
    perGroup[0] = groups;
    perGroup[1] = outputs / groups;
    Value added = e.mul(sums, e.reshape(weight.rest, perGroup));
    return SmallVector<Value>{e.add(product, e.reshape(added, tensorOf(product).getShape()))};
  }
  return SmallVector<Value>{e.add(product, e.mul(sums, e.reshape(weight.rest, perChannel)))};
}

} // namespace sprig::ir
