// Index arithmetic and control flow; Elements.cpp has the elements.
#include "lib/Target/Kernels/ElementBuilder.h"

using namespace mlir;
using namespace sprig;

Value ElementBuilder::flat(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() == 1) return buffer;
  auto flatType = MemRefType::get({type.getNumElements()}, type.getElementType());
  return memref::ReinterpretCastOp::create(b, loc, flatType, buffer, /*offset=*/int64_t{0},
                                           ArrayRef<int64_t>{type.getNumElements()}, ArrayRef<int64_t>{1});
}

Value ElementBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

static std::optional<int64_t> constantOf(Value value) { return getConstantIntValue(OpFoldResult(value)); }

static constexpr auto kNoWrap = arith::IntegerOverflowFlags::nsw;

Value ElementBuilder::add(Value a, Value b_) {
  auto ca = constantOf(a), cb = constantOf(b_);
  if (ca && cb) return index(*ca + *cb);
  if (ca && *ca == 0) return b_;
  if (cb && *cb == 0) return a;
  return arith::AddIOp::create(b, loc, a, b_, kNoWrap);
}

Value ElementBuilder::sub(Value a, Value b_) {
  auto ca = constantOf(a), cb = constantOf(b_);
  if (ca && cb) return index(*ca - *cb);
  if (cb && *cb == 0) return a;
  return arith::SubIOp::create(b, loc, a, b_, kNoWrap);
}

Value ElementBuilder::mul(Value a, int64_t factor) {
  if (auto ca = constantOf(a)) return index(*ca * factor);
  if (factor == 1) return a;
  if (factor == 0) return index(0);
  return arith::MulIOp::create(b, loc, a, index(factor), kNoWrap);
}

Value ElementBuilder::min(Value a, Value b_) {
  auto ca = constantOf(a), cb = constantOf(b_);
  if (ca && cb) return index(std::min(*ca, *cb));
  return arith::MinSIOp::create(b, loc, a, b_);
}

Value ElementBuilder::max(Value a, Value b_) {
  auto ca = constantOf(a), cb = constantOf(b_);
  if (ca && cb) return index(std::max(*ca, *cb));
  return arith::MaxSIOp::create(b, loc, a, b_);
}

Value ElementBuilder::div(Value a, int64_t divisor) {
  if (divisor == 1) return a;
  if (auto ca = constantOf(a)) return index(*ca / divisor);
  return arith::DivUIOp::create(b, loc, a, index(divisor));
}

Value ElementBuilder::rem(Value a, int64_t divisor) {
  if (divisor == 1) return index(0);
  if (auto ca = constantOf(a)) return index(*ca % divisor);
  return arith::RemUIOp::create(b, loc, a, index(divisor));
}

SmallVector<Value> ElementBuilder::delinearize(Value linear, ArrayRef<int64_t> sizes) {
  SmallVector<Value> indices(sizes.size());
  int64_t outer = 0; // the outermost dimension of a size above 1 needs no remainder
  while (outer + 1 < static_cast<int64_t>(sizes.size()) && sizes[outer] == 1) ++outer;
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= 0; --i) {
    int64_t size = std::max<int64_t>(sizes[i], 1); // an empty space is never entered
    indices[i] = i < outer ? index(0) : i == outer ? linear : rem(linear, size);
    if (i > outer) linear = div(linear, size);
  }
  return indices;
}

Value ElementBuilder::linearize(ValueRange indices, ArrayRef<int64_t> sizes) {
  Value linear = index(0);
  for (auto [i, size] : llvm::zip_equal(indices, sizes)) linear = add(mul(linear, size), i);
  return linear;
}

void ElementBuilder::loop(Value lower, Value upper, int64_t step, llvm::function_ref<void(Value)> body) {
  loop(lower, upper, step, ValueRange{}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>{};
  });
}

SmallVector<Value> ElementBuilder::loop(Value lower, Value upper, int64_t step, ValueRange initial,
                                        llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto low = constantOf(lower), high = constantOf(upper);
  if (low && high && *high <= *low) return SmallVector<Value>(initial);
  if (low && high && *high - *low <= step) return body(lower, initial);
  Value stepValue = index(step);
  auto loop = scf::ForOp::create(b, loc, lower, upper, stepValue, initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty()) scf::YieldOp::create(b, loc, results);
  return SmallVector<Value>(loop.getResults());
}

void ElementBuilder::ifThen(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  then();
  if (otherwise) {
    b.setInsertionPointToStart(op.elseBlock());
    otherwise();
  }
}

void ElementBuilder::ifLast(Value position, int64_t count, bool differs, llvm::function_ref<void(bool)> body) {
  if (!differs || count == 1) return body(differs);
  Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, position, index(count - 1));
  ifThen(last, [&] { body(true); }, [&] { body(false); });
}

Value sprig::isNan(ElementBuilder &k, Value value) {
  return arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::UNO, value, value);
}

Value sprig::isBeyond(ElementBuilder &k, Type elementType, bool larger, bool orEqual, Value a, Value b) {
  if (isa<FloatType>(elementType)) {
    auto predicate = larger ? (orEqual ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT)
                            : (orEqual ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::OLT);
    return arith::CmpFOp::create(k.b, k.loc, predicate, a, b);
  }
  using P = arith::CmpIPredicate;
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  P predicate = larger ? (orEqual ? (isUnsigned ? P::uge : P::sge) : (isUnsigned ? P::ugt : P::sgt))
                       : (orEqual ? (isUnsigned ? P::ule : P::sle) : (isUnsigned ? P::ult : P::slt));
  return arith::CmpIOp::create(k.b, k.loc, predicate, a, b);
}

Value sprig::precedes(ElementBuilder &k, Type elementType, bool largest, Value a, Value b) {
  Value beyond = isBeyond(k, elementType, largest, /*orEqual=*/false, a, b);
  if (!isa<FloatType>(elementType)) return beyond;
  Value first = largest ? a : b, second = largest ? b : a; // NaN comes first among the largest, last among the smallest
  Value nan = isNan(k, first);
  Value number = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::ORD, second, second);
  return arith::OrIOp::create(k.b, k.loc, beyond, arith::AndIOp::create(k.b, k.loc, nan, number));
}
