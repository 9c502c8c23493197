// Gradients through compiled functions: as through the same functions that are not compiled, to the last bit.
#include "sprig/control.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include "sprig/package.h"
#include "test/unit/Frontend/Expect.h"
#include "test/unit/Frontend/SmallNet.h"
#include <atomic>
#include <gmock/gmock.h>
#include <random>

using namespace sprig;
using ::testing::HasSubstr;

namespace {

/// run(compiled) gives tensors: the same bits with and without compilation.
template <typename Run> void expectSameInBothModes(Run run) {
  std::vector<Tensor> compiled = run(true), imperative = run(false);
  ASSERT_EQ(compiled.size(), imperative.size());
  for (size_t i = 0; i < compiled.size(); ++i) {
    SCOPED_TRACE(i);
    expectSameBits(compiled[i], imperative[i]);
  }
}

std::vector<Tensor> valuesOf(const std::vector<Parameter> &parameters) {
  return {parameters.begin(), parameters.end()};
}

TEST(CompiledGradient, OfParametersThatTheFunctionUses) {
  expectSameInBothModes([](bool compiled) {
    manualSeed(5);
    Net net;
    auto optimizer = optim::adam(net, {.lr = 0.1});
    auto forward = maybe([&](Tensor x) { return net(x); }, compiled);
    std::vector<Tensor> all;
    for (int i = 0; i < 4; ++i) {
      Tensor loss = mean(square(forward(ramp({5, 4}))));
      std::vector<Tensor> gradients = grad(loss, net.parameters());
      all.insert(all.end(), gradients.begin(), gradients.end());
      optimizer.update(gradients);
      all.push_back(loss);
    }
    if (compiled) EXPECT_EQ(forward.recordings().size(), 1u);
    for (Tensor &value : valuesOf(net.parameters())) all.push_back(value);
    return all;
  });
}

TEST(CompiledGradient, BackwardGoesThrough) {
  expectSameInBothModes([](bool compiled) {
    manualSeed(5);
    Net net;
    auto optimizer = optim::sgd(net, {.lr = 0.1});
    auto forward = maybe([&](Tensor x) { return mean(square(net(x))); }, compiled);
    for (int i = 0; i < 3; ++i) {
      optimizer.zeroGrad();
      forward(ramp({5, 4})).backward();
      forward(ramp({5, 4}, 0.2f)).backward();
      optimizer.step();
    }
    return valuesOf(net.parameters());
  });
}

TEST(CompiledGradient, OfInputsAndOfValuesOnTheWay) {
  expectSameInBothModes([](bool compiled) {
    Parameter w(ramp({4, 4}));
    auto f = maybe([&](Tensor x, Tensor y) { return std::pair(sin(matmul(x, w)), exp(x) * y); }, compiled);
    Tensor x = ramp({4, 4}, 0.3f).requireGrad(), y = ramp({4, 4}, 0.2f).requireGrad();
    Tensor h = x * 2;
    auto [s, e] = f(h, y);
    Tensor again = f(s, h).second, loss = sum(again * e) + sum(h * h);
    std::vector<Tensor> all = grad(loss, {x, y, h, s, e, again, w.value()});
    std::vector<Tensor> outputs{s, e}, seeds{ramp({4, 4}, 0.7f), ramp({4, 4}, 0.4f)}, wrt{y, w.value(), h};
    std::vector<Tensor> seeded = grad(outputs, wrt, {.seeds = seeds});
    all.insert(all.end(), seeded.begin(), seeded.end());
    return all;
  });
}

// The order in which contributions are added up is that of the operations, whatever is a call.
TEST(CompiledGradient, SumsOfManyUsesHaveTheSameBits) {
  expectSameInBothModes([](bool compiled) {
    Parameter w(ramp({5, 5}, 0.37f));
    auto f = maybe([&](Tensor x, Tensor y) { return tanh(matmul(sin(matmul(x, w)), w)) + matmul(y, w) * w; }, compiled);
    Tensor x = ramp({5, 5}, 0.21f).requireGrad();
    Tensor y = f(matmul(x, w), x), z = f(x, x), u = f(w, y + z);
    return grad(sum(square(u) * w) + sum(y * z * x) + sum(w * x), {x, w.value(), y, z});
  });
}

TEST(CompiledGradient, OfHigherOrder) {
  auto run = [](bool compiled) {
    Parameter w(ramp({4}, 0.5f));
    auto cube = maybe([&](Tensor x) { return sum(x * x * x * sin(w)); }, compiled);
    Tensor x = ramp({4}, 0.3f).requireGrad();
    Tensor first = grad(cube(x), x, {.createGraph = true});
    Tensor second = grad(sum(first * first), x, {.createGraph = true});
    std::vector<Tensor> third = grad(sum(second * w), {x, w.value()});
    return std::vector<Tensor>{first, second, third[0], third[1]};
  };
  std::vector<Tensor> compiled = run(true), imperative = run(false);
  for (size_t i = 0; i < 4; ++i) {
    // Each call computes its forward pass again, so contributions to sin(w) come one by one.
    if (i < 2) expectSameBits(compiled[i], imperative[i]);
    std::vector<float> a = compiled[i].toVector<float>(), b = imperative[i].toVector<float>();
    for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-5 * std::abs(b[k])) << i << ", " << k;
  }
  auto square = compile([](Tensor x) { return x * x * x; });
  Tensor two(2.f);
  EXPECT_EQ(grad(square)(two).item<float>(), 12.f);
  EXPECT_EQ(grad(grad(square))(two).item<float>(), 12.f);
  EXPECT_EQ(grad(grad(grad(square)))(two).item<float>(), 6.f);
  EXPECT_EQ(grad(compile(grad(square)))(two).item<float>(), 12.f);
  EXPECT_EQ(compile(grad(compile(grad(square))))(two).item<float>(), 12.f);
}

