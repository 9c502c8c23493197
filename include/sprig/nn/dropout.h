// Dropout layers: they drop in training and do nothing in evaluation. For programs.
#pragma once
#include "sprig/nn/module.h"

namespace sprig::nn {

/// Zeroes elements with probability p and multiplies the others by 1 / (1 - p). A p outside of [0, 1] is an error.
class SPRIG_API Dropout : public Module {
public:
  explicit Dropout(double p = 0.5, Source at = Source::here());
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

protected:
  double p;
};

/// The same for whole channels. Base of Dropout1d, Dropout2d and Dropout3d.
class SPRIG_API DropoutChannels : public Dropout {
public:
  using Dropout::Dropout;
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
};
struct SPRIG_API Dropout1d : DropoutChannels {
  using DropoutChannels::DropoutChannels;
};
struct SPRIG_API Dropout2d : DropoutChannels {
  using DropoutChannels::DropoutChannels;
};
struct SPRIG_API Dropout3d : DropoutChannels {
  using DropoutChannels::DropoutChannels;
};

} // namespace sprig::nn
