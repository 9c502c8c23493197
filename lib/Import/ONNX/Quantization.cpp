// Quantisation, and products and convolutions of quantised tensors.
#include "lib/Import/ONNX/Narrow.h"
#include "lib/Import/ONNX/Quantized.h"
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Tensor.h"

namespace sprig::onnximport {

Value convolve(Node &n, Value x, Value filter);
Value matmulOfAnyRank(Node &n, Value a, Value b);

static Type i32(Node &n) { return n.state.builder.getI32Type(); }

static std::pair<double, double> bounds(Type type) {
  auto integer = llvm::cast<mlir::IntegerType>(type);
  double span = double(uint64_t(1) << (integer.getWidth() < 64 ? integer.getWidth() : 63));
  return integer.isUnsigned() ? std::pair(0.0, span - 1) : std::pair(-span / 2, span / 2 - 1);
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
  Value v = n.op<ir::RoundOp>({n.div(x, scale)});
  if (zero) v = n.add(v, n.cast(zero, Emit::elem(v)));
  auto [low, high] = bounds(to);
  v = n.min(n.max(v, n.scalar(low, Emit::elem(v))), n.scalar(high, Emit::elem(v)));
  return n.cast(v, to);
}

Value dequantize(Node &n, Value x, Value scale, Value zero) {
  Value v = n.cast(x, i32(n));
  if (zero) v = n.sub(v, n.cast(zero, i32(n)));
  return n.mul(n.cast(v, n.f32()), n.cast(scale, n.f32()));
}

DynamicQuantized dynamicQuantize(Node &n, Value x) {
  Ints all;
  for (int64_t i = 0; i < Emit::rank(x); ++i) all.push_back(i);
  Value zero = n.scalar(0, n.f32());
  Value low = n.min(n.reduce(ir::ReduceKind::min, x, all, false), zero);
  Value high = n.max(n.reduce(ir::ReduceKind::max, x, all, false), zero);
  Value scale = n.div(n.sub(high, low), n.scalar(255, n.f32()));
  // All zeros: any scale serves, but not 0 / 0.
  Value safe = n.select(n.compare(ir::ComparePredicate::eq, scale, zero), n.scalar(1, n.f32()), scale);
  Value point = n.op<ir::RoundOp>({n.div(n.sub(zero, low), safe)});
  point = n.cast(n.min(n.max(point, zero), n.scalar(255, n.f32())), n.ui8());
  return {quantize(n, x, safe, point, n.ui8()), scale, point};
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

void dequantizeLinear(Node &n) {
  Value x = n.in(0), scale = n.in(1);
  const NarrowType *narrowed = n.item(0).narrow;
  int64_t axis = n.intAttr("axis", 1), block = n.intAttr("block_size", 0);
  Type to = n.intAttr("output_dtype", 0) != 0 ? n.typeAttr("output_dtype", Emit::elem(scale)) : Emit::elem(scale);
  Type exact = narrowed && narrowed->isFloat ? n.f32() : i32(n);
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

void matmulInteger(Node &n) {
  n.out(matmulOfAnyRank(n, centred(n, n.in(0), n.inOr(2, {}), true), centred(n, n.in(1), n.inOr(3, {}), false)));
}

void qLinearMatmul(Node &n) {
  Value product = matmulOfAnyRank(n, centred(n, n.in(0), n.in(2), true), centred(n, n.in(3), n.in(5), false));
  Value columnScale = Emit::count(n.in(4)) == 1 ? n.reshape(n.in(4), {}) : n.in(4);
  Value scale = n.div(n.mul(n.cast(rowScale(n, n.in(1)), n.f32()), n.cast(columnScale, n.f32())),
                      n.cast(rowScale(n, n.in(6)), n.f32()));
  Value v = n.op<ir::RoundOp>({n.mul(n.cast(product, n.f32()), scale)});
  Type to = Emit::elem(n.in(7));
  v = n.add(v, n.cast(rowScale(n, n.in(7)), n.f32()));
  auto [low, high] = bounds(to);
  n.out(n.cast(n.min(n.max(v, n.scalar(low, n.f32())), n.scalar(high, n.f32())), to));
}

/// A filter's zero point, scalar or per output channel, taken off.
Value centredFilter(Node &n, Value filter, Value zero) {
  Value wide = n.cast(filter, i32(n));
  if (!zero) return wide;
  return n.sub(wide, n.cast(spread(n, zero, filter, 0, 0), i32(n)));
}

void convInteger(Node &n) {
  n.out(convolve(n, centred(n, n.in(0), n.inOr(2, {}), false), centredFilter(n, n.in(1), n.inOr(3, {}))));
}

void qLinearConv(Node &n) {
  Value product = convolve(n, centred(n, n.in(0), n.in(2), false), centredFilter(n, n.in(3), n.in(5)));
  if (n.has(8)) product = n.add(product, spread(n, n.in(8), product, 1, 0));
  Value scale = n.div(n.mul(n.reshape(n.in(1), {}), spread(n, n.in(4), product, 1, 0)), n.reshape(n.in(6), {}));
  Type to = Emit::elem(n.in(7));
  Value v = n.add(n.op<ir::RoundOp>({n.mul(n.cast(product, n.f32()), scale)}), n.cast(n.reshape(n.in(7), {}), n.f32()));
  auto [low, high] = bounds(to);
  n.out(n.cast(n.min(n.max(v, n.scalar(low, n.f32())), n.scalar(high, n.f32())), to));
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
