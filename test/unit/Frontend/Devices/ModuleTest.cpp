// Modules and optimizers that move, networks over two devices, compiled functions and packages of them.
#include "sprig/rt/sprig_rt.hpp"
#include "sprig/sprig.h"
#include "test/unit/Frontend/Devices/TwoDevices.h"
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace sprig;
using namespace sprig::frontend;

namespace {

struct Net : nn::Module {
  nn::Linear front = add("front", nn::Linear(12, 16)), back = add("back", nn::Linear(16, 4));
  Device second; ///< where the back half is
  Tensor operator()(const Tensor &x) const { return back(relu(front(x)).to(second, true)); }
};

Net netOver(const Device &first, const Device &second) {
  manualSeed(11);
  Net net;
  net.second = second;
  net.front.to(first);
  net.back.to(second);
  return net;
}

struct Batch {
  Tensor x, y;
};
std::vector<Batch> batchesOn(const Device &first, const Device &second) {
  manualSeed(5);
  std::vector<Batch> batches;
  for (int i = 0; i < 4; ++i) {
    Tensor x = randn({8, 12}), y = randint(0, 4, {8});
    batches.push_back({x.to(first), y.to(second)});
  }
  return batches;
}

/// The losses and then the parameters.
std::vector<Tensor> trained(const Device &first, const Device &second, bool compiled, bool backward = false) {
  Net net = netOver(first, second);
  auto optimizer = optim::adam(net.parameters(), {.lr = 0.05});
  optimizer.setClipNorm(1);
  auto step = compile([&](Tensor x, Tensor y) {
    Tensor loss = crossEntropy(net(x), y);
    if (backward) {
      loss.backward();
      optimizer.step();
      optimizer.zeroGrad();
    } else {
      optimizer.update(grad(loss, net.parameters()));
    }
    return loss;
  });
  step.enable(compiled);
  std::vector<Tensor> result;
  for (const Batch &batch : batchesOn(first, second)) result.push_back(step(batch.x, batch.y));
  for (const Parameter &parameter : net.parameters()) result.push_back(parameter.value());
  EXPECT_EQ(net.front.weight.device(), first);
  EXPECT_EQ(net.back.weight.device(), second);
  return result;
}

} // namespace

TEST(DeviceModule, ToKeepsWhatItIs) {
  nn::BatchNorm1d norm(3);
  Parameter weight = norm.weight;
  Tensor before = norm.stateDict()[0].value;
  norm.to(kSecond);
  EXPECT_TRUE(norm.weight.same(weight));
  for (const Parameter &parameter : norm.parameters()) EXPECT_EQ(parameter.device(), kSecond);
  for (const Parameter &buffer : norm.buffers()) EXPECT_EQ(buffer.device(), kSecond);
  EXPECT_TRUE(weight.trainable());
  expectSame(before, norm.stateDict()[0].value);
  EXPECT_EQ(norm(ones({4, 3}).to(kSecond)).device(), kSecond);
  EXPECT_EQ(norm.buffers()[0].device(), kSecond); // its running statistics stay there
  EXPECT_THROW(norm(ones({4, 3})), Error);
}

TEST(DeviceModule, WhatAParameterIsSetToIsCopiedHome) {
  Parameter weight(ones({3}));
  nn::Linear linear(2, 2);
  linear.to(kSecond);
  linear.loadStateDict(nn::Linear(2, 2).stateDict());
  EXPECT_EQ(linear.weight.device(), kSecond);
  linear.resetParameters();
  EXPECT_EQ(linear.weight.device(), kSecond);
  weight.set(full({3}, 2).to(kSecond));
  EXPECT_EQ(weight.device(), kFirst);
  EXPECT_EQ(weight.value().text(), "[2, 2, 2]");
}

