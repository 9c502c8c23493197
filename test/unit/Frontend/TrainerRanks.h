// A network that ranks train, its data, and how runs are compared: for tests of the trainer on ranks.
#pragma once
#include "sprig/dist.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/random.h"
#include "sprig/trainer.h"
#include "test/unit/Folder.h"
#include "test/unit/Frontend/Points.h"
#include <filesystem>
#include <gtest/gtest.h>

namespace sprig {

namespace fs = std::filesystem;

inline constexpr int64_t kFeatures = 12, kClasses = 5;

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(kFeatures, 16)), b = add("b", nn::Linear(16, kClasses));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(16));
  nn::Dropout drop = add("drop", nn::Dropout(0.2));
  bool drops = false, normalises = false;
  Tensor operator()(const Tensor &x) const {
    Tensor h = a(x);
    if (normalises) h = norm(h);
    h = relu(h);
    return b(drops ? drop(h) : h);
  }
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy((*this)(x), y); }
  // The gradient of a bias in front of a batch norm is nothing but rounding, which Adam would make steps of.
  optim::Optimizer configureOptimizers() const {
    return normalises ? optim::sgd(*this, {.lr = 0.1, .momentum = 0.9}) : optim::adam(*this, {.lr = 1e-2});
  }
};

inline Net makeNet(bool drops = false, bool normalises = false) {
  manualSeed(5);
  Net net;
  net.drops = drops;
  net.normalises = normalises;
  return net;
}

inline data::Dataset points(int64_t count) { return pointsOf(count, kFeatures, kClasses, 0.6); }

struct Trained {
  FitResult result;
  nn::StateDict state;
  data::Loader::Position position;
};

// 2 batches of 24 and one of `count - 48`; an evaluation of 4 batches, the last of 1.
inline Trained fit(TrainerOptions options, Net net, int64_t count = 50) {
  options.print = false;
  options.maxEpochs = options.maxEpochs == 10 ? 2 : options.maxEpochs;
  data::Loader train(points(count), {.batch = 24, .shuffle = 3, .workers = 1});
  data::Loader test(points(25), {.batch = 8, .workers = 1});
  Trained run;
  run.result = Trainer(options).fit(net, train, test);
  run.state = net.stateDict();
  run.position = train.position();
  return run;
}

inline void expectNear(const Trained &run, const Trained &one, const std::string &what) {
  ASSERT_EQ(run.result.losses.size(), one.result.losses.size()) << what;
  for (size_t i = 0; i < one.result.losses.size(); ++i)
    EXPECT_NEAR(run.result.losses[i], one.result.losses[i], 1e-6) << what << ", step " << i;
  ASSERT_EQ(run.result.epochs.size(), one.result.epochs.size()) << what;
  for (size_t i = 0; i < one.result.epochs.size(); ++i) {
    EXPECT_NEAR(run.result.epochs[i].loss, one.result.epochs[i].loss, 1e-6) << what;
    EXPECT_NEAR(*run.result.epochs[i].evalLoss, *one.result.epochs[i].evalLoss, 1e-6) << what;
    EXPECT_EQ(*run.result.epochs[i].accuracy, *one.result.epochs[i].accuracy) << what; // counts are whole numbers
  }
  ASSERT_EQ(run.state.size(), one.state.size());
  for (size_t i = 0; i < one.state.size(); ++i) {
    std::vector<double> a = run.state[i].value.to(DType::f64).toVector<double>(),
                        b = one.state[i].value.to(DType::f64).toVector<double>();
    for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-6) << what << ", " << one.state[i].name;
  }
  EXPECT_EQ(run.position, one.position) << what;
}

inline void expectSameBits(const Trained &run, const Trained &other) {
  EXPECT_EQ(run.result.losses, other.result.losses);
  for (size_t i = 0; i < other.state.size(); ++i)
    EXPECT_EQ(run.state[i].value.to(DType::f64).toVector<double>(),
              other.state[i].value.to(DType::f64).toVector<double>());
}

} // namespace sprig
