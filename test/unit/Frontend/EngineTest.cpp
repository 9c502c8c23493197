// The engine of the imperative mode: values, order, tiers, failures, compiled functions.
#include "lib/Frontend/Engine/Engine.h"
#include "test/unit/Frontend/Expect.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Record.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/package.h"
#include "sprig/timer.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace sprig;
using namespace sprig::frontend;

namespace {

Tensor add(const Operand &a, const Operand &b) {
  return record(opName("nn.add"), {a.tensor, b.tensor}, {}, a.tensor.type(), a.at);
}
Tensor mul(const Operand &a, const Operand &b) {
  return record(opName("nn.mul"), {a.tensor, b.tensor}, {}, a.tensor.type(), a.at);
}
Tensor unary(const char *op, const Operand &a) { return record(opName(op), {a.tensor}, {}, a.tensor.type(), a.at); }
Tensor sumAll(const Operand &a) {
  Shape axes;
  for (int i = 0; i < a.tensor.rank(); ++i) axes.push_back(i);
  return record(opName("nn.reduce"), {a.tensor}, {Attr::word("kind", "reduce_kind sum"), Attr::of("axes", axes)},
                {a.tensor.dtype(), {}}, a.at);
}
Tensor matmul(const Operand &a, const Operand &b) {
  return record(opName("nn.matmul"), {a.tensor, b.tensor}, {}, {a.tensor.dtype(), {a.tensor.size(0), b.tensor.size(1)}},
                a.at);
}
/// The row of a table; an index out of range fails when it runs.
Tensor pick(const Tensor &table, int64_t index, Source at = Source::here()) {
  return record(opName("nn.gather"), {table, Tensor(index)}, {Attr::of("axis", int64_t(0))},
                {table.dtype(), {table.size(1)}}, at);
}

Tensor ramp(const Shape &shape, float scale = 0.01f) {
  std::vector<float> numbers(size_t(shape.elements()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = scale * float(int(i % 37) - 18);
  return Tensor::from(numbers, shape);
}

TEST(Engine, KeepsIntegers) {
  EXPECT_EQ(add(Tensor({1, 2, 3}), Tensor({4, 5, 6})).text(), "[5, 7, 9]");
  EXPECT_EQ(add(Tensor({1, 2, 3}), Tensor({4, 5, 6})).dtype(), DType::i32);
}

TEST(Engine, PrintsNestedAndLong) {
  EXPECT_EQ(Tensor({{1.5f, 2.f}, {3.f, -4.25f}}).text(), "[[1.5, 2],\n [3, -4.25]]");
  EXPECT_EQ(Tensor(7).text(), "7");
  EXPECT_EQ(ramp({2000}, 1).text(), "[-18, -17, -16, ..., 18, -18, -17]");
  EXPECT_EQ(Tensor::from(std::vector<float>(), {0}).text(), "[]");
}

TEST(Engine, TiersGiveTheSameBits) {
  Tensor x = ramp({33, 65}), w = ramp({65, 17}, 0.03f);
  auto f = [&] { return unary("nn.tanh", matmul(unary("nn.sin", x), w)); };
  Tensor first = f();
  first.wait(); // operation by operation
  Tensor second = f();
  second.wait(); // asks for a plan
  int before = PlanCache::instance().compiled();
  PlanCache::instance().wait();
  EXPECT_GE(PlanCache::instance().compiled(), before);
  Tensor third = f(); // compiled
  Tensor fourth = compile(f)();
  expectSameBits(first, second);
  expectSameBits(first, third);
  expectSameBits(first, fourth);
}

TEST(Engine, ManyThreadsRecord) {
  std::vector<std::thread> threads;
  std::vector<double> sums(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Tensor x = Tensor::from(std::vector<float>(100, float(t)), {100});
      for (int i = 0; i < 200; ++i) x = add(x, Tensor::from(std::vector<float>(100, 1.f), {100}));
      sums[size_t(t)] = sumAll(x).item<double>();
    });
  for (auto &thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(sums[size_t(t)], 100.0 * (t + 200));
}

TEST(Engine, FailureSurfacesAtReadingWithTheLine) {
  Tensor table = ramp({4, 3});
  Tensor good = pick(table, 2);
  int line = __LINE__ + 1;
  Tensor bad = pick(table, 9);
  Tensor worse = add(bad, good);
  EXPECT_EQ(good.numel(), 3);
  std::string text = errorOf([&] { worse.wait(); });
  EXPECT_NE(text.find("EngineTest.cpp:" + std::to_string(line) + ": gather"), std::string::npos) << text;
  EXPECT_NE(text.find("9"), std::string::npos) << text;
  EXPECT_NE(text.find("4"), std::string::npos) << text;
  // What does not depend on it is there, in the same segment.
  EXPECT_EQ(good.toVector<float>().size(), 3u);
  EXPECT_EQ(errorOf([] { synchronize(); }), "no error"); // it has been read
  Tensor unread = pick(table, 8);
  EXPECT_NE(errorOf([] { synchronize(); }).find("8"), std::string::npos);
  EXPECT_EQ(errorOf([] { synchronize(); }), "no error");
}

TEST(Engine, ReadsOfUndefinedAndWrongTypes) {
  EXPECT_NE(errorOf([] { Tensor().text(); }).find("holds nothing"), std::string::npos);
  EXPECT_NE(errorOf([] { ramp({2}).data<double>(); }).find("elements of 2xf32 are read as f64"), std::string::npos);
  EXPECT_NE(errorOf([] { ramp({2}).item<float>(); }).find("one element, got 2xf32"), std::string::npos);
  EXPECT_NE(errorOf([] { Tensor::from(std::vector<float>(3), {2, 2}); }).find("3 numbers do not fill shape [2, 2]"),
            std::string::npos);
}

TEST(Engine, LongChainsAreTakenDownWithoutRecursion) {
  Parameter w(ramp({8}));
  Tensor x = w.value();
  for (int i = 0; i < 200000; ++i) x = add(x, x);
  x = {};
  synchronize();
}

TEST(Gradients, OfAProductMatchFiniteDifferences) {
  Parameter w(ramp({5, 4}, 0.1f));
  Tensor x = ramp({3, 5}, 0.2f);
  auto loss = [&](const Tensor &weights) { return sumAll(unary("nn.tanh", matmul(x, weights))); };
  std::vector<float> gradient = grad(loss(w), {w.value()})[0].toVector<float>();
  std::vector<float> at = w.value().toVector<float>();
  for (size_t i = 0; i < at.size(); ++i) {
    std::vector<float> up = at, down = at;
    up[i] += 1e-2f;
    down[i] -= 1e-2f;
    double slope =
        (loss(Tensor::from(up, {5, 4})).item<double>() - loss(Tensor::from(down, {5, 4})).item<double>()) / 2e-2;
    EXPECT_NEAR(gradient[i], slope, 2e-3) << i;
  }
}

TEST(Gradients, AreTheSameWhenTheForwardPassHasRunAlready) {
  Parameter w(ramp({5, 4}, 0.1f));
  Tensor x = ramp({3, 5}, 0.2f);
  auto loss = [&] { return sumAll(unary("nn.sigmoid", matmul(x, w))); };
  Tensor before = loss();
  before.wait();
  Tensor late = grad(before, std::vector{w})[0];
  Tensor early = grad(loss(), std::vector{w})[0];
  expectSameBits(late, early);
}

TEST(Gradients, OfHigherOrder) {
  auto cube = [](const Tensor &x) { return sumAll(mul(mul(x, x), x)); };
  Tensor x(2.f);
  EXPECT_EQ(grad(cube)(x).item<float>(), 12.f);
  EXPECT_EQ(grad(grad(cube))(x).item<float>(), 12.f);
  EXPECT_EQ(grad(grad(grad(cube)))(x).item<float>(), 6.f);
  auto [value, slope] = jvp(cube, x, Tensor(3.f));
  EXPECT_EQ(value.item<float>(), 8.f);
  EXPECT_EQ(slope.item<float>(), 36.f);
}

TEST(Gradients, BackwardAddsUp) {
  Parameter w(Tensor({1.f, 2.f})), unused(Tensor({1.f}));
  sumAll(mul(w, w)).backward();
  EXPECT_EQ(w.grad().toVector<float>(), (std::vector<float>{2, 4}));
  sumAll(mul(w, w)).backward();
  EXPECT_EQ(w.grad().toVector<float>(), (std::vector<float>{4, 8}));
  EXPECT_FALSE(unused.grad().defined());
  w.zeroGrad();
  EXPECT_FALSE(w.grad().defined());
}

TEST(Gradients, RefuseWhatHasNone) {
  Parameter w(Tensor({1.f, 2.f}));
  EXPECT_NE(errorOf([&] { grad(mul(w, w), std::vector{w}); }).find("is 2xf32; expected a scalar"), std::string::npos);
  EXPECT_NE(errorOf([&] { grad(sumAll(ramp({3})), std::vector{w}); }).find("does not depend on"), std::string::npos);
  Tensor loss = sumAll(mul(w, w));
  w.set(Tensor({3.f, 4.f}));
  EXPECT_NE(errorOf([&] { grad(loss, std::vector{w}); }).find("ends what was recorded before"), std::string::npos);
  NoGrad quiet;
  EXPECT_NE(errorOf([&] { grad(sumAll(mul(w, w)), std::vector{w}); }).find("does not depend"), std::string::npos);
}

TEST(Gradients, CheckpointAndCustomGradient) {
  Parameter w(ramp({6}, 0.3f));
  auto block = [](Tensor x) { return unary("nn.exp", unary("nn.sin", x)); };
  expectSameBits(grad(sumAll(block(w)), std::vector{w})[0], grad(sumAll(checkpoint(block)(w)), std::vector{w})[0]);
  Tensor y = customGradient([](Tensor x) { return unary("nn.round", x); }, [](Tensor, Tensor, Tensor g) { return g; },
                            w.value());
  EXPECT_EQ(grad(sumAll(y), std::vector{w})[0].toVector<float>(), std::vector<float>(6, 1.f));
}

TEST(Gradients, ACustomGradientThatLeadsBackToItselfIsRefused) {
  std::function<Tensor(Tensor)> again = [&](Tensor x) {
    return customGradient([](Tensor v) { return unary("nn.sin", v); },
                          [&](Tensor v, Tensor, Tensor g) { return mul(again(v), g); }, x);
  };
  std::string refusal = errorOf([&] { again(Tensor({1.f, 2.f})); });
  EXPECT_NE(refusal.find("customGradient: is within 64 others"), std::string::npos) << refusal;
  EXPECT_EQ(errorOf([&] { checkpoint([](Tensor x) { return unary("nn.sin", x); })(Tensor({1.f})); }), "no error");
}

TEST(Compiled, UpdatesStateInPlaceAndKeepsOldVersions) {
  Parameter w(Tensor({1.f, 2.f}));
  auto step = compile([&](Tensor x) {
    Tensor next = add(w, x);
    w.set(next);
    return sumAll(next);
  });
  Tensor old = w.value();
  EXPECT_EQ(step(Tensor({1.f, 1.f})).item<float>(), 5.f);
  EXPECT_EQ(step(Tensor({1.f, 1.f})).item<float>(), 7.f);
  EXPECT_EQ(w.value().toVector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(old.toVector<float>(), (std::vector<float>{1, 2}));
  const void *place = w.value().bytes();
  step(Tensor({1.f, 1.f})).wait();
  EXPECT_EQ(w.value().bytes(), place);
  EXPECT_EQ(step.recordings().size(), 1u);
}

TEST(Compiled, TellsWhyItRecordsAgain) {
  std::vector<std::string> reasons;
  auto f = compile([](Tensor x, double scale) { return mul(x, Tensor::from(std::vector<float>{float(scale)}, {1})); },
                   {.name = "scale", .report = [&](const std::string &line) { reasons.push_back(line); }});
  EXPECT_EQ(f(ramp({2}), 2.0).numel(), 2);
  f(ramp({3}), 2.0);
  f(ramp({3}), 3.0);
  f(ramp({2}), 2.0);
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_NE(reasons[0].find("scale (" __FILE__), std::string::npos) << reasons[0];
  EXPECT_NE(reasons[0].find("argument 0 is 3xf32, recorded was 2xf32"), std::string::npos) << reasons[0];
  EXPECT_NE(reasons[1].find("the number in argument 1 is 3.0, recorded was 2.0"), std::string::npos) << reasons[1];
}

TEST(Compiled, ReadingWhileRecordingIsOneErrorWithTheLine) {
  int line = 0;
  auto f = compile([&](Tensor x) {
    line = __LINE__ + 1;
    if (sumAll(x).item<float>() > 0) return x;
    return add(x, x);
  });
  std::string text = errorOf([&] { f(ramp({2})); });
  EXPECT_NE(text.find("EngineTest.cpp:" + std::to_string(line)), std::string::npos) << text;
  EXPECT_NE(text.find("use cond or whileLoop"), std::string::npos) << text;
  f.enable(false);
  EXPECT_EQ(f(Tensor({1.f, 2.f})).numel(), 2);
}

TEST(Compiled, GradientStepEqualsTheImperativeOne) {
  auto train = [&](bool compiled) {
    Parameter w(ramp({5, 4}, 0.1f));
    Tensor x = ramp({3, 5}, 0.2f);
    auto step = compile([&](Tensor input) {
      Tensor loss = sumAll(unary("nn.tanh", matmul(input, w)));
      Tensor g = grad(loss, std::vector{w})[0];
      NoGrad quiet;
      w.set(add(w, mul(g, Tensor::from(std::vector<float>{-0.1f}, {1}))));
      return loss;
    });
    step.enable(compiled);
    std::vector<float> losses;
    for (int i = 0; i < 5; ++i) losses.push_back(step(x).item<float>());
    losses.insert(losses.end(), w.value().data<float>(), w.value().data<float>() + 20);
    return losses;
  };
  EXPECT_EQ(train(true), train(false));
}

// A function that only reads keeps its weights packed; it must see every way in which they change.
TEST(Compiled, SeesParametersThatOthersChange) {
  Parameter w(ramp({5, 4}, 0.1f));
  Tensor x = ramp({3, 5}, 0.2f), small = ramp({5, 4}, 0.01f);
  auto infer = compile([&](Tensor input) { return matmul(input, w); });
  auto step = compile([&](Tensor by) {
    Tensor next = add(w, by);
    w.set(next);
    return sumAll(next);
  });
  auto expectCurrent = [&] { expectSameBits(infer(x), matmul(x, w.value().detach())); };
  expectCurrent();
  expectCurrent();
  for (int i = 0; i < 3; ++i) {
    step(small); // in place
    expectCurrent();
  }
  w.set(mul(w, small)); // in other memory
  expectCurrent();
  step(small);
  expectCurrent();
  expectCurrent();
}

TEST(Compiled, AFailedCallLeavesTheProgramRunning) {
  Tensor table = ramp({4, 3});
  auto f = compile([&](Tensor index) {
    return record(opName("nn.gather"), {table, index}, {Attr::of("axis", int64_t(0))}, {DType::f32, {3}},
                  Source::here());
  });
  Tensor bad = f(Tensor(int64_t(17)));
  EXPECT_NE(errorOf([&] { bad.wait(); }).find("17"), std::string::npos);
  EXPECT_EQ(f(Tensor(int64_t(1))).numel(), 3);
  errorOf([] { synchronize(); });
}

TEST(Compiled, ValuesOfARecordingStayInside) {
  Tensor leaked;
  auto f = compile([&](Tensor x) { return leaked = add(x, x); });
  f(ramp({2}));
  EXPECT_NE(errorOf([&] { leaked.wait(); }).find("not known while"), std::string::npos);
  EXPECT_NE(errorOf([&] { add(leaked, leaked); }).find("a function that was being recorded"), std::string::npos);
}

TEST(Packages, HoldFunctionsAndTheirState) {
  Parameter w(ramp({5, 4}, 0.1f));
  w.setName("w");
  auto predict = [&](Tensor x) { return unary("nn.tanh", matmul(x, w)); };
  auto step = [&](Tensor x) {
    Tensor loss = sumAll(predict(x));
    Tensor g = grad(loss, std::vector{w})[0];
    NoGrad quiet;
    w.set(add(w, g));
    return loss;
  };
  PackageBuilder builder;
  builder.add("predict", predict, {{DType::f32, {-1, 5}}}, {.batches = {1, 3}});
  builder.add("step", step, {{DType::f32, {3, 5}}});
  CompileOptions options;
  Package package = loadBytes(builder.bytes(options));
  EXPECT_EQ(package.functions(), (std::vector<std::string>{"predict", "step"}));
  Tensor x = ramp({3, 5}, 0.2f);
  expectSameBits(package.call("predict", {&x, 1})[0], predict(x));
  for (int i = 0; i < 3; ++i) expectSameBits(package.call("step", {&x, 1})[0], step(x));
  expectSameBits(package.state("w"), w.value());
  expectSameBits(package.call("predict", {&x, 1})[0], predict(x));
  Tensor two = ramp({2, 5}, 0.4f);
  expectSameBits(package.call("predict", {&two, 1})[0], predict(two));
  EXPECT_NE(errorOf([&] { package.call("train", {&x, 1}); }).find("it has 'predict', 'step'"), std::string::npos);
  EXPECT_NE(errorOf([] { load("/nonexistent.sprig"); }).find("/nonexistent.sprig"), std::string::npos);
}

// Whoever reads a name up to its end would take it for another.
TEST(Packages, NamesAreDifferentAndWhole) {
  auto twice = [](const Tensor &x) { return mul(x, x); };
  auto save = [&](const std::string &name, const SaveOptions &options) {
    return errorOf([&] { PackageBuilder().add(name, twice, {{DType::f32, {2}}}, options).bytes(); });
  };
  const std::string odd("a\0b", 3);
  EXPECT_NE(save(odd, {}).find("the name of the function has a NUL after 'a'"), std::string::npos);
  EXPECT_NE(save("f", {.inputs = {odd}}).find("the name of an input has a NUL after 'a'"), std::string::npos);
  EXPECT_NE(save("f", {.outputs = {odd}}).find("the name of an output has a NUL after 'a'"), std::string::npos);
  EXPECT_NE(save("f", {.outputs = {"y", "z"}}).find("has 2 names for 1 outputs"), std::string::npos);
  Parameter w(ramp({2}));
  EXPECT_NE(errorOf([&] { w.setName(odd); }).find("the name has a NUL after 'a'"), std::string::npos);
}

TEST(Timing, EventsAndTimersWait) {
  Event begin, end;
  begin.record();
  Tensor x = ramp({300, 300});
  for (int i = 0; i < 10; ++i) x = matmul(x, x);
  end.record();
  EXPECT_GT(begin.elapsed(end), 0.0);
  EXPECT_TRUE(end.reached());
  EXPECT_TRUE(x.ready());
  Timer timer;
  matmul(x, x);
  EXPECT_GT(timer.stop(), 0.0);
  EXPECT_EQ(timer.stops(), 1);
  EXPECT_NE(errorOf([] { Event().synchronize(); }).find("was not recorded"), std::string::npos);
}

} // namespace
