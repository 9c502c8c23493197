// Networks as text, with how they are trained: of one channel and ten classes, by SGD with momentum, on batches of one
// size. Weights are zeros: what they compute does not matter.
// For experiments that need computation and gradients of a known size.
#pragma once
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/Model.h"

namespace sprig::cli {

struct TrainedNetwork {
  Model model;
  training::TrainConfig config;
};

/// For images of 28x28: 3x3 convolutions of 64 to 512 channels with biases and batch norms, 11175818 trained numbers.
TrainedNetwork resNet18(int64_t batch);
/// For images of 224x224: five convolutions and three large layers behind them, 46764746 trained numbers; no dropout.
TrainedNetwork alexNet(int64_t batch);

} // namespace sprig::cli
