// Quantisation, and products and convolutions of quantised tensors.
#include "lib/Import/ONNX/Narrow.h"
#include "lib/Import/ONNX/Quantized.h"
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/IntegerProducts.h"
#include "dialects/NN/NNQuantized.h"
#include "dialects/NN/NNUnary.h"

namespace sprig::onnximport {

Value convolve(Node &n, Value x, Value filter);
Value convolve(Node &n, Value x, Value filter, Value inputZero, Value filterZero);
Value matmulOfAnyRank(Node &n, Value a, Value b);

static Type i32(Node &n) { return n.state.builder.getI32Type(); }

/// Without a zero point it is 0.
static Value zeroOr(Node &n, Value zero, Type element) {
  if (!zero) return n.scalar(0, element);
  return Emit::count(zero) == 1 ? n.reshape(zero, {}) : zero;
}

Value spread(Node &n, Value parameter, Value x, int64_t axisAttr, int64_t block) {
  int64_t rank = Emit::rank(x);
  if (Emit::count(parameter) == 1 && Emit::rank(parameter) <= 1) return n.reshape(parameter, {});
  int64_t axis = n.axis(axisAttr, rank);
  if (block == 0) {
    n.require(Emit::rank(parameter) == 1 && Emit::shape(parameter)[0] == Emit::shape(x)[axis],
              "has a scale or zero point " + typeText(parameter) + " for axis " + std::to_string(axis) + " of " +
                  typeText(x));
    Ints shape(size_t(rank), 1);
    shape[axis] = Emit::count(parameter);
    return n.reshape(parameter, shape);
  }
  n.require(block > 0 && Emit::rank(parameter) == rank,
            "has a scale " + typeText(parameter) + " for blocks of " + std::to_string(block) + " of " + typeText(x));
  Ints repeats(Emit::shape(parameter)), joined(Emit::shape(parameter)), split(Emit::shape(parameter));
  n.require((Emit::shape(x)[axis] + block - 1) / block == split[axis],
            "has " + std::to_string(split[axis]) + " blocks of " + std::to_string(block) + " along axis " +
                std::to_string(axis) + " of " + typeText(x));
  split.insert(split.begin() + axis + 1, 1);
  repeats.insert(repeats.begin() + axis + 1, block);
  joined[axis] *= block;
  Value repeated = n.reshape(n.broadcast(n.reshape(parameter, split), repeats), joined);
  return n.sliceAxis(repeated, axis, 0, Emit::shape(x)[axis]);
}

Value quantize(Node &n, Value x, Value scale, Value zero, Type to) {
  return n.op<ir::QuantizeOp>({x, scale, zeroOr(n, zero, to)});
}

Value dequantize(Node &n, Value x, Value scale, Value zero) {
  return n.op<ir::DequantizeOp>({x, n.cast(scale, n.f32()), zeroOr(n, zero, Emit::elem(x))});
}

Value requantize(Node &n, Value sums, Value factor, Value zero) {
  Value v = n.mul(n.cast(sums, n.f32()), factor);
  return quantize(n, v, n.scalar(1, n.f32()), zero, Emit::elem(zero));
}

/// Whether two tensors are of bytes, for which there are products of their own.
static bool areBytes(Value a, Value b) { return Emit::elem(a).isInteger(8) && Emit::elem(b).isInteger(8); }

/// A zero point that belongs to the rows of a matrix stands in a column.
static Value rowZero(Node &n, Value zero, Type element) {
  if (zero && Emit::count(zero) != 1 && Emit::rank(zero) == 1) return n.reshape(zero, {Emit::count(zero), 1});
  return zeroOr(n, zero, element);
}

Value multiplyIntegers(Node &n, Value a, Value b, Value aZero, Value bZero) {
  auto fits = [](Value zero) { return !zero || Emit::count(zero) == 1 || Emit::rank(zero) <= 2; };
  if (areBytes(a, b) && Emit::rank(a) >= 2 && Emit::rank(b) >= 2 && fits(aZero) && fits(bZero))
    return n.op<ir::MatmulIntegerOp>({a, b, rowZero(n, aZero, Emit::elem(a)), zeroOr(n, bZero, Emit::elem(b))});
  return matmulOfAnyRank(n, centred(n, a, aZero, true), centred(n, b, bZero, false));
}

/// A filter's zero point, scalar or per output channel, taken off.
static Value centredFilter(Node &n, Value filter, Value zero) {
  Value wide = n.cast(filter, i32(n));
  if (!zero) return wide;
  return n.sub(wide, n.cast(spread(n, zero, filter, 0, 0), i32(n)));
}

Value convolveIntegers(Node &n, Value x, Value filter, Value xZero, Value filterZero) {
  if (areBytes(x, filter) && (!xZero || Emit::count(xZero) == 1)) {
    Value zero = zeroOr(n, filterZero, Emit::elem(filter));
    if (Emit::count(zero) != 1) zero = spread(n, filterZero, filter, 0, 0);
    return convolve(n, x, filter, zeroOr(n, xZero, Emit::elem(x)), zero);
  }
  return convolve(n, centred(n, x, xZero, false), centredFilter(n, filter, filterZero));
}

DynamicQuantized dynamicQuantize(Node &n, Value x) {
  ir::Expression e(n.state.builder, n.loc);
  ir::DynamicBytes q = ir::quantizeByRange(e, x);
  return {q.bytes, q.scale, q.zero};
}

Value centred(Node &n, Value x, Value zero, bool rows) {
  Value wide = n.cast(x, i32(n));
  if (!zero) return wide;
  if (Emit::count(zero) == 1) return n.sub(wide, n.cast(n.reshape(zero, {}), i32(n)));
  if (Emit::rank(zero) == 1 && rows) zero = n.reshape(zero, {Emit::count(zero), 1});
  return n.sub(wide, n.cast(zero, i32(n)));
}

Value rowScale(Node &n, Value scale) {
  if (Emit::count(scale) == 1) return n.reshape(scale, {});
  return Emit::rank(scale) == 1 ? n.reshape(scale, {Emit::count(scale), 1}) : scale;
}

namespace {

/// Quantises to a type that is narrow: to its nearest number, or to an integer of its range.
void quantizeNarrow(Node &n, Value x, Value scale, const NarrowType &to) {
  int64_t axis = n.intAttr("axis", 1), block = n.intAttr("block_size", 0);
  Value zero = n.has(2) ? spread(n, widen(n, n.in(2), to), x, axis, block) : Value(), v = n.div(x, scale);
  if (to.isFloat) {
    if (zero) v = n.add(v, zero);
    return n.outItem(Item(narrow(n, v, to, n.intAttr("saturate", 1) != 0), &to));
  }
  v = n.op<ir::RoundOp>({v});
  if (zero) v = n.add(v, n.cast(zero, Emit::elem(v)));
  double span = double(1 << to.bits), low = to.isSigned ? -span / 2 : 0;
  v = n.min(n.max(v, n.scalar(low, Emit::elem(v))), n.scalar(low + span - 1, Emit::elem(v)));
  n.outItem(Item(n.cast(v, storageType(n.context(), to.dataType)), &to));
}

void quantizeLinear(Node &n) {
  Value x = n.in(0), scale = n.in(1);
  int64_t axis = n.intAttr("axis", 1), block = n.intAttr("block_size", 0);
  // Halves are quantised in f32, as are integers.
  Value wide = Emit::elem(x).isF64() ? x : n.cast(x, n.f32());
  Value wideScale = n.cast(spread(n, scale, x, axis, block), Emit::elem(wide));
  int64_t asked = n.intAttr("output_dtype", 0);
  if (const NarrowType *narrowed = n.has(2) ? n.item(2).narrow : narrowType(int(asked)))
    return quantizeNarrow(n, wide, wideScale, *narrowed);
  Type to = n.has(2) ? Emit::elem(n.in(2)) : n.ui8();
  if (!n.has(2) && asked != 0) to = n.typeAttr("output_dtype", to);
  if (!llvm::isa<mlir::IntegerType>(to)) n.unsupported("quantises to a float type");
  Value zero = n.has(2) ? spread(n, n.in(2), x, axis, block) : Value();
  n.out(quantize(n, wide, wideScale, zero, to));
}

/// Blocks become a dimension of their own where all are whole, so that scales and zero points are not repeated.
Value dequantizeAlong(Node &n, Value x, Value scale, Value zero, int64_t axisAttr, int64_t block) {
  int64_t rank = Emit::rank(x), axis = 0;
  bool isWhole = block > 0 && Emit::rank(scale) == rank && (!zero || Emit::shape(zero) == Emit::shape(scale));
  if (isWhole) {
    axis = n.axis(axisAttr, rank);
    isWhole = Emit::shape(scale)[axis] * block == Emit::shape(x)[axis];
  }
  auto spreadOut = [&](Value v) { return v ? spread(n, v, x, axisAttr, block) : v; };
  if (!isWhole) return dequantize(n, x, spreadOut(scale), spreadOut(zero));
  Ints split(Emit::shape(x));
  split[size_t(axis)] /= block;
  split.insert(split.begin() + axis + 1, block);
  auto perBlock = [&](Value v) { return v ? n.unsqueeze(v, axis + 1) : v; };
  return n.reshape(dequantize(n, n.reshape(x, split), perBlock(scale), perBlock(zero)), Emit::shape(x));
}

void dequantizeLinear(Node &n) {
  Value x = n.in(0), scale = n.in(1);
  const NarrowType *narrowed = n.item(0).narrow;
  int64_t axis = n.intAttr("axis", 1), block = n.intAttr("block_size", 0);
  Type to = n.intAttr("output_dtype", 0) != 0 ? n.typeAttr("output_dtype", Emit::elem(scale)) : Emit::elem(scale);
  Type element = Emit::elem(x);
  bool isInteger = narrowed ? !narrowed->isFloat : llvm::isa<mlir::IntegerType>(element);
  if (isInteger && element.getIntOrFloatBitWidth() <= 32)
    return n.out(n.cast(dequantizeAlong(n, x, scale, n.inOr(2, {}), axis, block), to));
  Type exact = narrowed ? n.f32() : i32(n);
  auto numbers = [&](Value v) { return n.cast(narrowed ? widen(n, v, *narrowed) : v, exact); };
  Value v = numbers(x);
  if (n.has(2)) v = n.sub(v, numbers(spread(n, n.in(2), x, axis, block)));
  Value wideScale = n.cast(spread(n, scale, x, axis, block), n.f32());
  n.out(n.cast(n.mul(n.cast(v, n.f32()), wideScale), to));
}

void dynamicQuantizeLinear(Node &n) {
  DynamicQuantized q = dynamicQuantize(n, n.in(0));
  n.out(q.values, 0);
  n.out(q.scale, 1);
  n.out(q.zero, 2);
}

void matmulInteger(Node &n) { n.out(multiplyIntegers(n, n.in(0), n.in(1), n.inOr(2, {}), n.inOr(3, {}))); }

void qLinearMatmul(Node &n) {
  Value product = multiplyIntegers(n, n.in(0), n.in(3), n.in(2), n.in(5));
  Value columnScale = Emit::count(n.in(4)) == 1 ? n.reshape(n.in(4), {}) : n.in(4);
  Value scale = n.div(n.mul(n.cast(rowScale(n, n.in(1)), n.f32()), n.cast(columnScale, n.f32())),
                      n.cast(rowScale(n, n.in(6)), n.f32()));
  n.out(requantize(n, product, scale, rowScale(n, n.in(7))));
}

void convInteger(Node &n) { n.out(convolveIntegers(n, n.in(0), n.in(1), n.inOr(2, {}), n.inOr(3, {}))); }

void qLinearConv(Node &n) {
  Value product = convolveIntegers(n, n.in(0), n.in(3), n.in(2), n.in(5));
  if (n.has(8)) product = n.add(product, spread(n, n.in(8), product, 1, 0));
  Value scale = n.div(n.mul(n.reshape(n.in(1), {}), spread(n, n.in(4), product, 1, 0)), n.reshape(n.in(6), {}));
  n.out(requantize(n, product, scale, n.in(7)));
}

} // namespace

void addQuantization(Table &t) {
  t.add("QuantizeLinear", {10, 13, 19, 21, 23, 24, 25, 28}, quantizeLinear);
  t.add("DequantizeLinear", {10, 13, 19, 21, 23, 24, 25, 28}, dequantizeLinear);
  t.add("DynamicQuantizeLinear", {11}, dynamicQuantizeLinear);
  t.add("MatMulInteger", {10}, matmulInteger);
  t.add("QLinearMatMul", {10, 21}, qLinearMatmul);
  t.add("ConvInteger", {10}, convInteger);
  t.add("QLinearConv", {10}, qLinearConv);
}

} // namespace sprig::onnximport
