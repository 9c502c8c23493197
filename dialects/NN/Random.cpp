// Random numbers: Philox4x32-10 on scalars and vectors, and what is made of its bits.
#include "dialects/NN/ExpressionBuilder.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNRandom.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/ScalarBuilder.h"
#include <cmath>

using namespace mlir;

namespace sprig::ir {

// Constants and rounds of Salmon et al. 2011.
Value PhiloxOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  Type word = s.b.getI32Type();
  auto low = [&](Value v) { return s.to<arith::TruncIOp>(v, word); };
  auto high = [&](Value v) { return low(s.shru(v, 32)); };
  Value index = args[0], key0 = low(args[1]), key1 = high(args[1]);
  Value c[4] = {low(s.shru(index, 2)), Value(), low(args[2]), high(args[2])};
  c[1] = s.i(c[0], static_cast<int64_t>(getStream()));
  for (int round = 0; round < 10; ++round) {
    auto p0 = arith::MulUIExtendedOp::create(s.b, s.loc, c[0], s.i(c[0], 0xD2511F53));
    auto p1 = arith::MulUIExtendedOp::create(s.b, s.loc, c[2], s.i(c[2], 0xCD9E8D57));
    Value next0 = s.xori(s.xori(p1.getHigh(), c[1]), key0), next2 = s.xori(s.xori(p0.getHigh(), c[3]), key1);
    c[0] = next0, c[1] = p1.getLow(), c[2] = next2, c[3] = p0.getLow();
    key0 = s.addi(key0, 0x9E3779B9);
    key1 = s.addi(key1, 0xBB67AE85);
  }
  auto isWord = [&](int64_t n) { return s.cmp(arith::CmpIPredicate::eq, s.andi(low(index), 3), n); };
  return s.select(isWord(0), c[0], s.select(isWord(1), c[1], s.select(isWord(2), c[2], c[3])));
}

// The check itself is the kernel's (isCheckedAtRunTime).
Value ClassIndexOp::buildScalar(ScalarBuilder &, ValueRange args) { return args[0]; }

/// The row-major index of each element.
static Value elementIndices(Expression &e, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, e.b.getI64Type());
  Value index;
  int64_t stride = 1;
  for (int64_t d = shape.size() - 1; d >= 0; --d) {
    Value along = IotaOp::create(e.b, e.loc, type, d);
    if (stride != 1) along = e.mul(along, e.splat(along, double(stride))); // exact: fewer than 2^48 elements
    index = index ? e.add(along, index) : along;
    stride *= shape[d];
  }
  return index ? index : createSplat(e.b, e.loc, type, 0);
}

FailureOr<SmallVector<Value>> DropoutOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Value x = getOperand();
  double ratio = getRatio().convertToDouble();
  if (ratio == 0) return one(x);
  // Bits below the threshold drop: ratio of all 2^32, to the nearest.
  uint64_t threshold = std::llround(std::ldexp(ratio, 32));
  // At 1 all do. A result still goes with the operand at its place, so that ranks which have parts drop their own.
  if (threshold > UINT32_MAX)
    return one(e.select(createSplat(b, e.loc, getType().clone(b.getI1Type()), 0), x, e.splat(x, 0)));
  auto scalar = [&](Value v) { return e.reshape(v, {}); };
  Value bits = PhiloxOp::create(b, e.loc, elementIndices(e, getType().getShape()), scalar(getKey()),
                                scalar(getCounter()), getStream());
  Value isKept = e.compare(ComparePredicate::ge, bits, e.splat(bits, double(threshold)));
  Value wide = e.widened(x);
  Value scaled = e.cast(e.mul(wide, e.splat(wide, 1 / (1 - ratio))), getType().getElementType());
  return one(e.select(isKept, scaled, e.splat(x, 0)));
}

} // namespace sprig::ir
