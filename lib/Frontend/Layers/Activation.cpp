#include "sprig/nn/activation.h"
#include "lib/Frontend/Layers/LayerText.h"

namespace sprig::nn {

#define SPRIG_ACTIVATION(name, call)                                                                                   \
  Tensor name::operator()(const Operand &x) const {                                                                    \
    InLayer in(scope());                                                                                               \
    return hooked(x, sprig::call);                                                                                     \
  }
SPRIG_ACTIVATION(ReLU, relu(x))
SPRIG_ACTIVATION(ReLU6, relu6(x))
SPRIG_ACTIVATION(Sigmoid, sigmoid(x))
SPRIG_ACTIVATION(LogSigmoid, logSigmoid(x))
SPRIG_ACTIVATION(Tanh, tanh(x))
SPRIG_ACTIVATION(Tanhshrink, tanhShrink(x))
SPRIG_ACTIVATION(SiLU, silu(x))
SPRIG_ACTIVATION(Mish, mish(x))
SPRIG_ACTIVATION(SELU, selu(x))
SPRIG_ACTIVATION(Softsign, softsign(x))
SPRIG_ACTIVATION(Hardsigmoid, hardSigmoid(x))
SPRIG_ACTIVATION(Hardswish, hardSwish(x))
SPRIG_ACTIVATION(Softmax2d, softmax(x, 1))
SPRIG_ACTIVATION(ELU, elu(x, alpha))
SPRIG_ACTIVATION(CELU, celu(x, alpha))
SPRIG_ACTIVATION(LeakyReLU, leakyRelu(x, negativeSlope))
SPRIG_ACTIVATION(Hardshrink, hardShrink(x, lambda))
SPRIG_ACTIVATION(Softshrink, softShrink(x, lambda))
SPRIG_ACTIVATION(GELU, gelu(x, form))
SPRIG_ACTIVATION(Softplus, softplus(x, beta, threshold))
SPRIG_ACTIVATION(Hardtanh, hardTanh(x, low, high))
SPRIG_ACTIVATION(Threshold, threshold(x, threshold, value))
SPRIG_ACTIVATION(PReLU, prelu(x, need(weight, *this, x)))
SPRIG_ACTIVATION(Softmax, softmax(x, axis))
SPRIG_ACTIVATION(LogSoftmax, logSoftmax(x, axis))
SPRIG_ACTIVATION(Softmin, softmin(x, axis))
SPRIG_ACTIVATION(GLU, glu(x, axis))
#undef SPRIG_ACTIVATION

std::string ELU::extra() const { return "alpha=" + realText(alpha); }
std::string CELU::extra() const { return "alpha=" + realText(alpha); }
std::string LeakyReLU::extra() const { return "negative_slope=" + realText(negativeSlope); }
std::string Hardshrink::extra() const { return realText(lambda); }
std::string Softshrink::extra() const { return realText(lambda); }
std::string GELU::extra() const { return form == Gelu::erf ? "approximate='none'" : "approximate='tanh'"; }
std::string Softplus::extra() const { return "beta=" + realText(beta) + ", threshold=" + realText(threshold); }
std::string Hardtanh::extra() const { return "min_val=" + realText(low) + ", max_val=" + realText(high); }
std::string Threshold::extra() const { return "threshold=" + realText(threshold) + ", value=" + realText(value); }
std::string Softmax::extra() const { return "dim=" + std::to_string(axis); }
std::string LogSoftmax::extra() const { return "dim=" + std::to_string(axis); }
std::string Softmin::extra() const { return "dim=" + std::to_string(axis); }
std::string GLU::extra() const { return "dim=" + std::to_string(axis); }

PReLU::PReLU(int64_t count, double initial, Source at) {
  needPositive(count, "PReLU", "the number of parameters", at);
  weight =
      addParameter("weight", {count}, [&](const TensorType &type) { return init::constant(type, initial, at); }, at);
}
std::string PReLU::extra() const {
  return weight.defined() ? "num_parameters=" + std::to_string(weight.numel()) : std::string();
}

} // namespace sprig::nn
