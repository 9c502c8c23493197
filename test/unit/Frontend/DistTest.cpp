// Ranks as threads, and their collectives on tensors.
#include "test/unit/Frontend/RankSteps.h"
#include "lib/Data/Largest.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <stdexcept>

using namespace sprig;
using namespace std::chrono_literals;

namespace {

std::vector<float> ramp(int64_t count, float from = 0) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(from + float(i));
  return numbers;
}

} // namespace

// The textbook's: sums and means of four and of three.
TEST(Dist, AllReduceSumsAndAverages) {
  const std::vector<std::vector<float>> gradients = {{1, 2, 3}, {2, 3, 1}, {3, 1, 2}, {1.5, 2.5, 3.5}};
  for (auto algorithm : {dist::Algorithm::automatic, dist::Algorithm::star, dist::Algorithm::split,
                         dist::Algorithm::tree, dist::Algorithm::ring, dist::Algorithm::bidirectional})
    dist::spawn(4, [&](dist::Group &group) {
      Tensor mean = group.allReduce(Tensor(gradients[size_t(group.rank())]), dist::Reduce::mean, algorithm);
      EXPECT_EQ(mean.toVector<float>(), (std::vector<float>{1.875, 2.125, 2.375}));
      EXPECT_EQ(mean.device(), defaultDevice());
    });
  dist::spawn(3, [](dist::Group &group) {
    float first = float(2 * group.rank() + 1);
    EXPECT_EQ(group.allReduce(Tensor({first, first + 1}), dist::Reduce::mean).toVector<float>(),
              (std::vector<float>{3, 4}));
    EXPECT_EQ(group.allReduce(Tensor(group.rank() == 1), dist::Reduce::max).item<bool>(), true);
    EXPECT_EQ(group.allReduce(Tensor(int64_t(group.rank()))).item<int64_t>(), 3);
  });
}

// What is reduced together has the bits of what is reduced alone, large and small ones by different algorithms.
TEST(Dist, AllReduceOfManyHasTheBitsOfEach) {
  manualSeed(3);
  std::vector<std::vector<Tensor>> inputs(3);
  for (auto &own : inputs)
    own = {randn({10, 7}), Tensor(), randn({}), randn({9000}), randn({0, 4}), randn({33}, DType::f64)};
  dist::spawn(3, [&](dist::Group &group) {
    const std::vector<Tensor> &own = inputs[size_t(group.rank())];
    std::vector<Tensor> together = group.allReduce(own);
    ASSERT_EQ(together.size(), own.size());
    EXPECT_FALSE(together[1].defined());
    for (size_t i : {0, 2, 3, 4, 5}) {
      Tensor alone = group.allReduce(own[i]);
      ASSERT_EQ(together[i].type(), own[i].type());
      EXPECT_EQ(std::memcmp(alone.bytes(), together[i].bytes(), size_t(alone.type().bytes())), 0) << i;
    }
  });
}

TEST(Dist, RowsGoWhereTheyBelong) {
  for (int ranks : {1, 2, 3, 5})
    for (int64_t rows : {0, 1, 5, 8})
      dist::spawn(ranks, [&](dist::Group &group) {
        auto [begin, end] = group.rowsOf(rows);
        Tensor whole(ramp(rows * 2), {rows, 2});
        std::vector<float> own(ramp((end - begin) * 2, float(begin * 2)));
        Tensor part = group.scatter(group.rank() == ranks - 1 ? whole : Tensor(), ranks - 1);
        EXPECT_EQ(part.shape(), (Shape{end - begin, 2}));
        EXPECT_EQ(part.toVector<float>(), own);
        EXPECT_EQ(group.allGather(part, rows).toVector<float>(), ramp(rows * 2));
        Tensor gathered = group.gather(part, 0, rows);
        EXPECT_EQ(gathered.toVector<float>(), group.rank() ? std::vector<float>(size_t(rows * 2)) : ramp(rows * 2));
        for (float &number : own) number *= float(ranks);
        EXPECT_EQ(group.reduceScatter(whole).toVector<float>(), own);
      });
  dist::spawn(3, [](dist::Group &group) {
    EXPECT_EQ(group.allGather(Tensor({group.rank(), 7})).toVector<int>(), (std::vector<int>{0, 7, 1, 7, 2, 7}));
    Tensor exchanged = group.allToAll(Tensor({group.rank() * 10, group.rank() * 10 + 1, group.rank() * 10 + 2}));
    EXPECT_EQ(exchanged.toVector<int>(), (std::vector<int>{group.rank(), 10 + group.rank(), 20 + group.rank()}));
    Tensor sent = group.broadcast(group.rank() == 1 ? Tensor({{1.5, 2.5}}) : Tensor(), 1);
    EXPECT_EQ(sent.shape(), (Shape{1, 2}));
    EXPECT_EQ(sent.toVector<double>(), (std::vector<double>{1.5, 2.5}));
    Tensor sum = group.reduce(Tensor(group.rank() + 1), dist::Reduce::sum, 2);
    EXPECT_EQ(sum.item<int>(), group.rank() == 2 ? 6 : 0);
  });
}

