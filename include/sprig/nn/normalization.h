// Normalisation layers; the formulas stand in sprig/functional.h. For programs.
#pragma once
#include "sprig/nn/module.h"
#include <optional>

namespace sprig::nn {

struct BatchNormOptions {
  double epsilon = 1e-5;
  /// running = (1 - momentum) running + momentum batch; none: the mean over all batches.
  std::optional<double> momentum = 0.1;
  bool affine = true;
  bool trackRunningStats = true; ///< off: the batch's statistics in evaluation too
};
/// Per channel (axis 1) over the batch in training, with the running statistics in evaluation. The running variance
/// takes the unbiased one. Base of BatchNorm1d ([N, C] or [N, C, L]), BatchNorm2d and BatchNorm3d.
class SPRIG_API BatchNorm : public Module {
public:
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight, bias;                                    ///< [C], ones and zeros; not defined without affine
  Parameter runningMean, runningVariance, numBatchesTracked; ///< buffers running_mean, running_var, num_batches_tracked

protected:
  BatchNorm() = default;
  BatchNorm(int axes, int64_t channels, const BatchNormOptions &options, Source at);

private:
  int axes = 0;
  int64_t channels = 0;
  BatchNormOptions options;
};
class SPRIG_API BatchNorm1d : public BatchNorm {
public:
  BatchNorm1d() = default;
  explicit BatchNorm1d(int64_t channels, const BatchNormOptions &options = {}, Source at = Source::here())
      : BatchNorm(1, channels, options, at) {}
};
class SPRIG_API BatchNorm2d : public BatchNorm {
public:
  BatchNorm2d() = default;
  explicit BatchNorm2d(int64_t channels, const BatchNormOptions &options = {}, Source at = Source::here())
      : BatchNorm(2, channels, options, at) {}
};
class SPRIG_API BatchNorm3d : public BatchNorm {
public:
  BatchNorm3d() = default;
  explicit BatchNorm3d(int64_t channels, const BatchNormOptions &options = {}, Source at = Source::here())
      : BatchNorm(3, channels, options, at) {}
};

struct InstanceNormOptions {
  double epsilon = 1e-5;
  double momentum = 0.1;
  bool affine = false;
  bool trackRunningStats = false; ///< on: running statistics, which evaluation takes
};
/// Per channel of each sample. Base of InstanceNorm1d ([N, C, L], or [C, L] without a batch), InstanceNorm2d and
/// InstanceNorm3d.
class SPRIG_API InstanceNorm : public Module {
public:
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight, bias;
  Parameter runningMean, runningVariance, numBatchesTracked;

protected:
  InstanceNorm() = default;
  InstanceNorm(int axes, int64_t channels, const InstanceNormOptions &options, Source at);

private:
  /// Of [N, C, ...].
  Tensor normalized(const Operand &x) const;

  int axes = 0;
  int64_t channels = 0;
  InstanceNormOptions options;
};
class SPRIG_API InstanceNorm1d : public InstanceNorm {
public:
  InstanceNorm1d() = default;
  explicit InstanceNorm1d(int64_t channels, const InstanceNormOptions &options = {}, Source at = Source::here())
      : InstanceNorm(1, channels, options, at) {}
};
class SPRIG_API InstanceNorm2d : public InstanceNorm {
public:
  InstanceNorm2d() = default;
  explicit InstanceNorm2d(int64_t channels, const InstanceNormOptions &options = {}, Source at = Source::here())
      : InstanceNorm(2, channels, options, at) {}
};
class SPRIG_API InstanceNorm3d : public InstanceNorm {
public:
  InstanceNorm3d() = default;
  explicit InstanceNorm3d(int64_t channels, const InstanceNormOptions &options = {}, Source at = Source::here())
      : InstanceNorm(3, channels, options, at) {}
};

struct LayerNormOptions {
  double epsilon = 1e-5;
  bool affine = true;
  bool bias = true;
};
/// Over the last axes, whose sizes are `shape`.
class SPRIG_API LayerNorm : public Module {
public:
  LayerNorm() = default;
  explicit LayerNorm(const Ints &shape, const LayerNormOptions &options = {}, Source at = Source::here());
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight, bias; ///< of `shape`, ones and zeros

private:
  Ints shape;
  LayerNormOptions options;
};

struct GroupNormOptions {
  double epsilon = 1e-5;
  bool affine = true;
};
/// Over groups of channels of each sample.
class SPRIG_API GroupNorm : public Module {
public:
  GroupNorm() = default;
  GroupNorm(int64_t groups, int64_t channels, const GroupNormOptions &options = {}, Source at = Source::here());
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight, bias; ///< [channels]

private:
  int64_t groups = 1, channels = 0;
  GroupNormOptions options;
};

struct RMSNormOptions {
  double epsilon = -1; ///< negative: that of the element type
  bool affine = true;
};
/// x / sqrt(mean(x^2) + epsilon) * weight over the last axes, whose sizes are `shape`.
class SPRIG_API RMSNorm : public Module {
public:
  RMSNorm() = default;
  explicit RMSNorm(const Ints &shape, const RMSNormOptions &options = {}, Source at = Source::here());
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight; ///< of `shape`

private:
  Ints shape;
  RMSNormOptions options;
};

/// AlexNet's: x / (k + alpha / size * sum of squares over `size` channels)^beta.
class SPRIG_API LocalResponseNorm : public Module {
public:
  explicit LocalResponseNorm(int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1)
      : size(size), alpha(alpha), beta(beta), k(k) {}
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

private:
  int64_t size;
  double alpha, beta, k;
};

} // namespace sprig::nn