TEST(DeviceModule, OptimizersFollow) {
  auto train = [](bool moves, bool compiled) {
    Net net = netOver(kFirst, kFirst);
    auto optimizer = optim::adam(net.parameters(), {.lr = 0.05});
    optim::Average average(net, 0.5);
    auto step = compile(
        [&](Tensor x, Tensor y) {
          Tensor loss = crossEntropy(net(x), y);
          optimizer.update(grad(loss, net.parameters()));
          average.update();
          return loss;
        },
        {.report = [](const std::string &) {}});
    step.enable(compiled);
    std::vector<Tensor> result;
    Device now = kFirst;
    std::vector<Batch> batches = batchesOn(kFirst, kFirst);
    for (size_t i = 0; i < batches.size(); ++i) {
      if (moves && i == 2) {
        now = net.second = kSecond;
        net.to(now);
      }
      result.push_back(step(batches[i].x.to(now), batches[i].y.to(now)));
    }
    average.swap();
    for (const Parameter &parameter : net.parameters()) {
      EXPECT_EQ(parameter.device(), now);
      result.push_back(parameter.value());
    }
    return result;
  };
  std::vector<Tensor> alone = train(false, false);
  expectAllSame(train(true, false), alone);
  expectAllSame(train(true, true), alone);
}

TEST(DeviceModule, GradientsMoveToo) {
  nn::Linear linear(2, 2);
  sum(linear(ones({3, 2}))).backward();
  Tensor before = linear.weight.grad();
  linear.to(kSecond);
  EXPECT_EQ(linear.weight.grad().device(), kSecond);
  sum(linear(ones({3, 2}).to(kSecond))).backward();
  expectSame(linear.weight.grad(), before + before);
}

TEST(DeviceModule, TrainingOverTwoHasTheBitsOfOne) {
  std::vector<Tensor> one = trained(kFirst, kFirst, false);
  expectAllSame(trained(kFirst, kSecond, false), one);
  expectAllSame(trained(kSecond, kSecond, false), one);
  expectAllSame(trained(kFirst, kSecond, true), one);
  expectAllSame(trained(kSecond, kSecond, true), one);
  expectAllSame(trained(kFirst, kSecond, false, true), one);
  expectAllSame(trained(kFirst, kSecond, true, true), one);
}

TEST(DeviceModule, GradientsOfGradientsAndTangents) {
  auto both = [](const Device &other) {
    Tensor x = Tensor({{0.3f, -0.7f}, {0.2f, 1.1f}}).requireGrad();
    auto f = [&](const Tensor &v) {
      return sum(tanh(matmul(v.to(other, true), v.to(other, true))) * v.to(other, true));
    };
    Tensor first = grad(f(x), x, {.createGraph = true});
    Tensor second = grad(sum(first * first), x);
    EXPECT_EQ(first.device(), x.device());
    EXPECT_EQ(second.device(), x.device());
    return std::vector<Tensor>{first, second, jvp([&](const Tensor &v) { return f(v); }, x, ones({2, 2})).second};
  };
  expectAllSame(both(kSecond), both(kFirst));
}

TEST(DeviceModule, GradientsThroughCompiledFunctions) {
  auto run = [](const Device &other, bool compiled) {
    Tensor x = Tensor({{0.3f, -0.7f}, {0.2f, 1.1f}}).requireGrad();
    auto f = compile([&](Tensor v) { return tanh(matmul(v, v)).to(other, true) * 3; });
    f.enable(compiled);
    Tensor y = f(x);
    EXPECT_EQ(y.device(), other);
    Tensor g = grad(sum(y * y), x);
    EXPECT_EQ(g.device(), x.device());
    return std::vector<Tensor>{y, g};
  };
  std::vector<Tensor> one = run(kFirst, false);
  expectAllSame(run(kSecond, false), one);
  expectAllSame(run(kSecond, true), one);
}

