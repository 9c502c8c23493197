// Packages of functions with collectives: made by ranks, run by the runtime's and by those of the front-end.
#include "sprig/rt/sprig_rt.hpp"
#include "test/unit/Frontend/RankSteps.h"
#include "gtest/gtest.h"
#include <thread>

using namespace sprig;

// A package of ranks: by the runtime, whose contexts are ranks; refused where there are none.
TEST(DistPackages, FunctionsOfRanksBecomePackages) {
  std::vector<uint8_t> bytes;
  std::string onnx;
  dist::spawn(2, [&](dist::Group &group) {
    auto f = [&](const Tensor &x) { return group.allReduce(x * 2, dist::Reduce::mean); };
    if (group.rank()) return;
    bytes = PackageBuilder().add("average", f, {{DType::f32, {5}}}).bytes();
    onnx = errorOf([&] { exportOnnx("never.onnx", f, {{DType::f32, {5}}}); });
  });
  EXPECT_TRUE(has(onnx, "all_reduce")) << onnx;
  rt::Package package = rt::Package::fromMemory(bytes, "average");
  std::vector<rt::Group> groups = rt::Group::threads(2);
  std::vector<std::vector<float>> results(2, std::vector<float>(5));
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      rt::Context context(package);
      context.join(groups[rank]);
      std::vector<float> x(5, float(rank + 1));
      context.invoke({rt::TensorView(x.data(), SPRIG_RT_F32, {5})},
                     {rt::TensorView(results[rank].data(), SPRIG_RT_F32, {5})});
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(results[0], std::vector<float>(5, 3));
  EXPECT_EQ(results[1], results[0]);
  std::string text = errorOf([&] { loadBytes(bytes).call("average", {{ones({5})}}); });
  EXPECT_TRUE(has(text, "DistPackagesTest.cpp:") && has(text, "average: is of 2 ranks, and the package of none"))
      << text;
}

// Loaded and trained by ranks: the bits of the compiled step, whatever other collectives stand between the calls.
TEST(DistPackages, LoadedPackagesAreCalledByRanks) {
  const int64_t batch = 8;
  std::vector<uint8_t> bytes;
  std::vector<Trained> expected(2), found(2);
  dist::spawn(2, [&](dist::Group &group) {
    manualSeed(5);
    nn::Sequential net(nn::Linear(6, 8), nn::Tanh(), nn::Linear(8, 3));
    auto optimizer = optim::adam(net, {.lr = 0.05});
    auto step = [&](const Tensor &x, const Tensor &y) {
      Tensor loss = crossEntropy(net(x), y, {.reduction = Reduction::sum}) * (1.0 / double(batch));
      optimizer.update(group.allReduce(grad(loss, net.parameters())));
      return group.allReduce(loss);
    };
    if (group.rank()) return;
    bytes = PackageBuilder().add("step", step, {{DType::f32, {4, 6}}, {DType::i64, {4}}}).bytes();
  });
  dist::spawn(2, [&](dist::Group &group) {
    size_t rank = size_t(group.rank());
    expected[rank] = train(batch, &group, true);
    Package package = loadBytes(bytes);
    EXPECT_EQ(package.ranks("step"), 2);
    package.join(group);
    for (int i = 0; i < 6; ++i) {
      auto [begin, end] = group.rowsOf(batch);
      auto [x, y] = samplesOf(i, begin, end);
      Tensor pending = group.allReduceAsync(ones({3}));
      Tensor loss = package.call("step", {{x, y}})[0];
      EXPECT_EQ(group.allReduce(ones({2})).toVector<float>()[1], 2.f);
      found[rank].losses.push_back(loss.item<float>());
    }
    for (const std::string &name : package.states()) found[rank].state.push_back({name, package.state(name)});
  });
  for (size_t rank : {0, 1}) {
    EXPECT_EQ(found[rank].losses, expected[rank].losses);
    size_t same = 0;
    for (const auto &own : expected[rank].state)
      for (const auto &other : found[rank].state) same += sameBits(own.value, other.value);
    EXPECT_GE(same, expected[rank].state.size());
  }

  std::string text = errorOf([&] {
    dist::spawn(3, [&](dist::Group &group) {
      Package package = loadBytes(bytes);
      package.join(group);
      auto [x, y] = samplesOf(0, 0, 4);
      package.call("step", {{x, y}});
    });
  });
  EXPECT_TRUE(has(text, "step: is of 2 ranks, and called as rank ")) << text;
  // Who fails tells the others.
  text = errorOfRanks([&](dist::Group &group) {
    Package package = loadBytes(bytes);
    package.join(group);
    auto [x, y] = samplesOf(0, 0, 4);
    if (group.rank()) y = gather(y, 0, Tensor({int64_t(0), int64_t(1), int64_t(2), int64_t(9)}));
    package.call("step", {{x, y}})[0].wait();
  });
  EXPECT_TRUE(has(text, "rank 1: ") && has(text, "expected an index below 4, found 9")) << text;
  // A part of a larger group is one, too.
  std::vector<float> sums(3);
  dist::spawn(3, [&](dist::Group &group) {
    dist::Group pair = group.sub({0, 2});
    if (group.rank() == 1) return;
    Package package = loadBytes(bytes);
    package.join(pair);
    auto [begin, end] = pair.rowsOf(batch);
    auto [x, y] = samplesOf(0, begin, end);
    sums[size_t(group.rank())] = package.call("step", {{x, y}})[0].item<float>();
  });
  EXPECT_EQ(sums[0], expected[0].losses[0]);
  EXPECT_EQ(sums[2], sums[0]);
}
