#include "lib/Target/Math/Twofold.h"

using namespace sprig;
using namespace sprig::expand;

Twofold expand::sumOf(ScalarBuilder &s, Value a, Value b) {
  Value high = s.add(a, b);
  return {high, s.sub(b, s.sub(high, a))};
}

Twofold expand::sumOfAny(ScalarBuilder &s, Value a, Value b) {
  Value high = s.add(a, b), part = s.sub(high, a);
  return {high, s.add(s.sub(a, s.sub(high, part)), s.sub(b, part))};
}

Twofold expand::productOf(ScalarBuilder &s, Value a, Value b) {
  Value high = s.mul(a, b);
  return {high, s.fma(a, b, s.neg(high))};
}

Twofold expand::add(ScalarBuilder &s, Twofold a, Twofold b) {
  Twofold sum = sumOfAny(s, a.high, b.high);
  return sumOf(s, sum.high, s.add(sum.low, s.add(a.low, b.low)));
}

Twofold expand::mul(ScalarBuilder &s, Twofold a, Twofold b) {
  Twofold product = productOf(s, a.high, b.high);
  return sumOf(s, product.high, s.fma(a.low, b.high, s.fma(a.high, b.low, product.low)));
}

Twofold expand::div(ScalarBuilder &s, Twofold a, Twofold b) {
  Value quotient = s.div(a.high, b.high);
  Value rest = s.fma(s.neg(quotient), b.high, a.high); // exact
  rest = s.add(rest, s.fma(s.neg(quotient), b.low, a.low));
  return sumOf(s, quotient, s.div(rest, b.high));
}

Twofold expand::sqrt(ScalarBuilder &s, Twofold a) {
  Value root = s.sqrt(a.high);
  Value rest = s.add(s.fma(s.neg(root), root, a.high), a.low);
  Value low = s.div(rest, s.add(root, root));
  return {root, s.select(s.cmp(mlir::arith::CmpFPredicate::OEQ, root, 0), root, low)};
}

Value expand::powerOfTwo(ScalarBuilder &s, Value k) { return s.bits(s.shl(s.addi(k, 1023), 52), s.b.getF64Type()); }

Value expand::scaled(ScalarBuilder &s, Value x, Value k) {
  Value half = s.shrs(k, 1);
  return s.mul(s.mul(x, powerOfTwo(s, half)), powerOfTwo(s, s.subi(k, half)));
}
