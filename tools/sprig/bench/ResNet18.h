// ResNet-18 for images of 1x28x28, as text: 3x3 convolutions of 64 to 512 channels with biases and batch norms,
// 11175818 trained numbers. For experiments that need a network of which computation and gradients are both large.
#pragma once
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/Model.h"
#include <vector>

namespace sprig::cli {

/// A function for each batch. Weights are zeros: what it computes does not matter.
Model resNet18(const std::vector<int64_t> &batches);
/// By SGD with momentum, on batches of this size.
training::TrainConfig resNet18Config(int64_t batch);

} // namespace sprig::cli