namespace {

nn::Sequential makeNet() { return nn::Sequential(nn::Linear(6, 8), nn::Tanh(), nn::Linear(8, 3)); }

// Steps of a rank on its samples, of all without a group. Losses are summed and divided by the number of all samples;
// `averages`: each rank takes the mean of its own, and ranks are averaged.
nn::StateDict trained(const nn::StateDict &start, int64_t batch, dist::Group *group, bool averages = false) {
  nn::Sequential net = makeNet();
  if (!group || group->rank() == 0) net.loadStateDict(start);
  if (group) group->broadcast(net);
  auto optimizer = optim::adam(net, {.lr = 0.05});
  for (int step = 0; step < 12; ++step) {
    auto [begin, end] = group ? group->rowsOf(batch) : std::pair<int64_t, int64_t>(0, batch);
    auto [x, classes] = samplesOf(step, begin, end);
    Tensor sum = crossEntropy(net(x), classes, {.reduction = Reduction::sum});
    double samples = double(averages ? std::max<int64_t>(end - begin, 1) : batch);
    std::vector<Tensor> gradients = grad(sum * (1.0 / samples), net.parameters());
    optimizer.update(group ? group->allReduce(gradients, averages ? dist::Reduce::mean : dist::Reduce::sum)
                           : gradients);
  }
  if (group) group->checkReplicas(net);
  return net.stateDict();
}

// The largest difference between two states.
float difference(const nn::StateDict &a, const nn::StateDict &b) {
  float most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    std::vector<float> left = a[i].value.toVector<float>(), right = b[i].value.toVector<float>();
    for (size_t k = 0; k < left.size(); ++k) most = data::largest(most, std::abs(left[k] - right[k]));
  }
  return most;
}

} // namespace

// Batches need not divide: 13 samples on 3 ranks, 2 on 4, of which two have none.
TEST(Dist, TrainingIsThatOfOneRankAtTheSameBatch) {
  manualSeed(5);
  nn::StateDict start = makeNet().stateDict();
  for (auto [ranks, batch] : {std::pair<int, int64_t>{2, 16}, {3, 13}, {4, 2}}) {
    std::vector<nn::StateDict> states(static_cast<size_t>(ranks));
    dist::spawn(ranks, [&, batch = batch](dist::Group &group) {
      states[size_t(group.rank())] = trained(start, batch, &group);
    });
    nn::StateDict one = trained(start, batch, nullptr);
    EXPECT_LE(difference(states[0], one), 1e-6f) << ranks << " ranks, " << batch << " samples";
  }
}

// The mean of means is another gradient where shares differ in size, which is why losses are summed above.
// Norms of replicas: each rank's own statistics, and running ones that move by their mean, weighed by samples.
TEST(Dist, BatchNormsOfReplicas) {
  const int64_t samples = 7, channels = 3;
  manualSeed(4);
  Tensor all = randn({samples, channels, 2});
  std::vector<std::vector<float>> running;
  for (bool compiled : {false, true})
    dist::spawn(2, [&](dist::Group &group) {
      auto [begin, end] = group.rowsOf(samples);
      Tensor own = slice(all.to(defaultDevice()), 0, begin, end);
      nn::BatchNorm1d alone(channels), norm(channels);
      Tensor expected = alone(own);
      auto f = compile([&](const Tensor &x) {
        dist::BatchShare share(group, samples, NormStatistics::replica);
        return norm(x);
      });
      f.enable(compiled);
      EXPECT_EQ(f(own).toVector<float>(), expected.toVector<float>());
      // From zeros and ones by a tenth.
      double weight = double(end - begin) / double(samples);
      Tensor mean = group.allReduce(alone.stateDict()[2].value * weight),
             variance = group.allReduce(alone.stateDict()[3].value * weight);
      ASSERT_EQ(alone.stateDict()[2].name, "running_mean");
      std::vector<float> a = norm.stateDict()[2].value.toVector<float>(), b = mean.toVector<float>(),
                         c = norm.stateDict()[3].value.toVector<float>(), d = variance.toVector<float>();
      for (size_t i = 0; i < a.size(); ++i) {
        EXPECT_NEAR(a[i], b[i], 1e-6);
        EXPECT_NEAR(c[i], d[i], 1e-6);
      }
      group.checkReplicas(norm);
      if (group.rank() == 0) running.push_back(a);
    });
  EXPECT_EQ(running[0], running[1]);
}

