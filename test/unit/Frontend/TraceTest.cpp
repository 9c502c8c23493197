// Recordings of compiled functions: what they leave behind, how often they are made, and what functions may look like.
#include "lib/Frontend/Record.h"
#include "sprig/functional.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include "sprig/package.h"
#include "sprig/random.h"
#include "test/unit/Frontend/Expect.h"

using namespace sprig;

namespace {

Tensor ramp() { return Tensor({1.f, 2.f, 3.f}); }

TEST(Traces, AreCheckedAtTheSecondCallAlone) {
  int runs = 0;
  auto f = compile([&](Tensor x) {
    ++runs;
    return x * 2;
  });
  for (int i = 0; i < 5; ++i) f(ramp());
  EXPECT_EQ(runs, 2);
  checkTraces(true);
  EXPECT_TRUE(tracesAreChecked());
  f(ramp());
  EXPECT_EQ(runs, 3);
  checkTraces(false);
  f(Tensor({1.f}));
  f(Tensor({2.f}));
  f(ramp());
  EXPECT_EQ(runs, 5); // once more for each recording
  EXPECT_EQ(f.recordings().size(), 2u);
}

/// Calls that go together: values and states are those of single ones, whatever f gives.
TEST(Traces, CallsTogetherAreThoseOfSingleOnes) {
  auto run = [](bool isTogether) {
    manualSeed(5);
    nn::Linear linear(3, 2);
    nn::Dropout dropout(0.5);
    auto optimizer = optim::adam({linear.weight, linear.bias}, {.lr = 0.1});
    auto step = compile([&](const Tensor &x, double scale) {
      Tensor loss = sum(dropout(linear(x)) * rand({4, 2})) * scale;
      optimizer.update(grad(loss, optimizer.parameters()));
      return std::pair(loss, x * 2);
    });
    std::vector<std::tuple<Tensor, double>> calls;
    for (int i = 0; i < 5; ++i) calls.emplace_back(full({4, 3}, 0.5 * i), 2.0);
    std::vector<std::pair<Tensor, Tensor>> results;
    if (isTogether) {
      results = step.together(calls);
      for (auto &[x, scale] : calls) results.push_back(step(x, scale)); // by the same code
      for (auto &more : step.together(calls)) results.push_back(more);
      EXPECT_EQ(step.recordings().size(), 1u);
    } else {
      for (int round = 0; round < 3; ++round)
        for (auto &[x, scale] : calls) results.push_back(step(x, scale));
    }
    std::vector<float> all = linear.weight.value().toVector<float>();
    for (auto &[loss, twice] : results) {
      all.push_back(loss.item<float>());
      all.push_back(twice.toVector<float>()[0]);
    }
    all.push_back(rand({1}).item<float>());
    return all;
  };
  EXPECT_EQ(run(true), run(false));

  Parameter count(zeros({}));
  auto add = compile([&](const Tensor &x) { count.set(count.value() + x); });
  add.together(std::vector{std::tuple(Tensor(1.f)), std::tuple(Tensor(2.f)), std::tuple(Tensor(3.f))});
  EXPECT_EQ(count.value().item<float>(), 6.f);
  add.together(std::vector<std::tuple<Tensor>>{});
  add.enable(false);
  add.together(std::vector{std::tuple(Tensor(4.f)), std::tuple(Tensor(5.f))});
  EXPECT_EQ(count.value().item<float>(), 15.f);
}

TEST(Traces, CallsThatCannotGoTogether) {
  auto twice = compile([](const Tensor &x) { return x * 2; }, {.name = "twice"});
  std::string text = errorOf([&] { twice.together(std::vector{std::tuple(ramp()), std::tuple(Tensor({1.f}))}); });
  EXPECT_TRUE(has(text, "twice: call 2 of 2 that go together is of another kind than the first: argument 0 is 1xf32"))
      << text;
  std::vector<std::tuple<Tensor>> many(257, std::tuple(ramp()));
  text = errorOf([&] { twice.together(many); });
  EXPECT_TRUE(has(text, "twice: 257 calls cannot be one program: expected at most 256")) << text;
  nn::Linear linear(3, 1);
  auto backward = compile([&](const Tensor &x) { sum(linear(x)).backward(); }, {.name = "pass"});
  text = errorOf([&] { backward.together(std::vector{std::tuple(ones({2, 3})), std::tuple(ones({2, 3}))}); });
  EXPECT_TRUE(has(text, "pass: 2 calls cannot be one program: the function uses the gradient of parameter 'weight'"))
      << text;
  // Gradients do not flow through what they give.
  Tensor x = ramp().requireGrad();
  text = errorOf([&] { grad(sum(twice.together(std::vector{std::tuple(x), std::tuple(x)})[0]), x); });
  EXPECT_FALSE(text.empty());
}

/// Recording once more changes nothing that a program can see.
TEST(Traces, CheckingHasNoEffect) {
  auto run = [](bool isChecked) {
    checkTraces(isChecked);
    manualSeed(5);
    nn::Linear linear(3, 2);
    nn::BatchNorm1d norm(2);
    nn::Dropout dropout(0.5);
    auto optimizer = optim::adam({linear.weight, linear.bias}, {.lr = 0.1});
    optimizer.setSchedule(optim::schedule::exponential(0.9));
    auto step = compile([&](Tensor x) {
      Tensor loss = sum(dropout(norm(linear(x))) * rand({4, 2}));
      optimizer.update(grad(loss, optimizer.parameters()));
      return loss;
    });
    std::vector<float> numbers;
    for (int i = 0; i < 4; ++i) numbers.push_back(step(randn({4, 3})).item<float>());
    numbers.push_back(float(optimizer.steps()));
    numbers.push_back(float(optimizer.lr()));
    numbers.push_back(float(randomState().draws));
    for (const Parameter &p : {linear.weight, linear.bias, norm.buffers()[0], norm.buffers()[1]}) {
      std::vector<float> values = p.value().toVector<float>();
      numbers.insert(numbers.end(), values.begin(), values.end());
    }
    checkTraces(false);
    return numbers;
  };
  std::vector<float> plain = run(false);
  EXPECT_EQ(run(true), plain);
  setCompilation(false);
  EXPECT_EQ(run(false), plain);
  setCompilation(true);
}

/// What was recorded outside keeps its way back to its parameters, whatever a function records.
TEST(Traces, LeaveOutsideLineagesAlone) {
  Parameter w(ramp()), v(ramp());
  auto step = compile([&](Tensor x) {
    Tensor g = grad(sum(x * v * v), std::vector{v})[0];
    NoGrad quiet;
    v.set(v.value() - g * 0.1);
    return sum(g);
  });
  Tensor loss = sum(w * w);
  expectSameBits(grad(loss, std::vector{w})[0], ramp() * 2);
  step(ramp());
  expectSameBits(grad(loss, std::vector{w})[0], ramp() * 2);
}

TEST(Traces, SwitchesThatAFunctionSetsAreItsEffects) {
  auto run = [](bool isCompiled) {
    manualSeed(2);
    nn::Dropout dropout(0.5);
    Parameter w(ramp());
    auto f = compile([&](Tensor x) {
      dropout.train();
      w.setTrainable(true);
      Tensor y = dropout(x * w);
      Tensor g = grad(sum(y), std::vector{w})[0];
      dropout.eval();
      w.setTrainable(false);
      return dropout(y) + g;
    });
    f.enable(isCompiled);
    std::vector<float> numbers;
    for (int i = 0; i < 4; ++i) {
      std::vector<float> values = f(ramp()).toVector<float>();
      numbers.insert(numbers.end(), values.begin(), values.end());
      numbers.push_back(dropout.isTraining());
      numbers.push_back(w.trainable());
      if (i == 1) dropout.train(); // what the function sets anyway
    }
    EXPECT_EQ(f.recordings().size(), isCompiled ? 1u : 0u);
    return numbers;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Traces, AFailedRecordingLeavesSwitchesAlone) {
  nn::Dropout dropout(0.5);
  auto f = compile([&](Tensor x) {
    dropout.eval();
    return x * sum(x).item<float>();
  });
  EXPECT_NE(errorOf([&] { f(ramp()); }), "no error");
  EXPECT_TRUE(dropout.isTraining());
}

TEST(Traces, NoGradAroundACallIsAKeyWhereGradientsAreTaken) {
  Parameter w(ramp());
  auto step = compile([&](Tensor x) { return grad(sum(x * w * w), std::vector{w})[0]; });
  auto infer = compile([&](Tensor x) { return x * w; });
  step(ramp());
  infer(ramp());
  NoGrad quiet;
  std::string compiled = errorOf([&] { step(ramp()); });
  EXPECT_NE(compiled.find("does not depend"), std::string::npos) << compiled;
  infer(ramp());
  EXPECT_EQ(infer.recordings().size(), 1u);
}

TEST(Traces, AnErrorOfTheSecondRecordingSaysWhyThereIsOne) {
  Tensor kept;
  auto f = compile([&](Tensor x) {
    if (!kept.defined()) kept = x * 2;
    return x * kept;
  });
  f(ramp());
  std::string text = errorOf([&] { f(ramp()); });
  EXPECT_NE(text.find("uses a value of a function that was being recorded"), std::string::npos) << text;
  EXPECT_NE(text.find("is recorded once more"), std::string::npos) << text;
}

TEST(Traces, RefusalNamesTheLineAndTheFunction) {
  double scale = 0.1;
  int line = 0;
  auto f = compile(
      [&](Tensor x) {
        line = __LINE__ + 1;
        return x * scale;
      },
      {.name = "scaled"});
  f(ramp());
  scale = 0.2;
  std::string text = errorOf([&] { f(ramp()); });
  std::string start =
      std::string(__FILE__) + ":" + std::to_string(line) + ": mul: uses the number 0.2, recorded was 0.1\n";
  EXPECT_EQ(text.find(start), 0u) << text;
  EXPECT_NE(text.find("note: scaled (" + std::string(__FILE__)), std::string::npos) << text;
  scale = 0.1; // as it was
  EXPECT_EQ(errorOf([&] { f(ramp()); }), "no error");
}

/// What a module's replace() and assignments to its members say to compiled functions.
TEST(Traces, AReplacementIsSeenAtAnyCall) {
  std::vector<std::string> reasons;
  nn::Linear used(3, 2), unused(3, 2);
  auto f =
      compile([&](Tensor x) { return used(x); }, {.report = [&](const std::string &line) { reasons.push_back(line); }});
  for (int i = 0; i < 3; ++i) f(ramp());
  unused = nn::Linear(3, 2);
  frontend::noteReplacement();
  f(ramp());
  EXPECT_EQ(f.recordings().size(), 1u);
  used = nn::Linear(3, 2);
  frontend::noteReplacement();
  for (int i = 0; i < 3; ++i) expectSameBits(f(ramp()), used(ramp()));
  EXPECT_EQ(f.recordings().size(), 2u);
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_NE(reasons[0].find("uses another parameter 'weight'"), std::string::npos) << reasons[0];
}

struct Counting {
  int calls = 0;
  Tensor operator()(Tensor x) {
    ++calls;
    return x + 1;
  }
};
struct CountingNet : nn::Module {
  nn::Linear linear = add("linear", nn::Linear(3, 2));
  int calls = 0;
  Tensor operator()(Tensor x) {
    ++calls;
    return linear(x);
  }
};
Tensor twice(const Tensor &x) { return x * 2; }

TEST(Signatures, OfManyKinds) {
  expectSameBits(compile(Counting())(ramp()), ramp() + 1);
  expectSameBits(compile(twice)(ramp()), ramp() * 2);
  expectSameBits(compile(std::function<Tensor(Tensor)>(twice))(ramp()), ramp() * 2);
  expectSameBits(compile([n = 2](Tensor x) mutable { return x * ++n; })(ramp()), ramp() * 3);
  CountingNet net;
  expectSameBits(compile(net)(ramp()), net(ramp()));
  Parameter w(ramp());
  expectSameBits(compile([&] { return w; })(), ramp());
  expectSameBits(compile([](Tensor x) { return x + x; })(w), ramp() * 2);
  expectSameBits(compile([](std::span<const Tensor> v) { return v[0] + v[1]; })(std::vector{ramp(), ramp()}),
                 ramp() * 2);
}

TEST(Signatures, TransformsTakeFunctorsThatChange) {
  auto cube = [power = 3](Tensor x) mutable { return sum(pow(x, power)); };
  expectSameBits(grad(cube)(ramp()), grad([](Tensor x) { return sum(pow(x, 3)); })(ramp()));
  expectSameBits(compile(grad(cube))(ramp()), grad(cube)(ramp()));
  expectSameBits(checkpoint(Counting())(ramp()), ramp() + 1);
}

TEST(Signatures, PackagesTakeFunctorsThatChange) {
  PackageBuilder builder;
  builder.add("main", Counting(), {{DType::f32, {3}}});
  expectSameBits(loadBytes(builder.bytes())(ramp()), ramp() + 1);
}

/// The structure of the results is the recording's own: each of these has another number of them.
TEST(Signatures, ResultsOfEachRecording) {
  auto rows = compile(
      [](Tensor x) {
        std::vector<Tensor> all;
        for (int64_t i = 0; i < x.size(0); ++i) all.push_back(x[int(i)]);
        return std::pair(all, x.size(0) > 2 ? std::optional(sum(x)) : std::nullopt);
      },
      {.report = [](const std::string &) {}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rows(ramp()).first.size(), 3u);
    EXPECT_TRUE(rows(ramp()).second);
    EXPECT_EQ(rows(Tensor({1.f, 2.f})).first.size(), 2u);
    EXPECT_FALSE(rows(Tensor({1.f, 2.f})).second);
  }
  EXPECT_EQ(rows.recordings().size(), 2u);
}

TEST(Signatures, AResultThatHoldsNothing) {
  auto f = compile([](Tensor x, bool both) { return std::pair(x * 2, both ? x * 3 : Tensor()); },
                   {.report = [](const std::string &) {}});
  EXPECT_FALSE(f(ramp(), false).second.defined());
  expectSameBits(f(ramp(), true).second, ramp() * 3);
  EXPECT_FALSE(f(ramp(), false).second.defined());
}

} // namespace
