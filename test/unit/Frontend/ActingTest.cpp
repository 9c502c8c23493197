// A module that learns in one thread while others act with it: the recipe of docs/imperative.md.
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include "sprig/package.h"
#include "sprig/random.h"
#include "sprig/rt/sprig_rt.hpp"
#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>

namespace sprig {
namespace {

struct Policy : nn::Module {
  nn::Linear a = add("a", nn::Linear(4, 16)), b = add("b", nn::Linear(16, 2));
  Tensor operator()(const Tensor &x) const { return b(tanh(a(x))); }
};

struct Floats {
  std::vector<float> values;
  std::vector<int64_t> shape;
  rt::TensorView view() { return {values.data(), rt::Dims(shape.data(), shape.size())}; }
};

} // namespace

TEST(Acting, EveryAnswerIsOfOneVersion) {
  manualSeed(2);
  Policy net;
  optim::Optimizer optimizer = optim::adam(net, {.lr = 0.05});
  auto step = [&](const Tensor &x, const Tensor &y) {
    Tensor loss = mseLoss(net(x), y);
    optimizer.update(grad(loss, net.parameters()));
    return loss;
  };
  PackageBuilder builder;
  builder.add("learn", step, {{DType::f32, {8, 4}}, {DType::f32, {8, 2}}}).add("act", net, {{DType::f32, {1, 4}}});
  rt::Package package = rt::Package::fromMemory(builder.bytes());

  rt::Snapshots snapshots(package); // version 0: the module as it was saved
  std::mutex mutex;                 // of `right`
  std::map<uint64_t, std::vector<float>> right;
  std::vector<std::pair<uint64_t, std::vector<float>>> answers;
  std::atomic<bool> isOver = false;
  std::atomic<int> acted = 0;
  auto act = [&] {
    rt::Pool pool(1);
    rt::Snapshots::Reader reader(snapshots, {"act"});
    rt::Context actor(package, {&pool, &reader.state(), 0});
    Floats x{{1, -1, 0.5f, 2}, {1, 4}}, y{{0, 0}, {1, 2}};
    while (!isOver) {
      const uint64_t version = reader.update();
      actor.invoke({x.view()}, {y.view()}, int32_t(package.findEntry("act")));
      ++acted;
      std::lock_guard lock(mutex);
      answers.emplace_back(version, y.values);
    }
  };
  rt::Pool pool(1);
  rt::State state(package);
  rt::Context learner(package, {&pool, &state, 0});
  Floats x{std::vector<float>(32), {8, 4}}, y{std::vector<float>(16), {8, 2}}, loss{{0}, {}};
  for (size_t i = 0; i < 32; ++i) x.values[i] = float(i % 7) / 7;
  for (size_t i = 0; i < 16; ++i) y.values[i] = float(i % 3);
  // What each version answers, found beside the actors by a reader of its own.
  rt::Snapshots::Reader reader(snapshots, {"act"});
  rt::Context judge(package, {&pool, &reader.state(), 0});
  Floats seen{{1, -1, 0.5f, 2}, {1, 4}}, answer{{0, 0}, {1, 2}};
  auto note = [&](uint64_t version) {
    ASSERT_EQ(reader.update(), version);
    judge.invoke({seen.view()}, {answer.view()}, int32_t(package.findEntry("act")));
    std::lock_guard lock(mutex);
    right[version] = answer.values;
  };
  note(0);
  std::thread first(act), second(act);
  float begin = 0;
  for (uint64_t version = 1; version <= 50 || acted < 200; ++version) {
    learner.invoke({x.view(), y.view()}, {loss.view()}, int32_t(package.findEntry("learn")));
    if (version == 1) begin = loss.values[0];
    ASSERT_EQ(snapshots.publish(state), version);
    note(version);
  }
  isOver = true;
  first.join();
  second.join();
  EXPECT_LT(loss.values[0], 0.5f * begin);
  for (auto &[version, values] : answers) EXPECT_EQ(values, right.at(version)) << version;
  EXPECT_GT(right.size(), 50u);
}

} // namespace sprig
