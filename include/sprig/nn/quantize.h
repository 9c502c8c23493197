// Quantisation-aware training: layers that compute with what is left of their weights and inputs once these were
// quantised, so that training finds weights for which that is enough. For programs.
#pragma once
#include "sprig/nn/module.h"

namespace sprig::nn {

struct FakeQuantizeOptions {
  int bits = 8;           ///< 3 to 8
  bool isSigned = false;  ///< i8 in the place of u8
  bool symmetric = false; ///< the same range on both sides of 0
  /// The range moves by this share towards that of a batch.
  double momentum = 0.01;
};
/// fakeQuantize (sprig/quantize.h) of activations: one scale and zero point for a tensor, of a range that 0 is always
/// in. In training it is the moving average of the batches' smallest and largest numbers, which starts at the first
/// batch's (the buffers "min_val" and "max_val"); evaluation takes it as it is. Before any batch was seen they are NaN,
/// and so is what it gives.
class SPRIG_API FakeQuantize : public Module {
public:
  explicit FakeQuantize(const FakeQuantizeOptions &options = {}, Source at = Source::here());
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter low, high; ///< buffers

private:
  FakeQuantizeOptions options;
};

struct QuantizeAwareOptions {
  int weightBits = 8;     ///< 3 to 8; integers are the same on both sides of 0: -127 to 127
  bool perChannel = true; ///< a scale of weights for each output
  FakeQuantizeOptions activations = {};
  bool quantizesInputs = true; ///< of layers; else weights alone
};
/// Makes a layer, or all below a module, quantisation-aware: Linear, convolutions and transposed ones. Their weights,
/// "parametrizations.weight.original" from now on, are fake-quantised in each call, by scales of their largest numbers
/// (which no gradient goes through); their inputs by a FakeQuantize, "input_quantizer". Make optimizers after it. An
/// error (usage) where there is no such layer, or one whose weight has a norm already or is another module's.
SPRIG_API void quantizeAware(Module &module, const QuantizeAwareOptions &options = {}, Source at = Source::here());

} // namespace sprig::nn
