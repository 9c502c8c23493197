// erf of f64, for targets that have no library to call.
#include "lib/Target/Math/Functions.h"
#include "lib/Target/Math/Twofold.h"

using namespace sprig;
using namespace sprig::expand;

// erf x = x (c + x^2 Q(x^2)) with c = 2 / sqrt(pi) in two parts.
static Value erfNear(ScalarBuilder &s, Value x) {
  constexpr double kHigh = 0x1.20dd750429b6dp+0, kLow = 0x1.1ae3a914fed80p-56;
  Value square = s.mul(x, x);
  Value q = s.polynomial(square, {-0.37612638903183754, 0.11283791670955123, -0.026866170645129278,
                                  0.005223977625387334, -0.0008548327015631521, 0.00012055332330828792,
                                  -1.4925616520474467e-05, 1.6460981947342933e-06, -1.6341394661681606e-07,
                                  1.4476574491554252e-08, -9.710085852347282e-10});
  Twofold product = productOf(s, x, s.f(x, kHigh));
  Value low = s.fma(x, s.f(x, kLow), product.low);
  return s.add(product.high, s.fma(s.mul(x, square), q, low));
}

// 1 - erfc a for a from 3/4 to 6, by polynomials of three parts of it around their middles.
static Value erfFar(ScalarBuilder &s, Value a) {
  static constexpr int kCount = 22;
  static constexpr double kFirst[kCount] = {
      0.05182992721790968,     -0.1703597736875156,     0.2342446888203328,     -0.15793770685613395,
      0.030500610523576124,    0.030605976268900683,    -0.022161235265973318,  0.0014190623614847512,
      0.004261033493288588,    -0.0015779112464733905,  -0.0003235919655099353, 0.00033910165495471017,
      -2.8678845928091273e-05, -4.175548817444391e-05,  1.1973492061622258e-05, 2.9753749902773813e-06,
      -1.8858950484972372e-06, -2.5288106300947182e-08, 1.7410917624843666e-07, -1.959046924455139e-08};
  static constexpr double kSecond[kCount] = {
      0.00010062192211963278,  -0.0005862772470937931, 0.0016122624295093735,  -0.0027603887050663503,
      0.003258113659545691,    -0.0027558084140886503, 0.0016573274056052184,  -0.0006460409563328312,
      8.901154867824792e-05,   7.122311081560567e-05,  -5.499684160032613e-05, 1.5843830475672918e-05,
      1.0705166739601917e-06,  -2.687657749301322e-06, 9.161506038954727e-07,  -2.3465243886521797e-09,
      -1.0826595368822019e-07, 3.414699867133033e-08,  2.7144750805659424e-09, -3.2913717298265146e-09};
  static constexpr double kThird[kCount] = {
      1.8485050600597523e-11, -1.7934357148908584e-10, 8.518815134490865e-10,  -2.6378448363644698e-09,
      5.980932633829967e-09,  -1.0572401421554316e-08, 1.5144603019582366e-08, -1.8036260538924746e-08,
      1.8173391106901695e-08, -1.5675590364516307e-08, 1.1659172797106981e-08, -7.5049982814165e-09,
      4.178306642972349e-09,  -1.993904836968085e-09,  7.979507080481838e-10,  -2.5941309331967484e-10,
      6.406964582884219e-11,  -6.715696505666949e-12,  -4.656511636875435e-12, 2.8522580915813216e-12,
      -5.081101165203323e-13, -7.690346966986549e-15};
  Value inSecond = s.gt(a, 2), inThird = s.gt(a, 3.5);
  auto choose = [&](double first, double second, double third) {
    return s.select(inThird, s.f(a, third), s.select(inSecond, s.f(a, second), s.f(a, first)));
  };
  // The polynomial's last step, and the difference, in two parts.
  Value x = s.sub(a, choose(1.375, 2.75, 4.75)), sum = s.f(a, 0);
  for (int i = kCount - 1; i >= 1; --i) sum = s.fma(sum, x, choose(kFirst[i], kSecond[i], kThird[i]));
  Twofold rest = sumOf(s, s.f(a, 1), s.neg(choose(kFirst[0], kSecond[0], kThird[0])));
  return rounded(s, add(s, rest, neg(s, productOf(s, sum, x))));
}

Value expand::erfDouble(ScalarBuilder &s, Value x) {
  Value a = s.abs(x), isFar = s.gt(a, 0.75);
  Value bounded = s.select(s.gt(a, 6), s.f(a, 6), a); // 1 from there on
  return s.copySign(s.select(isFar, erfFar(s, bounded), erfNear(s, a)), x);
}