TEST(Dist, MeanOfMeansIsNotTheMean) {
  manualSeed(5);
  nn::StateDict start = makeNet().stateDict(), averaged;
  dist::spawn(3, [&](dist::Group &group) {
    nn::StateDict state = trained(start, 13, &group, /*averages=*/true);
    if (group.rank() == 0) averaged = state;
  });
  EXPECT_GT(difference(averaged, trained(start, 13, nullptr)), 1e-4f);
}

TEST(Dist, MistakesNameTheLine) {
  std::string text = errorOf([] { dist::spawn(0, [](dist::Group &) {}); });
  EXPECT_TRUE(has(text, "DistTest.cpp:") && has(text, "spawn: expected 1 to 256 ranks, found 0")) << text;
  text = errorOf([] { dist::spawn(2, [](dist::Group &) {}, {.devices = {"cpu:0"}}); });
  EXPECT_TRUE(has(text, "expected a device for each of 2 ranks, found 1")) << text;
  text = errorOf([] { dist::spawn(1, [](dist::Group &) {}, {.devices = {"cuda:0"}}); });
  EXPECT_TRUE(has(text, "cuda:0")) << text;
  auto refusal = [](const std::function<void(dist::Group &)> &f) {
    return errorOf([&] { dist::spawn(2, f, {.timeout = 20s}); });
  };
  text = refusal([](dist::Group &group) { group.scatter(group.rank() ? Tensor() : zeros({2}).requireGrad()); });
  EXPECT_TRUE(has(text, "scatter: a gradient may be asked of the tensor of rank 0, and not of that of rank 1")) << text;
  text = refusal([](dist::Group &group) { group.broadcast(group.rank() ? zeros({2}).requireGrad() : zeros({2})); });
  EXPECT_TRUE(has(text, "broadcast: a gradient may be asked of the tensor of rank 1, and not of that of rank 0"))
      << text;
  text = refusal([](dist::Group &group) { group.allReduce(Tensor({1, 2}), dist::Reduce::mean); });
  EXPECT_TRUE(has(text, "all_reduce: a mean is of floating-point elements, found i32")) << text;
  text = refusal([](dist::Group &group) { group.broadcast(zeros({2}), 2); });
  EXPECT_TRUE(has(text, "broadcast: expected a root below 2, found 2")) << text;
  text = refusal([](dist::Group &group) { group.allGather(zeros({2}), 5); });
  EXPECT_TRUE(has(text, "all_gather: of 5 rows rank 0 has 3, found 2")) << text;
  text = refusal([](dist::Group &group) { group.allToAll(zeros({})); });
  EXPECT_TRUE(has(text, "all_to_all: expected a tensor with a first axis, found a scalar")) << text;
  text = refusal([](dist::Group &group) { group.allToAll(zeros({3 + group.rank(), 2})); });
  EXPECT_TRUE(has(text, "all_to_all of 6 f32 (split) at ") && has(text, "all_to_all of 8 f32 (split) at ")) << text;
  text = refusal([](dist::Group &group) { group.reduceScatter(Tensor({true, false})); });
  EXPECT_TRUE(has(text, "DistTest.cpp:") && has(text, "reduce_scatter: i1 has no sum")) << text;
  text = refusal([](dist::Group &group) { group.scatter(zeros({})); });
  EXPECT_TRUE(has(text, "scatter: expected a tensor with a first axis, found a scalar")) << text;
  text = refusal([](dist::Group &group) { group.allReduce(Tensor()); });
  EXPECT_TRUE(has(text, "all_reduce")) << text;
  auto recorded = [&](const std::function<void(dist::Group &)> &collective) {
    return refusal([&](dist::Group &group) {
      compile([&](const Tensor &x) {
        collective(group);
        return x + 1;
      })(zeros({2}));
    });
  };
  text = recorded([](dist::Group &group) { group.barrier(); });
  EXPECT_TRUE(has(text, "DistTest.cpp:") && has(text, "barrier: is in a function that is being compiled")) << text;
  text = recorded([](dist::Group &group) { group.broadcast(group.rank() ? Tensor() : zeros({2})); });
  EXPECT_TRUE(has(text, "broadcast: in a function that is being compiled every rank gives a tensor of the root's type, "
                        "rank 1 gives none"))
      << text;
  text = errorOf([] {
    compile([](const Tensor &x) {
      dist::spawn(2, [](dist::Group &) {});
      return x + 1;
    })(zeros({2}));
  });
  EXPECT_TRUE(has(text, "spawn: ranks cannot be started in a function that is being compiled")) << text;
  // Each rank is told the same, so whichever is asked first says it.
  text = refusal([](dist::Group &group) { group.broadcast(zeros({2 + group.rank()})); });
  EXPECT_TRUE(has(text, "rank 0 has a tensor 2xf32, rank 1 one of 3xf32")) << text;
}

