// Checkpoints of a loop that a program has written itself: the run goes on with the same bits.
#include "sprig/checkpoint.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/random.h"
#include "test/unit/Frontend/Expect.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace sprig;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

struct CheckpointNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(6, 8)), b = add("b", nn::Linear(8, 6, {.bias = false}));
  nn::Dropout drop = add("drop", nn::Dropout(0.3));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(8));
  Tensor operator()(const Tensor &x) const { return b(drop(norm(relu(a(x))))); }
};

data::Dataset fewPoints() {
  return data::Dataset(52, [](int64_t i) {
    std::vector<float> x(6), y(6);
    for (size_t k = 0; k < 6; ++k) x[k] = float((i * 7 + int64_t(k) * 3) % 11) / 11, y[k] = float(i % 5);
    return data::Sample{data::Field(x), data::Field(y)};
  });
}

/// What a program has, made anew as another process would.
struct Training {
  CheckpointNet net;
  optim::Optimizer optimizer;
  optim::Average average;
  optim::ReduceOnPlateau plateau;
  data::Loader loader{fewPoints(), {.batch = 8, .shuffle = true, .workers = 1}}; // by manualSeed
  int64_t done = 0;
  double sum = 0;
  Tensor last = zeros({});

  Training()
      : optimizer(optim::adamw(net, {.lr = 1e-2})), average(net, 0.9),
        plateau(optimizer, {.factor = 0.5, .patience = 0, .threshold = 0.3}) {
    optimizer.setSchedule(optim::schedule::cosine(20));
  }
  std::vector<CheckpointPart> parts() {
    return {net, optimizer, average, plateau, loader, {"done", done}, {"sum", sum}, {"last", last}};
  }
  /// Steps until so many are done; saves after step `saveAt`, within the epoch.
  void train(int64_t until, bool compiled, int64_t saveAt = -1, const fs::path &folder = {}) {
    auto step = compile([&](const Tensor &x, const Tensor &y) {
      Tensor loss = mean(square(net(x) - y));
      optimizer.update(grad(loss, net.parameters()));
      average.update();
      return loss;
    });
    step.enable(compiled);
    while (done < until) {
      for (auto [x, y] : loader) {
        last = step(x, y).detach();
        sum += last.item<double>();
        if (++done % 2 == 0) plateau.step(last.item<double>());
        if (done == saveAt) saveCheckpoint(folder, parts());
        if (done == until) break;
      }
    }
  }
  std::vector<Tensor> all() const {
    std::vector<Tensor> values{Tensor(sum), Tensor(done), last};
    for (const auto &named : {net.namedParameters(), net.namedBuffers(), optimizer.namedState(), average.namedState(),
                              plateau.namedState()})
      for (auto &[name, parameter] : named) values.push_back(parameter.value());
    return values;
  }
};

struct OneCallCheckpoint : testing::Test {
  fs::path folder = fs::temp_directory_path() / ("sprig-one-call-" + std::to_string(getpid()));
  void SetUp() override { fs::remove_all(folder); }
  void TearDown() override { fs::remove_all(folder); }
};

TEST_F(OneCallCheckpoint, GoesOnWithTheSameBits) {
  // 7 batches an epoch: within the first and the second, and at the end of one.
  for (bool compiled : {false, true})
    for (int64_t at : {5, 9, 14}) {
      fs::remove_all(folder);
      manualSeed(3);
      Training straight;
      straight.train(20, compiled, at, folder);
      RandomState end = randomState();
      EXPECT_TRUE(hasCheckpoint(folder));
      manualSeed(99);
      Training resumed;
      randn({3}); // whatever the other process does before
      EXPECT_EQ(loadCheckpoint(folder, resumed.parts()), at);
      EXPECT_EQ(resumed.done, at);
      resumed.train(20, compiled);
      std::vector<Tensor> a = straight.all(), b = resumed.all();
      ASSERT_EQ(a.size(), b.size());
      for (size_t i = 0; i < a.size(); ++i) expectSameBits(a[i], b[i]);
      EXPECT_EQ(randomState().draws, end.draws);
      EXPECT_EQ(randomState().seed, end.seed);
    }
}

// A list that is made before the loop saves what its parts are at each call.
TEST_F(OneCallCheckpoint, PartsFollowWhatTheyAreMadeOf) {
  CheckpointNet net;
  int64_t epoch = 0;
  int small = 0;
  uint64_t hash = ~uint64_t(0);
  double best = 1;
  Tensor last(1.f);
  std::vector<CheckpointPart> parts = {
      net, {"epoch", epoch}, {"small", small}, {"hash", hash}, {"best", best}, {"last", last}};
  epoch = 7, small = -3, --hash, best = 0.5, last = Tensor(2.f);
  saveCheckpoint(folder, parts);
  epoch = 0, small = 0, hash = 0, best = 0, last = Tensor(0.f);
  loadCheckpoint(folder, parts);
  EXPECT_EQ(epoch, 7);
  EXPECT_EQ(small, -3);
  EXPECT_EQ(hash, ~uint64_t(0) - 1);
  EXPECT_EQ(best, 0.5);
  EXPECT_EQ(last.item<float>(), 2);
  // A number that the other program's type does not hold.
  int64_t many = int64_t(1) << 40;
  int few = 5;
  saveCheckpoint(folder, {{"count", many}, {"best", best}});
  best = 0.25;
  EXPECT_THAT(errorOf([&] { loadCheckpoint(folder, {{"best", best}, {"count", few}}); }),
              HasSubstr("beyond its type: value/count: in the checkpoint it is 1099511627776"));
  EXPECT_EQ(few, 5);
  EXPECT_EQ(best, 0.25);
}

