// Compiled functions whose gradients are products of factors that ranks gather.
#include "test/unit/Frontend/RankSteps.h"
#include "gtest/gtest.h"
#include <cmath>
#include <optional>

using namespace sprig;

namespace {

// A step whose first layer has far more numbers than its input and the gradient of its output, and that layer's weight
// afterwards. `says`: by a BatchShare how many samples all ranks have.
Tensor weightAfterStep(int64_t batch, dist::Group *group, FactorPolicy factors, bool says = true) {
  constexpr int64_t kWide = 256;
  manualSeed(3);
  nn::Sequential net(nn::Linear(kWide, 200), nn::Tanh(), nn::Linear(200, 3));
  auto optimizer = optim::sgd(net, {.lr = 0.1});
  auto step = compile(
      [&](const Tensor &x, const Tensor &y) {
        std::optional<dist::BatchShare> share;
        if (group && says) share.emplace(*group, batch);
        Tensor loss = crossEntropy(net(x), y, {.reduction = Reduction::sum}) * (1.0 / double(batch));
        share.reset();
        std::vector<Tensor> gradients = grad(loss, net.parameters());
        optimizer.update(group ? group->allReduce(gradients) : gradients);
      },
      {.factors = factors});
  auto [begin, end] = group ? group->rowsOf(batch) : std::pair<int64_t, int64_t>(0, batch);
  std::vector<float> numbers;
  std::vector<int64_t> classes;
  for (int64_t i = begin; i < end; ++i) {
    classes.push_back(i % 3);
    for (int64_t j = 0; j < kWide; ++j) numbers.push_back(std::sin(float(i * 31 + j * 17)));
  }
  step(Tensor(numbers, {end - begin, kWide}), Tensor(classes));
  if (group) group->checkReplicas(net);
  return net.stateDict()[0].value;
}

} // namespace

// The order of sums is that of one rank, whatever shares ranks have; else it is that of the ranks.
TEST(DistFactors, AreGatheredInPlaceOfTheirSums) {
  using enum FactorPolicy;
  for (auto [ranks, batch] : {std::pair<int, int64_t>{2, 8}, {2, 9}, {3, 12}, {3, 11}, {4, 10}}) {
    Tensor one = weightAfterStep(batch, nullptr, automatic);
    dist::spawn(ranks, [&, ranks = ranks, batch = batch](dist::Group &group) {
      EXPECT_TRUE(sameBits(weightAfterStep(batch, &group, automatic), one)) << ranks << " ranks, " << batch;
      Tensor sums = weightAfterStep(batch, &group, never);
      EXPECT_FALSE(sameBits(sums, one)) << ranks << " ranks, " << batch;
      std::vector<float> a = sums.toVector<float>(), b = one.toVector<float>();
      for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6) << ranks << " ranks, " << batch;
    });
  }
  // One of them has a single sample or none: all add up.
  for (int64_t batch : {4, 5})
    dist::spawn(3, [&](dist::Group &group) {
      EXPECT_TRUE(sameBits(weightAfterStep(batch, &group, always), weightAfterStep(batch, &group, never))) << batch;
    });
}

TEST(DistFactors, OfWhatRanksDoNotKnow) {
  dist::spawn(2, [](dist::Group &group) { // shapes are the same, so nobody has to say how many there are
    EXPECT_FALSE(sameBits(weightAfterStep(8, &group, FactorPolicy::automatic, /*says=*/false),
                          weightAfterStep(8, &group, FactorPolicy::never)));
  });
  std::string text =
      errorOfRanks([](dist::Group &group) { weightAfterStep(9, &group, FactorPolicy::automatic, /*says=*/false); });
  EXPECT_TRUE(has(text, "differs: rank 0 calls all_gather of") && has(text, "rank 1 calls all_gather of")) << text;
  text = errorOfRanks([](dist::Group &group) {
    auto twice = compile(
        [&](const Tensor &x) {
          {
            dist::BatchShare share(group, 8);
          }
          {
            dist::BatchShare share(group, 6);
          }
          return group.allReduce(x);
        },
        {.name = "twice", .factors = FactorPolicy::automatic});
    twice(ones({4}));
  });
  EXPECT_TRUE(has(text, "twice: factors are gathered of the samples of one batch, and its BatchShares are of several"))
      << text;
}