TEST(CompiledGradient, DetachedWithinStaysSoInHigherOrders) {
  expectSameInBothModes([](bool compiled) {
    auto f = maybe(
        [](Tensor x) {
          Tensor closed = noGrad([&] { return exp(x); });
          return sum(x * x * x * closed * stopGradient(sin(x)) * x.detach());
        },
        compiled);
    Tensor x = ramp({4}, 0.3f).requireGrad();
    Tensor first = grad(f(x), x, {.createGraph = true});
    return std::vector<Tensor>{first, grad(sum(first), x)};
  });
}

TEST(CompiledGradient, ForwardAndReverseProducts) {
  auto run = [](bool compiled) {
    Parameter w(ramp({4, 4}));
    auto f = maybe([&](Tensor x) { return std::pair(sin(matmul(x, w)), x * x); }, compiled);
    auto both = [&](Tensor x) {
      auto [s, q] = f(exp(x));
      return f(s + q).first * q;
    };
    auto [value, tangent] = jvp(both, ramp({4, 4}, 0.2f), ramp({4, 4}, 0.5f));
    auto [same, pullback] = vjp(both, ramp({4, 4}, 0.2f));
    return std::vector<Tensor>{value, tangent, same, pullback(ramp({4, 4}, 0.3f))};
  };
  expectSameInBothModes(run);
}

TEST(CompiledGradient, WithinAnotherFunction) {
  expectSameInBothModes([](bool compiled) {
    manualSeed(5);
    Net net;
    auto optimizer = optim::adam(net, {.lr = 0.1});
    auto forward = maybe([&](Tensor x) { return net(x); }, compiled);
    auto step = maybe(
        [&](Tensor x) {
          Tensor loss = mean(square(forward(x)));
          optimizer.update(grad(loss, net.parameters()));
          return loss;
        },
        compiled);
    for (int i = 0; i < 3; ++i) step(ramp({5, 4}));
    // A call of outside, differentiated within.
    Tensor x = ramp({5, 4}).requireGrad(), y = forward(x);
    auto within = maybe([&](Tensor scale) { return grad(sum(y * scale), x); }, compiled);
    std::vector<Tensor> all = valuesOf(net.parameters());
    all.push_back(within(ramp({5, 3})));
    return all;
  });
}

TEST(CompiledGradient, OfRandomOperationsDrawsTheSameNumbers) {
  expectSameInBothModes([](bool compiled) {
    manualSeed(11);
    Parameter w(ramp({64}));
    auto f = maybe([&] { return dropout(w * 1.5, 0.5); }, compiled);
    std::vector<Tensor> all;
    for (int i = 0; i < 3; ++i) {
      Tensor y = f();
      all.push_back(y);
      all.push_back(grad(sum(y * y), std::vector{w})[0]);
    }
    return all;
  });
}

