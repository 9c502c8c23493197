// Convolutions and transposed convolutions over one, two and three axes. For programs.
// x [N, channels, spatial...] or [channels, spatial...]. Weight and bias start uniform within ± 1 / sqrt(fan in).
#pragma once
#include "sprig/nn/module.h"
#include "sprig/shape_ops.h"

namespace sprig::nn {

/// One number for all spatial axes, or one for each.
struct ConvOptions {
  Ints stride = 1;
  Ints padding = 0; ///< at both ends
  Ints dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  bool samePadding = false; ///< as much as keeps the sizes (PyTorch's padding='same'); stride 1
  Padding paddingMode = Padding::constant;
};

/// Base of Conv1d, Conv2d and Conv3d.
class SPRIG_API Conv : public Module {
public:
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight; ///< [out, in / groups, window...]
  Parameter bias;   ///< [out]; not defined without one

protected:
  Conv() = default;
  Conv(int axes, int64_t in, int64_t out, const Ints &window, const ConvOptions &options, Source at);

private:
  int axes = 0;
  ConvOptions options;
};

class SPRIG_API Conv1d : public Conv {
public:
  Conv1d() = default;
  Conv1d(int64_t in, int64_t out, const Ints &window, const ConvOptions &options = {}, Source at = Source::here())
      : Conv(1, in, out, window, options, at) {}
};
class SPRIG_API Conv2d : public Conv {
public:
  Conv2d() = default;
  Conv2d(int64_t in, int64_t out, const Ints &window, const ConvOptions &options = {}, Source at = Source::here())
      : Conv(2, in, out, window, options, at) {}
};
class SPRIG_API Conv3d : public Conv {
public:
  Conv3d() = default;
  Conv3d(int64_t in, int64_t out, const Ints &window, const ConvOptions &options = {}, Source at = Source::here())
      : Conv(3, in, out, window, options, at) {}
};

struct ConvTransposeOptions {
  Ints stride = 1;
  Ints padding = 0; ///< cut off at both ends of the result
  Ints outputPadding = 0;
  int64_t groups = 1;
  bool bias = true;
  Ints dilation = 1;
};

/// Base of ConvTranspose1d, ConvTranspose2d and ConvTranspose3d.
class SPRIG_API ConvTranspose : public Module {
public:
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight; ///< [in, out / groups, window...]
  Parameter bias;   ///< [out]

protected:
  ConvTranspose() = default;
  ConvTranspose(int axes, int64_t in, int64_t out, const Ints &window, const ConvTransposeOptions &options, Source at);

private:
  int axes = 0;
  ConvTransposeOptions options;
};

class SPRIG_API ConvTranspose1d : public ConvTranspose {
public:
  ConvTranspose1d() = default;
  ConvTranspose1d(int64_t in, int64_t out, const Ints &window, const ConvTransposeOptions &options = {},
                  Source at = Source::here())
      : ConvTranspose(1, in, out, window, options, at) {}
};
class SPRIG_API ConvTranspose2d : public ConvTranspose {
public:
  ConvTranspose2d() = default;
  ConvTranspose2d(int64_t in, int64_t out, const Ints &window, const ConvTransposeOptions &options = {},
                  Source at = Source::here())
      : ConvTranspose(2, in, out, window, options, at) {}
};
class SPRIG_API ConvTranspose3d : public ConvTranspose {
public:
  ConvTranspose3d() = default;
  ConvTranspose3d(int64_t in, int64_t out, const Ints &window, const ConvTransposeOptions &options = {},
                  Source at = Source::here())
      : ConvTranspose(3, in, out, window, options, at) {}
};

} // namespace sprig::nn
