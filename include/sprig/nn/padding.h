// Layers that pad and resample. For programs.
#pragma once
#include "sprig/nn/module.h"
#include "sprig/shape_ops.h"

namespace sprig::nn {

/// Elements around the spatial axes. Amounts: one number for all ends, or {before, after} of the last axis, then of
/// the one before it, as in PyTorch. Base of the padding layers.
class SPRIG_API Pad : public Module {
public:
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

protected:
  Pad(int axes, Padding mode, const Ints &amounts, double value = 0, Source at = Source::here());

private:
  Padding mode;
  std::vector<int64_t> amounts;
  double value;
};

#define SPRIG_PAD(name, axes, mode)                                                                                    \
  struct SPRIG_API name : Pad {                                                                                        \
    explicit name(const Ints &amounts, Source at = Source::here()) : Pad(axes, Padding::mode, amounts, 0, at) {}       \
  };
SPRIG_PAD(ZeroPad1d, 1, constant)
SPRIG_PAD(ZeroPad2d, 2, constant)
SPRIG_PAD(ZeroPad3d, 3, constant)
SPRIG_PAD(ReflectionPad1d, 1, reflect)
SPRIG_PAD(ReflectionPad2d, 2, reflect)
SPRIG_PAD(ReflectionPad3d, 3, reflect)
SPRIG_PAD(ReplicationPad1d, 1, replicate)
SPRIG_PAD(ReplicationPad2d, 2, replicate)
SPRIG_PAD(ReplicationPad3d, 3, replicate)
SPRIG_PAD(CircularPad1d, 1, circular)
SPRIG_PAD(CircularPad2d, 2, circular)
SPRIG_PAD(CircularPad3d, 3, circular)
#undef SPRIG_PAD
#define SPRIG_PAD(name, axes)                                                                                          \
  struct SPRIG_API name : Pad {                                                                                        \
    name(const Ints &amounts, double value, Source at = Source::here())                                                \
        : Pad(axes, Padding::constant, amounts, value, at) {}                                                          \
  };
SPRIG_PAD(ConstantPad1d, 1)
SPRIG_PAD(ConstantPad2d, 2)
SPRIG_PAD(ConstantPad3d, 3)
#undef SPRIG_PAD

/// Resamples [N, C, spatial...] to a size or by a factor: Upsample({.scale = {2}, .mode = Interpolation::bilinear}).
class SPRIG_API Upsample : public Module {
public:
  explicit Upsample(const InterpolateOptions &options) : options(options) {}
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

private:
  InterpolateOptions options;
};

/// [N, C r^2, H, W] to [N, C, H r, W r].
class SPRIG_API PixelShuffle : public Module {
public:
  explicit PixelShuffle(int64_t factor) : factor(factor) {}
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

private:
  int64_t factor;
};
class SPRIG_API PixelUnshuffle : public Module {
public:
  explicit PixelUnshuffle(int64_t factor) : factor(factor) {}
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

private:
  int64_t factor;
};

} // namespace sprig::nn