TEST(CompiledGradient, ThroughFunctionsThatSetStateIsRefusedByName) {
  nn::BatchNorm1d norm(4);
  Parameter w(ramp({4}));
  auto normed = compile([&](Tensor x) { return norm(x * w); }, {.name = "normed"});
  Tensor x = ramp({5, 4});
  Tensor y = normed(x);
  std::string text = errorOf([&] { grad(sum(y), std::vector{w}); });
  EXPECT_THAT(text, HasSubstr("compiled function 'normed' ("));
  EXPECT_THAT(text, HasSubstr("CompiledGradientTest.cpp:"));
  EXPECT_THAT(text, HasSubstr("sets '"));
  EXPECT_THAT(text, HasSubstr("detach()"));
  // Not silently a part of it, either.
  EXPECT_THAT(errorOf([&] { grad(sum(y * w), std::vector{w}); }), HasSubstr("'normed'"));
  EXPECT_THAT(errorOf([&] { sum(y * w).backward(); }), HasSubstr("'normed'"));
  EXPECT_EQ(grad(sum(y.detach() * w), std::vector{w})[0].numel(), 4);
  Parameter v(ramp({4}));
  EXPECT_EQ(grad(sum(y * v), std::vector{v})[0].numel(), 4); // nothing of it lies between
  norm.eval();
  EXPECT_EQ(grad(sum(normed(x)), std::vector{w})[0].numel(), 4);

  auto optimizer = optim::sgd({w}, {.lr = 0.1});
  auto step = compile([&](Tensor x) {
    optimizer.update(grad(sum(x * w), std::vector{w}));
    return sum(square(x * w));
  });
  EXPECT_THAT(errorOf([&] { grad(step(ramp({4})), std::vector{w}); }), HasSubstr("which sets '"));
  Tensor root = ramp({4}).requireGrad();
  EXPECT_THAT(errorOf([&] { grad(step(root), root); }), HasSubstr("which sets '"));
}

TEST(CompiledGradient, ThroughLoadedPackagesIsRefused) {
  PackageBuilder builder;
  builder.add("twice", [](Tensor x) { return x * 2; }, {{DType::f32, {4}}});
  Package package = loadBytes(builder.bytes());
  Tensor x = ramp({4}).requireGrad(), y = package.call("twice", {&x, 1})[0];
  EXPECT_THAT(errorOf([&] { grad(sum(y * x), x); }), HasSubstr("function 'twice' of a loaded package"));
  EXPECT_EQ(grad(sum(y.detach() * x), x).numel(), 4);
  Parameter w(ramp({4}));
  EXPECT_EQ(grad(sum(y * w), std::vector{w})[0].numel(), 4); // nothing of it lies between
}

TEST(CompiledGradient, ResultsRememberWhatTheyDoImperatively) {
  auto run = [](bool compiled) {
    Parameter w(ramp({4}));
    auto f = maybe(
        [&](Tensor x) {
          Tensor y = x * w;
          return std::array<Tensor, 3>{y, y.detach(), noGrad([&] { return exp(y); })};
        },
        compiled);
    auto [open, detached, quiet] = f(ramp({4}));
    std::vector<std::string> texts;
    for (const Tensor &t : {open, detached, quiet})
      texts.push_back(errorOf([&] { grad(sum(t), std::vector{w}); }).substr(0, 200));
    NoGrad scope;
    texts.push_back(errorOf([&] { grad(sum(f(ramp({4}))[0]), std::vector{w}); }));
    return texts;
  };
  std::vector<std::string> compiled = run(true), imperative = run(false);
  ASSERT_EQ(compiled.size(), imperative.size());
  for (size_t i = 0; i < compiled.size(); ++i) {
    EXPECT_EQ(compiled[i] == "no error", imperative[i] == "no error") << i << ": " << compiled[i];
    EXPECT_EQ(compiled[i] == "no error", i == 0);
  }
}

