// Numbers as sums of two f64, the second what the first was rounded by: some 106 bits. For functions of f64 that would
// lose their last bits otherwise. Private to this folder.
#pragma once
#include "dialects/NN/ScalarBuilder.h"

namespace sprig::expand {

using mlir::Value;

struct Twofold {
  Value high, low;
};

/// The sum and its rounding error, where |a| >= |b| or a is zero (Dekker 1971).
Twofold sumOf(ScalarBuilder &s, Value a, Value b);
/// The sum and its rounding error (Knuth, The Art of Computer Programming 2, 4.2.2).
Twofold sumOfAny(ScalarBuilder &s, Value a, Value b);
/// The product and its rounding error.
Twofold productOf(ScalarBuilder &s, Value a, Value b);

Twofold add(ScalarBuilder &s, Twofold a, Twofold b);
Twofold mul(ScalarBuilder &s, Twofold a, Twofold b);
Twofold div(ScalarBuilder &s, Twofold a, Twofold b);
/// The root of zero is zero; of numbers below it NaN.
Twofold sqrt(ScalarBuilder &s, Twofold a);

inline Twofold exactly(ScalarBuilder &s, Value a) { return {a, s.f(a, 0)}; }
/// A constant that does not depend on anything.
inline Twofold constant(ScalarBuilder &s, Value model, double high, double low) {
  return {s.f(model, high), s.f(model, low)};
}
inline Twofold neg(ScalarBuilder &s, Twofold a) { return {s.neg(a.high), s.neg(a.low)}; }
inline Twofold select(ScalarBuilder &s, Value c, Twofold a, Twofold b) {
  return {s.select(c, a.high, b.high), s.select(c, a.low, b.low)};
}
inline Value rounded(ScalarBuilder &s, Twofold a) { return s.add(a.high, a.low); }
/// Of a function that is 0 at 0: zeros keep their sign.
inline Value keepZero(ScalarBuilder &s, Value x, Value result) {
  return s.select(s.cmp(mlir::arith::CmpFPredicate::OEQ, x, 0), x, result);
}

/// 2^k of i64, from -1022 to 1023.
Value powerOfTwo(ScalarBuilder &s, Value k);
/// x 2^k in two steps, since 2^k may be beyond f64 where the product is not.
Value scaled(ScalarBuilder &s, Value x, Value k);

/// The logarithm of a positive finite number, off by some 1e-19 of itself.
Twofold logarithmOf(ScalarBuilder &s, Value x);

} // namespace sprig::expand
