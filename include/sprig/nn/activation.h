// Activations as layers; the functions stand in sprig/elementwise.h. For programs.
#pragma once
#include "sprig/elementwise.h"
#include "sprig/nn/module.h"

namespace sprig::nn {

// Those without settings.
#define SPRIG_ACTIVATION(name)                                                                                         \
  struct SPRIG_API name : Module {                                                                                     \
    Tensor operator()(const Operand &x) const;                                                                         \
    bool runsHooks() const override { return true; }                                                                   \
  };
SPRIG_ACTIVATION(ReLU)
SPRIG_ACTIVATION(ReLU6)
SPRIG_ACTIVATION(Sigmoid)
SPRIG_ACTIVATION(LogSigmoid)
SPRIG_ACTIVATION(Tanh)
SPRIG_ACTIVATION(Tanhshrink)
SPRIG_ACTIVATION(SiLU)
SPRIG_ACTIVATION(Mish)
SPRIG_ACTIVATION(SELU)
SPRIG_ACTIVATION(Softsign)
SPRIG_ACTIVATION(Hardsigmoid)
SPRIG_ACTIVATION(Hardswish)
/// Over axis 1 of [N, C, H, W].
SPRIG_ACTIVATION(Softmax2d)
#undef SPRIG_ACTIVATION

// Those with one number.
#define SPRIG_ACTIVATION(name, setting, fallback)                                                                      \
  struct SPRIG_API name : Module {                                                                                     \
    explicit name(double setting = fallback) : setting(setting) {}                                                     \
    Tensor operator()(const Operand &x) const;                                                                         \
    bool runsHooks() const override { return true; }                                                                   \
    std::string extra() const override;                                                                                \
    double setting;                                                                                                    \
  };
SPRIG_ACTIVATION(ELU, alpha, 1)
SPRIG_ACTIVATION(CELU, alpha, 1)
SPRIG_ACTIVATION(LeakyReLU, negativeSlope, 0.01)
SPRIG_ACTIVATION(Hardshrink, lambda, 0.5)
SPRIG_ACTIVATION(Softshrink, lambda, 0.5)
#undef SPRIG_ACTIVATION

struct SPRIG_API GELU : Module {
  explicit GELU(Gelu form = Gelu::erf) : form(form) {}
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;
  Gelu form;
};

struct SPRIG_API Softplus : Module {
  explicit Softplus(double beta = 1, double threshold = 20) : beta(beta), threshold(threshold) {}
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;
  double beta, threshold;
};

struct SPRIG_API Hardtanh : Module {
  explicit Hardtanh(double low = -1, double high = 1) : low(low), high(high) {}
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;
  double low, high;
};

struct SPRIG_API Threshold : Module {
  Threshold(double threshold, double value) : threshold(threshold), value(value) {}
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;
  double threshold, value;
};

/// x where positive, else weight * x; one weight, or one for each channel (axis 1).
class SPRIG_API PReLU : public Module {
public:
  explicit PReLU(int64_t count = 1, double initial = 0.25, Source at = Source::here());
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight; ///< [count]
};

// Those along an axis. PyTorch guesses one; here it is the last unless given.
#define SPRIG_ACTIVATION(name)                                                                                         \
  struct SPRIG_API name : Module {                                                                                     \
    explicit name(int axis = -1) : axis(axis) {}                                                                       \
    Tensor operator()(const Operand &x) const;                                                                         \
    bool runsHooks() const override { return true; }                                                                   \
    std::string extra() const override;                                                                                \
    int axis;                                                                                                          \
  };
SPRIG_ACTIVATION(Softmax)
SPRIG_ACTIVATION(LogSoftmax)
SPRIG_ACTIVATION(Softmin)
SPRIG_ACTIVATION(GLU)
#undef SPRIG_ACTIVATION

} // namespace sprig::nn