/// A program of blocks of random operations, some of which are compiled, with what lies between.
class RandomProgram {
public:
  explicit RandomProgram(uint32_t seed) : seed(seed) {
    for (int i = 0; i < 3; ++i) parameters.emplace_back(ramp({4, 4}, 0.05f * float(i + 1)));
  }
  std::vector<Tensor> gradients(bool compiled) {
    std::vector<Function<std::function<std::pair<Tensor, Tensor>(Tensor, Tensor)>>> blocks;
    for (uint32_t i = 0; i < 3; ++i)
      blocks.push_back(maybe(std::function([this, i](Tensor x, Tensor y) {
                               std::mt19937 random(seed * 16 + i);
                               std::vector<Tensor> values{x, y};
                               for (int k = 0; k < 6; ++k) values.push_back(operation(random, values));
                               return std::pair(values[5], values[7]);
                             }),
                             compiled));
    std::mt19937 random(seed);
    Tensor x = ramp({4, 4}, 0.1f).requireGrad(), y = ramp({4, 4}, 0.03f).requireGrad();
    std::vector<Tensor> values{x, y};
    for (int k = 0; k < 5; ++k) {
      auto pick = [&] { return values[random() % values.size()]; };
      if (k % 2) values.push_back(operation(random, values));
      Tensor a = pick(), b = pick();
      auto [first, second] = blocks[random() % 3](a, b);
      values.push_back(first);
      values.push_back(second);
    }
    Tensor loss = sum(x * y);
    for (const Tensor &value : values) loss = loss + sum(tanh(value));
    std::vector<Tensor> wrt{x, y, values[4]};
    for (const Parameter &parameter : parameters) wrt.push_back(parameter);
    std::vector<Tensor> all = grad({&loss, 1}, wrt);
    all.push_back(derivativeAlong({&loss, 1}, {wrt.data(), 2}, {values.data(), 2})[0]);
    return all;
  }

private:
  Tensor operation(std::mt19937 &random, const std::vector<Tensor> &values) const {
    Tensor a = values[random() % values.size()], b = values[random() % values.size()];
    const Parameter &w = parameters[random() % parameters.size()];
    switch (random() % 9) {
    case 0: return a + b;
    case 1: return tanh(a) * b;
    case 2: return matmul(tanh(a), w);
    case 3: return matmul(w, sin(b));
    case 4: return sin(a) - w;
    case 5: return a * b.detach();
    case 6: return cat({a.slice(0, 2, 4), b.slice(0, 0, 2)}, 0);
    case 7: return softmax(a * w, 1);
    default: return noGrad([&] { return exp(tanh(b)); }) * a;
    }
  }

  uint32_t seed;
  std::vector<Parameter> parameters;
};

TEST(CompiledGradient, OfRandomProgramsHasTheSameBits) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    RandomProgram program(seed);
    std::vector<Tensor> compiled = program.gradients(true), imperative = program.gradients(false);
    for (size_t i = 0; i + 1 < compiled.size(); ++i) expectSameBits(compiled[i], imperative[i]);
    double a = compiled.back().item<double>(), b = imperative.back().item<double>();
    EXPECT_NEAR(a, b, 1e-4 * std::max(1.0, std::abs(b)));
  }
}

// A parameter that a result does not depend on has no gradient, not one of zeros.
TEST(CompiledGradient, FlowsFromTheResultsThatAreUsed) {
  for (bool compiled : {true, false}) {
    Parameter w(ramp({4})), v(ramp({4})), closed(ramp({4}));
    auto f =
        maybe([&](Tensor x) { return std::pair(x * w + noGrad([&] { return exp(closed); }), sin(x * v)); }, compiled);
    auto [first, second] = f(ramp({4}));
    EXPECT_THAT(errorOf([&] { grad(sum(first), std::vector{v}); }), HasSubstr("does not depend"));
    EXPECT_THAT(errorOf([&] { grad(sum(first), std::vector{closed}); }), HasSubstr("does not depend"));
    sum(first).backward();
    EXPECT_TRUE(w.grad().defined());
    EXPECT_FALSE(v.grad().defined());
    EXPECT_FALSE(closed.grad().defined());
    std::vector<Tensor> both = grad(sum(first * second), std::vector{w, v, closed});
    expectSameBits(both[2], zeros({4}));
    expectSameBits(both[0], grad(sum(ramp({4}) * w * second.detach()), std::vector{w})[0]);
  }
}