TEST(DeviceModule, CompiledFunctionsKnowTheirDevices) {
  std::vector<std::string> reasons;
  auto f = compile([](Tensor v) { return v * 2; }, {.report = [&](const std::string &r) { reasons.push_back(r); }});
  EXPECT_EQ(f(ones({2})).device(), kFirst);
  EXPECT_EQ(f(ones({2}).to(kSecond)).device(), kSecond);
  EXPECT_EQ(f(ones({2})).device(), kFirst); // kept
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_NE(reasons[0].find("argument 0 is on cpu:1, recorded was cpu:0"), std::string::npos) << reasons[0];
  auto makes = compile([](Tensor v) { return zeros({2}) + sum(v); }, {.report = [](const std::string &) {}});
  EXPECT_EQ(makes(ones({2})).device(), kFirst);
  {
    DeviceScope scope(kSecond);
    EXPECT_EQ(makes(ones({2})).device(), kSecond);
  }
  auto mixes = compile([](Tensor a, Tensor b) { return a + b; });
  EXPECT_THROW(mixes(ones({2}), ones({2}).to(kSecond)), Error);
  auto moves = compile([](Tensor c, Tensor v) { return cond(c, [&] { return v.to(kSecond); }, [&] { return v; }); });
  try {
    moves(Tensor(true), ones({2}));
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("moves 2xf32 to cpu:1 in a branch"), std::string::npos) << error.what();
  }
}

TEST(DeviceModule, PackagesOverTwo) {
  std::string path =
      (std::filesystem::temp_directory_path() / ("devices-" + std::to_string(getpid()) + ".sprig")).string();
  Net net = netOver(kFirst, kSecond), alone = netOver(kFirst, kFirst);
  net.eval(), alone.eval();
  Tensor x = randn({8, 12});
  save(path, net, {{DType::f32, {8, 12}}});
  expectSame(load(path)(x), alone(x));
  EXPECT_EQ(rt::Package::load(path).info().device_count, 2u);
  Package there;
  {
    DeviceScope scope(kSecond);
    there = load(path);
  }
  EXPECT_EQ(there(x.to(kSecond)).device(), kSecond);
  try {
    there(x);
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("got 8x12xf32 on cpu:0, and the package was loaded for cpu:1"),
              std::string::npos)
        << error.what();
  }
  std::filesystem::remove(path);
}

// What `sprig profile` warns of with the program's line: a copy of what stays the same, in every call.
TEST(DeviceModule, PackagesSayWhatReadsACopy) {
  Parameter w(randn({12, 4}));
  PackageBuilder builder;
  builder.add("set", [&](const Tensor &value) { w.set(value); }, {{DType::f32, {12, 4}}});
  int line = 0;
  auto reads = [&](const Tensor &x) {
    line = __LINE__ + 1;
    return matmul(x.to(kSecond), w.value().to(kSecond));
  };
  builder.add("read", reads, {{DType::f32, {8, 12}}});
  std::vector<uint8_t> bytes = builder.bytes();
  rt::Package package = rt::Package::fromMemory(std::span<const uint8_t>(bytes), "copies");
  std::vector<std::string> sources;
  for (uint32_t lane = 0; lane < 8; ++lane)
    for (uint32_t index = 0; index < 8; ++index) {
      sprig_rt_command_info command;
      if (sprig_rt_status *none = sprig_rt_package_command(package.raw(), 1, lane, index, &command)) {
        sprig_rt_status_free(none);
        break;
      }
      uint32_t parts = 0;
      rt::check(sprig_rt_package_part_count(package.raw(), 1, lane, index, &parts));
      if (command.kind != SPRIG_RT_COPY || parts == 0) continue;
      sprig_rt_part_info part;
      rt::check(sprig_rt_package_part(package.raw(), 1, lane, index, 0, &part));
      EXPECT_STREQ(part.kind, "copy");
      sources.push_back(part.source);
    }
  EXPECT_EQ(sources, std::vector<std::string>{"ModuleTest.cpp:" + std::to_string(line)});
}

TEST(DeviceModule, MetricsTakeValuesOfAny) {
  metrics::ConfusionMatrix one(3), two(3);
  metrics::Accuracy accuracy;
  metrics::Mean mean;
  Tensor logits = randn({9, 3}), classes = randint(0, 3, {9});
  one.add(logits, classes);
  two.add(logits.to(kSecond), classes.to(kSecond));
  expectSame(one.counts(), two.counts());
  accuracy.add(logits.to(kSecond), classes.to(kSecond));
  mean.add(sum(logits.to(kSecond)));
  EXPECT_EQ(accuracy.count(), 9);
  EXPECT_EQ(mean.count(), 1);
}
