// Networks as text, with how they are trained: of one channel and ten classes, by SGD. Weights are zeros, unless
// randomState fills them in: what most experiments compute does not matter.
// For experiments that need computation and gradients of a known size, or that train.
#pragma once
#include "lib/Training/TrainConfig.h"
#include "lib/Checkpoint/Checkpoint.h"
#include "tools/sprig/Model.h"

namespace sprig::cli {

struct TrainedNetwork {
  Model model;
  training::TrainConfig config;
};

/// Numbers of ranks: 1, 2, 4 and so on, and the last.
std::vector<int> doubledTo(int last);
/// The batch of each rank, which is the first, and those of so many ranks together.
std::vector<int64_t> batchesOf(int64_t each, const std::vector<int> &ranks);

/// For images of 28x28: 3x3 convolutions of 64 to 512 channels with biases and batch norms, 11175818 trained numbers;
/// of another width than 64, in proportion. A function for each number of samples; the first one is the batch.
TrainedNetwork resNet18(const std::vector<int64_t> &sizes, int64_t width = 64);
/// For images of 28x28: two convolutions of 20 and 50 channels with mean pools, 800-128-10, 129068 trained numbers.
TrainedNetwork leNet(const std::vector<int64_t> &sizes);
/// For images of 224x224: five convolutions and three large layers behind them, 46764746 trained numbers; no dropout.
TrainedNetwork alexNet(const std::vector<int64_t> &sizes);

/// A state of a network's program that training may begin from: weights of a normal distribution of variance 2 /
/// inputs, scales and variances of 1, the rest as it is. `trained` are names of parameters.
std::vector<data::Array> randomState(const std::vector<checkpoints::ArrayView> &state,
                                     const std::vector<std::string> &trained, uint64_t seed);

} // namespace sprig::cli