TEST(CompiledGradient, ParametersThatChangeInBetween) {
  Parameter w(ramp({4}));
  auto f = compile([&](Tensor x) { return sum(square(x * w)); });
  auto set = compile([&](Tensor next) { w.set(next * 1); });
  Tensor x = ramp({4}, 0.4f).requireGrad(), before = w.value(), loss = f(x);
  Tensor expected = grad(sum(square(x * w)), x);
  set(ramp({4}, 0.9f)); // in place: what the gradient needs is kept
  expectSameBits(grad(loss, x), expected);
  EXPECT_EQ(grad(loss, before).numel(), 4);
  EXPECT_THAT(errorOf([&] { grad(loss, std::vector{w}); }), HasSubstr("it has been set since"));
  EXPECT_THAT(errorOf([&] { loss.backward(); }), HasSubstr("has been set since"));
}

TEST(CompiledGradient, TakenWithinDependsOnTheCallersLineage) {
  Parameter w(ramp({4}));
  auto slope = [&](Tensor x) { return grad(sum(x * x * w), x); };
  auto compiled = compile(slope, {.report = [](const std::string &) {}});
  EXPECT_THAT(errorOf([&] { slope(ramp({4})); }), HasSubstr("does not depend"));
  EXPECT_THAT(errorOf([&] { compiled(ramp({4})); }), HasSubstr("does not depend"));
  for (int i = 0; i < 2; ++i) {
    Tensor root = ramp({4}).requireGrad();
    expectSameBits(compiled(root), slope(root));
    NoGrad quiet;
    EXPECT_THAT(errorOf([&] { slope(root); }), HasSubstr("NoGrad lives here"));
    EXPECT_THAT(errorOf([&] { compiled(root); }), HasSubstr("NoGrad lives here"));
  }
}

TEST(CompiledGradient, WithoutACreatedGraphIsNamed) {
  Tensor x = ramp({4}).requireGrad();
  Tensor first = grad(sum(x * x * x), x);
  EXPECT_THAT(errorOf([&] { grad(sum(first), x); }), HasSubstr("createGraph = true"));
  EXPECT_THAT(errorOf([&] { grad(sum(first * first), x); }), HasSubstr("createGraph = true"));
  EXPECT_THAT(errorOf([&] { sum(exp(first)).backward(); }), HasSubstr("createGraph = true"));
  auto slope = compile([](Tensor x) { return grad(sum(x * x), x); });
  EXPECT_THAT(errorOf([&] { grad(sum(slope(x)), x); }), HasSubstr("createGraph = true"));
  auto cube = compile([](Tensor x) { return sum(x * x * x); });
  Tensor through = grad(cube(x), x);
  EXPECT_THAT(errorOf([&] { grad(sum(through), x); }), HasSubstr("createGraph = true"));
  // Parameters that were updated by such gradients are none of it.
  Parameter w(ramp({4}));
  auto optimizer = optim::sgd({w}, {.lr = 0.1});
  optimizer.update(grad(sum(w * w), std::vector{w}));
  EXPECT_EQ(errorOf([&] { grad(sum(w.value().detach()), x); }).find("createGraph"), std::string::npos);
}

TEST(CompiledGradient, AnUpdateWithinEndsTheLineageOfOutside) {
  Parameter w(ramp({4}));
  auto optimizer = optim::sgd({w}, {.lr = 0.1});
  for (bool compiled : {true, false}) {
    auto apply = maybe([&](std::vector<Tensor> gradients) { optimizer.update(gradients); }, compiled);
    auto f = maybe([&](Tensor x) { return sum(square(x * w)); }, compiled);
    for (int i = 0; i < 2; ++i) {
      Tensor x = ramp({4}).requireGrad(), loss = f(x);
      std::vector<Tensor> gradients = grad(loss, std::vector{w});
      apply(gradients);
      EXPECT_THAT(errorOf([&] { grad(loss, x); }), HasSubstr("used by an optimizer's update")) << compiled << i;
    }
  }
  // Recording something else does not.
  Tensor x = ramp({4}).requireGrad(), loss = sum(square(x));
  grad(loss, x);
  compile([](Tensor t) { return t * 2; })(x);
  EXPECT_EQ(grad(loss, x).numel(), 4);
}

