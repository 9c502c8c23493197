// Activations, and softmax over an axis.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/elementwise.h"

namespace sprig {

using frontend::Attr;
using frontend::Emitter;

Tensor relu(const Operand &x) {
  Emitter r("relu", x.at);
  Tensor operand = r.tensorOf(x);
  if (operand.type(r.at).dtype == DType::boolean) r.fail("is not for booleans; convert with to()");
  return r.relu(operand);
}

#define SPRIG_ACTIVATION(function, operation)                                                                          \
  Tensor function(const Operand &x) {                                                                                  \
    Emitter r(#function, x.at);                                                                                        \
    return r.unary(SPRIG_OP(operation), r.requireFloat(x));                                                            \
  }
SPRIG_ACTIVATION(silu, "silu")
SPRIG_ACTIVATION(mish, "mish")
SPRIG_ACTIVATION(softsign, "softsign")
SPRIG_ACTIVATION(hardSwish, "hard_swish")
#undef SPRIG_ACTIVATION

Tensor gelu(const Operand &x, Gelu form) {
  Emitter r("gelu", x.at);
  frontend::AttrList attrs;
  if (form == Gelu::tanh) attrs.push_back(Attr::unit("tanh_approximation"));
  return r.unary(SPRIG_OP("gelu"), r.requireFloat(x), std::move(attrs));
}

Tensor elu(const Operand &x, double alpha) {
  Emitter r("elu", x.at);
  return r.unary(SPRIG_OP("elu"), r.requireFloat(x), {Attr::of("alpha", alpha)});
}

Tensor celu(const Operand &x, double alpha) {
  Emitter r("celu", x.at);
  if (alpha == 0) r.fail("has alpha 0, by which it divides");
  return r.unary(SPRIG_OP("celu"), r.requireFloat(x), {Attr::of("alpha", alpha)});
}

Tensor selu(const Operand &x) {
  Emitter r("selu", x.at);
  // The paper's constants, which make mean 0 and variance 1 a fixed point.
  return r.unary(
      SPRIG_OP("selu"), r.requireFloat(x),
      {Attr::of("alpha", 1.6732632423543772848170429916717), Attr::of("gamma", 1.0507009873554804934193349852946)});
}

Tensor leakyRelu(const Operand &x, double negativeSlope) {
  Emitter r("leakyRelu", x.at);
  return r.unary(SPRIG_OP("leaky_relu"), r.requireFloat(x), {Attr::of("alpha", negativeSlope)});
}

Tensor hardSigmoid(const Operand &x) {
  Emitter r("hardSigmoid", x.at);
  return r.unary(SPRIG_OP("hard_sigmoid"), r.requireFloat(x), {Attr::of("alpha", 1.0 / 6), Attr::of("beta", 0.5)});
}

namespace {
Tensor bounded(const Emitter &r, const Tensor &x, double low, double high) {
  return r.atMost(r.atLeast(x, r.number(low, x)), r.number(high, x));
}
} // namespace

Tensor relu6(const Operand &x) {
  Emitter r("relu6", x.at);
  return bounded(r, r.requireFloat(x), 0, 6);
}

Tensor hardTanh(const Operand &x, double low, double high) {
  Emitter r("hardTanh", x.at);
  if (!(low <= high)) r.fail("is bounded by " + frontend::realText(low) + " and " + frontend::realText(high));
  return bounded(r, r.requireFloat(x), low, high);
}

Tensor logSigmoid(const Operand &x) {
  Emitter r("logSigmoid", x.at);
  return r.neg(r.unary(SPRIG_OP("softplus"), r.neg(r.requireFloat(x))));
}

Tensor softplus(const Operand &x, double beta, double threshold) {
  Emitter r("softplus", x.at);
  if (beta == 0) r.fail("has beta 0, by which it divides");
  Tensor operand = r.requireFloat(x);
  Tensor stretched = beta == 1 ? operand : r.mul(operand, r.number(beta, operand));
  Tensor curve = r.unary(SPRIG_OP("softplus"), stretched);
  if (beta != 1) curve = r.mul(curve, r.number(1 / beta, curve));
  // Above 20 both are the same f32 up to a bit: nn.softplus does not overflow.
  if (threshold == 20 && beta == 1 && operand.type(r.at).dtype != DType::f64) return curve;
  return r.select(r.compare("predicate gt", stretched, r.number(threshold, stretched)), operand, curve);
}

Tensor prelu(const Operand &x, const Operand &slope) {
  Emitter r("prelu", x.at);
  Tensor operand = r.requireFloat(x);
  const TensorType &type = operand.type(r.at);
  Tensor factor = r.optional(slope, type.dtype, "slope");
  if (!factor.defined()) r.fail("has no slope");
  const TensorType &own = factor.type(r.at);
  if (own.elements() == 1) {
    factor = r.reshape(factor, {});
  } else {
    if (own.shape.rank() != 1 || type.shape.rank() < 2 || own.shape[0] != type.shape[1])
      r.fail("has slopes " + describe(own) + " for " + describe(type) +
             "; there is one, or one for each channel (axis 1)");
    Shape perChannel;
    for (int i = 1; i < type.shape.rank(); ++i) perChannel.push_back(i == 1 ? own.shape[0] : 1);
    factor = r.reshape(factor, perChannel);
  }
  return r.select(r.compare("predicate gt", operand, r.number(0, operand)), operand, r.mul(operand, factor));
}

Tensor hardShrink(const Operand &x, double lambda) {
  Emitter r("hardShrink", x.at);
  Tensor operand = r.requireFloat(x);
  Tensor isSmall = r.compare("predicate le", r.abs(operand), r.number(lambda, operand));
  return r.select(isSmall, r.number(0, operand), operand);
}

Tensor softShrink(const Operand &x, double lambda) {
  Emitter r("softShrink", x.at);
  if (lambda < 0) r.fail("has lambda " + frontend::realText(lambda) + ", which must not be negative");
  Tensor operand = r.requireFloat(x), bound = r.number(lambda, operand);
  Tensor shrunk = r.select(r.compare("predicate gt", operand, bound), r.sub(operand, bound), r.add(operand, bound));
  return r.select(r.compare("predicate le", r.abs(operand), bound), r.number(0, operand), shrunk);
}

Tensor tanhShrink(const Operand &x) {
  Emitter r("tanhShrink", x.at);
  Tensor operand = r.requireFloat(x);
  return r.sub(operand, r.unary(SPRIG_OP("tanh"), operand));
}

Tensor threshold(const Operand &x, double threshold, double value) {
  Emitter r("threshold", x.at);
  Tensor operand = r.requireFloat(x);
  return r.select(r.compare("predicate le", operand, r.number(threshold, operand)), r.number(value, operand), operand);
}

Tensor glu(const Operand &x, int axis) {
  Emitter r("glu", x.at);
  Tensor operand = r.requireFloat(x);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  int64_t half = type.shape[along] / 2;
  if (type.shape[along] % 2)
    r.fail("halves axis " + std::to_string(along) + " of " + describe(type) + ", whose size is odd");
  return r.mul(r.part(operand, along, 0, half), r.unary(SPRIG_OP("sigmoid"), r.part(operand, along, half, half)));
}

namespace {
Tensor alongAxis(const Emitter &r, const frontend::OpName &name, const Operand &x, int axis, bool isNegated = false) {
  Tensor operand = r.floatOf(x);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  return r.softmax(name, isNegated ? r.neg(operand) : operand, along);
}
} // namespace

Tensor softmax(const Operand &x, int axis) { return alongAxis(Emitter("softmax", x.at), SPRIG_OP("softmax"), x, axis); }
Tensor logSoftmax(const Operand &x, int axis) {
  return alongAxis(Emitter("logSoftmax", x.at), SPRIG_OP("log_softmax"), x, axis);
}
Tensor softmin(const Operand &x, int axis) {
  return alongAxis(Emitter("softmin", x.at), SPRIG_OP("softmax"), x, axis, true);
}

} // namespace sprig