// What is set for the caller's thread is no rank's.
TEST(Dist, RanksBeginAlike) {
  NoGrad quiet;
  nn::setDefaultDType(DType::f64);
  dist::spawn(2,
              [](dist::Group &group) {
                nn::Linear layer(2, 1);
                EXPECT_EQ(layer.weight.dtype(), DType::f32) << group.rank();
                EXPECT_EQ(grad(sum(layer(ones({3, 2}))), layer.parameters()).size(), 2u) << group.rank();
              },
              {.timeout = std::chrono::milliseconds::max()});
  nn::setDefaultDType(DType::f32);
}

TEST(Dist, RanksThatDifferAreNamedWithTheirLines) {
  int line = 0;
  std::string text = errorOf([&] {
    dist::spawn(2, [&](dist::Group &group) {
      group.barrier();
      line = __LINE__ + 1;
      group.rank() ? group.allReduce(zeros({3})) : group.allReduce(zeros({4}));
    });
  });
  EXPECT_TRUE(has(text, "collective 2 differs: rank 0 calls all_reduce of 4 f32 (sum, tree) at ")) << text;
  EXPECT_TRUE(has(text, "DistTest.cpp:" + std::to_string(line))) << text;
  EXPECT_TRUE(has(text, "rank 1 calls all_reduce of 3 f32")) << text;
  // As many elements in another shape, and the type that a root announces.
  text = errorOf(
      [] { dist::spawn(2, [](dist::Group &group) { group.allReduce(zeros({2 + group.rank(), 3 - group.rank()})); }); });
  EXPECT_TRUE(has(text, "all_reduce of 6 f32 (sum, tree) at ") && has(text, ", of other shapes")) << text;
  text = errorOf([] {
    dist::spawn(2, [](dist::Group &group) {
      group.broadcast(zeros({2}));
      group.rank() ? group.scatter(zeros({2})) : group.broadcast(zeros({2}));
    });
  });
  EXPECT_TRUE(has(text, "collective 2 differs: rank 0 calls broadcast at ") && has(text, "rank 1 calls scatter at "))
      << text;
  text = errorOf([] {
    dist::spawn(3, [](dist::Group &group) { group.rank() == 1 ? void() : group.barrier(); }, {.timeout = 10s});
  });
  EXPECT_TRUE(has(text, "rank 1 has ended after 0 collectives")) << text;
}

TEST(Dist, WhatARankThrowsEndsTheOthers) {
  std::string text = errorOf([] {
    dist::spawn(3, [](dist::Group &group) {
      if (group.rank() == 2) badInput("samples.npy: too short");
      for (;;) group.barrier();
    });
  });
  EXPECT_EQ(text, "rank 2: samples.npy: too short");
  EXPECT_THROW(dist::spawn(2,
                           [](dist::Group &group) {
                             if (group.rank()) throw std::out_of_range("no such thing");
                             for (;;) group.barrier();
                           }),
               std::out_of_range);
}

TEST(Dist, ReplicasThatDifferAreNamed) {
  std::string text = errorOf([] {
    dist::spawn(3, [](dist::Group &group) {
      nn::Sequential net(nn::Linear(2, 3), nn::Linear(3, 1));
      group.broadcast(net);
      group.checkReplicas(net);
      if (group.rank() == 1) net.get<nn::Linear>("1").bias.set(full({1}, 4.0));
      group.checkReplicas(net);
    });
  });
  EXPECT_TRUE(has(text, "checkReplicas: '1.bias' of rank 1 differs from that of rank 0")) << text;
}