// Without an update nothing ends a lineage; it goes with the values that it is of.
TEST(CompiledGradient, KeepsNothingOfValuesThatAreGone) {
  static std::atomic<int> released;
  alignas(64) static float memory[64];
  for (bool compiled : {true, false}) {
    released = 0;
    auto f = maybe([](Tensor x) { return sum(x * x); }, compiled);
    for (int i = 0; i < 1500; ++i) {
      Tensor x = Tensor::adopt(memory, {DType::f32, {16}}, sizeof memory, [](void *) { ++released; }, nullptr);
      Tensor root = x.requireGrad();
      grad(f(root * 2), root);
    }
    synchronize();
    EXPECT_GT(released, 500) << compiled;
  }
}

// Regions are differentiated as a whole; what ends gradients within has to end them there too.
TEST(CompiledGradient, EndsWithinRegions) {
  Parameter w(ramp({4}));
  auto block = [&](Tensor x) {
    Tensor closed = noGrad([&] { return exp(x); });
    return x * x.detach() * closed * stopGradient(w);
  };
  auto gradients = [&](auto f) {
    Tensor x = ramp({4}, 0.3f).requireGrad();
    return grad(sum(f(x)) + sum(w * x), {x, w.value()});
  };
  std::vector<Tensor> expected = gradients(block);
  auto branch = [&](Tensor x) { return cond(Tensor(true), [&] { return block(x); }, [&] { return x; }); };
  for (bool compiled : {true, false})
    for (int kind = 0; kind < 2; ++kind) {
      auto f = maybe([&](Tensor x) { return kind ? branch(x) : checkpoint(block)(x); }, compiled);
      std::vector<Tensor> got = gradients(f);
      for (size_t i = 0; i < got.size(); ++i) expectSameBits(got[i], expected[i]);
    }
}

TEST(CompiledGradient, WithRegionsAndCustomGradientsWithin) {
  expectSameInBothModes([](bool compiled) {
    Parameter w(ramp({4, 4}));
    auto f = maybe(
        [&](Tensor x) {
          Tensor y = checkpoint([&](Tensor v) { return tanh(matmul(v, w)); })(x);
          y = customGradient([](Tensor v) { return round(v * 4); }, [](Tensor, Tensor, Tensor g) { return g * 2; }, y);
          return cond(sum(y) > 0, [&] { return y * x; }, [&] { return y - x; });
        },
        compiled);
    Tensor x = ramp({4, 4}, 0.3f).requireGrad();
    return grad(sum(square(f(f(x)))), {x, w.value()});
  });
}

/// A block with state and random numbers, and whether its values are kept or computed again.
struct CheckpointedBlock : nn::Module {
  nn::Sequential block = add("block", nn::Sequential(nn::Linear(4, 6), nn::BatchNorm1d(6), nn::ReLU(), nn::Dropout(0.5),
                                                     nn::Linear(6, 4), nn::BatchNorm1d(4)));
  Tensor operator()(const Tensor &x, bool isKept) const {
    return x + (isKept ? block(x) : checkpoint([&](Tensor v) { return block(v); })(x));
  }
};

// The same masks again, and running statistics that move once.
TEST(CompiledGradient, OfModulesThatAreComputedAgain) {
  auto trained = [](bool compiled, bool isKept) {
    manualSeed(5);
    CheckpointedBlock net;
    auto optimizer = optim::sgd(net, {.lr = 0.1});
    auto step = maybe(
        [&](Tensor x) {
          Tensor loss = sum(square(net(net(x, isKept), isKept)));
          optimizer.update(grad(loss, net.parameters()));
          return loss;
        },
        compiled);
    std::vector<Tensor> all;
    for (int i = 0; i < 3; ++i) all.push_back(step(ramp({5, 4}, 0.3f)));
    for (const auto &entry : net.stateDict()) all.push_back(entry.value);
    return all;
  };
  std::vector<Tensor> kept = trained(false, true);
  ASSERT_EQ(kept.size(), 3u + 14);
  for (bool compiled : {false, true}) {
    std::vector<Tensor> again = trained(compiled, false);
    for (size_t i = 0; i < kept.size(); ++i) {
      SCOPED_TRACE(i);
      expectSameBits(again[i], kept[i]);
    }
  }
}

} // namespace