// Frozen at first: another process loads counts that its own optimizer has not yet.
TEST_F(OneCallCheckpoint, KnowsTheStepsThatLeftAParameterAlone) {
  auto run = [&](int from, int until, CheckpointNet &net, optim::Optimizer &optimizer) {
    for (int i = from; i < until; ++i) {
      net.a.requiresGrad(i >= 3);
      Tensor x = full({8, 6}, 0.1 * i) + arange(8).to(DType::f32).unsqueeze(1);
      optimizer.update(grad(mean(square(net(x))), net.parameters()));
    }
  };
  for (int at : {2, 5}) {
    fs::remove_all(folder);
    manualSeed(3);
    CheckpointNet net, other;
    auto optimizer = optim::adam(net), again = optim::adam(other);
    std::vector<CheckpointPart> parts = {net, {"own", optimizer}};
    run(0, at, net, optimizer);
    saveCheckpoint(folder, parts);
    run(at, 8, net, optimizer);
    loadCheckpoint(folder, {other, {"own", again}});
    run(at, 8, other, again);
    for (size_t i = 0; i < net.parameters().size(); ++i)
      expectSameBits(net.parameters()[i].value(), other.parameters()[i].value());
    // And back, where there are such counts already.
    CheckpointNet fresh;
    auto unused = optim::adam(fresh);
    saveCheckpoint(folder / "fresh", {fresh, {"own", unused}});
    loadCheckpoint(folder / "fresh", parts);
    EXPECT_EQ(optimizer.stateDict().back().name, "optimizer/skipped/a.bias");
    EXPECT_EQ(optimizer.stateDict().back().value.item<int>(), 0);
  }
}

TEST_F(OneCallCheckpoint, PartsOfOneKindHaveNames) {
  CheckpointNet one, two;
  auto first = optim::sgd(one, {.lr = 1, .momentum = 0.9}), second = optim::sgd(two);
  EXPECT_THAT(errorOf([&] { saveCheckpoint(folder, {one, two}); }),
              ::testing::AllOf(HasSubstr("OneCallCheckpointTest.cpp:"), HasSubstr("two parts have 'a.weight'")));
  EXPECT_FALSE(hasCheckpoint(folder));
  init::constant_(one.a.weight, 1);
  init::constant_(two.a.weight, 2);
  saveCheckpoint(folder, {{"one", one}, {"two", two}, {"one", first}, {"two", second}});
  CheckpointNet again, other;
  auto third = optim::sgd(again, {.momentum = 0.9}), fourth = optim::sgd(other);
  loadCheckpoint(folder, {{"one", again}, {"two", other}, {"one", third}, {"two", fourth}});
  expectSameBits(again.a.weight.value(), one.a.weight.value());
  expectSameBits(other.a.weight.value(), two.a.weight.value());
  EXPECT_EQ(third.baseLr(), 1);
}

TEST_F(OneCallCheckpoint, RefusesWhatDoesNotFitAndChangesNothing) {
  CheckpointNet net;
  data::Loader loader(fewPoints(), {.batch = 8, .shuffle = 5});
  int64_t epoch = 3;
  saveCheckpoint(folder, {net, loader, {"epoch", epoch}});
  CheckpointNet other;
  other.b = nn::Linear(8, 2, {.bias = false});
  Tensor before = other.a.weight.value();
  data::Loader anew(fewPoints(), {.batch = 8, .shuffle = 6});
  auto optimizer = optim::sgd(other);
  std::string text = errorOf([&] { loadCheckpoint(folder, {other, anew, optimizer}); });
  EXPECT_THAT(text, HasSubstr("other type: b.weight: here it is 2x8xf32, in the checkpoint 6x8xf32"));
  EXPECT_THAT(text, HasSubstr("other loader/shuffle: here it is 6, in the checkpoint 5"));
  EXPECT_THAT(text, HasSubstr("missing: optimizer/step"));
  EXPECT_THAT(text, HasSubstr("unexpected: value/epoch"));
  expectSameBits(other.a.weight.value(), before);
  EXPECT_THAT(errorOf([&] { loadCheckpoint(folder / "none", {net}); }), HasSubstr("there is no such folder"));
  EXPECT_FALSE(hasCheckpoint(folder / "none"));
}

TEST_F(OneCallCheckpoint, KeepsTheLatestAndFindsDamage) {
  CheckpointNet net;
  int64_t epoch = 0;
  for (; epoch < 5; ++epoch) saveCheckpoint(folder, {net, {"epoch", epoch}}, {.keep = 2});
  EXPECT_FALSE(fs::exists(folder / "step-2"));
  EXPECT_EQ(loadCheckpoint(folder, {net, {"epoch", epoch}}), 4);
  EXPECT_EQ(epoch, 4);
  EXPECT_EQ(loadCheckpoint(folder / "step-3", {net, {"epoch", epoch}}), 3);
  std::ofstream(folder / "step-4" / "arrays.safetensors", std::ios::app) << "x";
  EXPECT_THAT(errorOf([&] { loadCheckpoint(folder, {net, {"epoch", epoch}}); }), HasSubstr("step-3"));
  EXPECT_EQ(epoch, 3);
}

TEST(LoaderPosition, IsBehindWhatWasHandedOut) {
  data::Loader loader(fewPoints(), {.batch = 8, .workers = 1});
  using Position = data::Loader::Position;
  EXPECT_EQ(loader.position(), (Position{0, 0}));
  int64_t batch = 0;
  for (const data::Batch &each : loader) {
    (void)each;
    ++batch;
    EXPECT_EQ(loader.position(), (batch < 7 ? Position{0, batch} : Position{1, 0}));
  }
  loader.seek(4, 2);
  EXPECT_EQ(loader.position(), (Position{4, 2}));
}

} // namespace
