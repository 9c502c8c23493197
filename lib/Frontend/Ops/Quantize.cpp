// Fake quantisation.
#include "sprig/quantize.h"
#include "lib/Frontend/Ops/Emitter.h"

namespace sprig {

using frontend::Attr;
using frontend::Emitter;

namespace {

struct Integers {
  int64_t low, high;
};
std::optional<Integers> integersOf(DType type) {
  switch (type) {
  case DType::i8: return Integers{-128, 127};
  case DType::u8: return Integers{0, 255};
  case DType::i16: return Integers{-32768, 32767};
  case DType::u16: return Integers{0, 65535};
  default: return std::nullopt;
  }
}

void requireSpread(const Emitter &r, const Tensor &parameter, const char *what, const TensorType &type) {
  Shape common;
  if (!frontend::broadcastShapes(parameter.type(r.at).shape, type.shape, common) || !(common == type.shape))
    r.fail(std::string("has ") + what + " " + describe(parameter.type(r.at)) + ", which does not broadcast to " +
           describe(type));
}

} // namespace

Tensor fakeQuantize(const Operand &x, const Operand &scale, const Operand &zeroPoint, const QuantizedRange &range) {
  Emitter r("fakeQuantize", x.at);
  Tensor input = r.requireFloat(x);
  const TensorType type = input.type(r.at);
  Tensor steps = r.converted(scale, type.dtype), zero = zeroPoint.tensor;
  DType integers = r.typeOf(zero, "the zero point").dtype;
  std::optional<Integers> all = integersOf(integers);
  if (!all) r.fail("has a zero point " + describe(zero.type(r.at)) + "; expected i8, u8, i16 or u16");
  requireSpread(r, steps, "a scale", type);
  requireSpread(r, zero, "a zero point", type);
  int64_t low = range.low.value_or(all->low), high = range.high.value_or(all->high);
  if (low < all->low || high > all->high || low >= high)
    r.fail("clips to " + std::to_string(low) + " to " + std::to_string(high) + ", expected two of " +
           std::to_string(all->low) + " to " + std::to_string(all->high) + ", in order");
  frontend::AttrList attrs;
  if (low > all->low) attrs.push_back(Attr::of("low", low));
  if (high < all->high) attrs.push_back(Attr::of("high", high));
  return r.emit(SPRIG_OP("fake_quantize"), {input, steps, zero}, std::move(attrs), type);
}

} // namespace sprig
