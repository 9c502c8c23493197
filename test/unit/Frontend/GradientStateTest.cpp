// backward() within compiled functions: gradients of parameters are state, as the imperative mode has it.
#include "sprig/control.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include "sprig/package.h"
#include "test/unit/Frontend/Expect.h"
#include "test/unit/Frontend/SmallNet.h"
#include <gmock/gmock.h>

using namespace sprig;
using ::testing::HasSubstr;

namespace {

std::vector<float> numbersOf(const std::vector<Parameter> &parameters) {
  std::vector<float> all;
  for (const Parameter &parameter : parameters) {
    std::vector<float> numbers = parameter.value().toVector<float>();
    all.insert(all.end(), numbers.begin(), numbers.end());
    if (!parameter.grad().defined()) continue;
    numbers = parameter.grad().toVector<float>();
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  return all;
}

/// A program of a network, an optimizer and the switch whether functions are compiled: all numbers that it leaves.
template <typename Run> void expectSameStateInBothModes(Run run) {
  auto trained = [&](bool compiled) {
    manualSeed(3);
    Net net;
    auto optimizer = optim::adam(net, {.lr = 0.05});
    std::vector<float> losses = run(net, optimizer, compiled), all = numbersOf(net.parameters());
    losses.insert(losses.end(), all.begin(), all.end());
    return losses;
  };
  EXPECT_EQ(trained(true), trained(false));
}

TEST(GradientState, BackwardWithinAndStepOutside) {
  expectSameStateInBothModes([](Net &net, optim::Optimizer &optimizer, bool compiled) {
    auto pass = maybe(
        [&](Tensor x) {
          Tensor loss = mean(square(net(x)));
          loss.backward();
          return loss;
        },
        compiled);
    std::vector<float> losses;
    for (int i = 0; i < 4; ++i) {
      losses.push_back(pass(ramp({5, 4})).item<float>());
      optimizer.step();
      optimizer.zeroGrad();
    }
    EXPECT_LT(losses[3], losses[0]);
    if (compiled) EXPECT_EQ(pass.recordings().size(), 1u);
    return losses;
  });
}

TEST(GradientState, AddsToWhatThereWas) {
  expectSameStateInBothModes([](Net &net, optim::Optimizer &optimizer, bool compiled) {
    auto pass = maybe([&](Tensor x) { mean(square(net(x))).backward(); }, compiled);
    for (int i = 0; i < 3; ++i) {
      mean(net(ramp({2, 4}))).backward(); // imperative beside compiled
      optimizer.zeroGrad();
      pass(ramp({5, 4}));
      pass(ramp({5, 4}, 0.2f));
      mean(net(ramp({2, 4}))).backward();
      pass(ramp({5, 4}, 0.3f));
      optimizer.step();
      if (i) optimizer.zeroGrad();
    }
    // One program where there is no gradient, one where there is.
    if (compiled) {
      EXPECT_EQ(pass.recordings().size(), 2u);
      EXPECT_THAT(pass.recordings()[1], HasSubstr("parameter 'a.weight' has a gradient, recorded was without"));
    }
    pass(ramp({5, 4})); // left there
    return std::vector<float>();
  });
}

TEST(GradientState, ZeroGradWithin) {
  for (int order = 0; order < 3; ++order)
    expectSameStateInBothModes([&](Net &net, optim::Optimizer &optimizer, bool compiled) {
      auto step = maybe(
          [&](Tensor x) {
            if (order != 1) optimizer.zeroGrad();
            Tensor loss = mean(square(net(x)));
            loss.backward();
            if (order == 2) (loss * 0.5).backward();
            optimizer.step();
            if (order == 1) optimizer.zeroGrad();
            return loss;
          },
          compiled);
      std::vector<float> losses;
      for (int i = 0; i < 3; ++i) {
        losses.push_back(step(ramp({5, 4})).item<float>());
        EXPECT_EQ(net.a.weight.grad().defined(), order != 1);
      }
      if (compiled) EXPECT_EQ(step.recordings().size(), 1u);
      return losses;
    });
}

TEST(GradientState, StepWithinOfGradientsOfOutside) {
  expectSameStateInBothModes([](Net &net, optim::Optimizer &optimizer, bool compiled) {
    auto step = maybe([&] { optimizer.step(); }, compiled);
    EXPECT_THAT(errorOf([&] { step(); }), HasSubstr("none of its parameters ('a.weight', 'a.bias', 'b.weight' and 1"));
    for (int i = 0; i < 3; ++i) {
      mean(square(net(ramp({5, 4})))).backward();
      step();
    }
    auto clear = maybe([&] { optimizer.zeroGrad(); }, compiled);
    clear();
    EXPECT_FALSE(net.a.weight.grad().defined());
    EXPECT_THAT(errorOf([&] { step(); }), HasSubstr("backward() has not run"));
    return std::vector<float>();
  });
}

TEST(GradientState, OfTiedParametersAndOfOnesThatAreGradients) {
  auto run = [](bool compiled) {
    Parameter w(ramp({3, 3})), v(ramp({3, 3}, 0.2f)), unused(ramp({2}));
    Parameter tied = w;
    auto pass = maybe(
        [&] {
          Tensor y = sum(w.value() * v.value()); // the gradient of w is v
          y.backward();
          sum(square(matmul(w, tied))).backward();
          return y;
        },
        compiled);
    pass();
    pass();
    EXPECT_FALSE(unused.grad().defined());
    EXPECT_TRUE(tied.grad().defined());
    return numbersOf({w, v});
  };
  EXPECT_EQ(run(true), run(false));
  auto alone = [](bool compiled) {
    Parameter w(ramp({3})), v(ramp({3}, 0.2f));
    auto pass = maybe([&] { sum(w.value() * v.value()).backward(); }, compiled);
    pass();
    return numbersOf({w, v});
  };
  EXPECT_EQ(alone(true), alone(false));
}

TEST(GradientState, AFailedRecordingLeavesNone) {
  Parameter w(ramp({3}));
  auto pass = compile([&](Tensor x) {
    sum(w * x).backward();
    return x * sum(x).item<float>();
  });
  EXPECT_THAT(errorOf([&] { pass(ramp({3})); }), HasSubstr("not known while"));
  EXPECT_FALSE(w.grad().defined());
}

TEST(GradientState, StepsNeedAGradient) {
  Parameter a(ramp({3})), b(ramp({3})), frozen(ramp({2}), /*trainable=*/false);
  auto optimizer = optim::sgd({a, b}, {.lr = 1});
  EXPECT_THAT(errorOf([&] { optimizer.step(); }), HasSubstr("Optimizer::step: none of its parameters ("));
  EXPECT_THAT(errorOf([&] { optimizer.step(); }), HasSubstr("GradientStateTest.cpp"));
  EXPECT_THAT(errorOf([&] { optimizer.update({Tensor(), Tensor()}); }), HasSubstr("none of the 2 gradients"));
  EXPECT_THAT(errorOf([&] { optim::sgd({frozen}).step(); }), HasSubstr("all of them are frozen"));
  EXPECT_EQ(optimizer.steps(), 0);
  sum(a.value()).backward(); // as in PyTorch, the other one is left alone
  optimizer.step();
  EXPECT_EQ(a.value().toVector<float>()[0], ramp({3}).toVector<float>()[0] - 1);
  EXPECT_EQ(b.value().toVector<float>(), ramp({3}).toVector<float>());
}

TEST(GradientState, RegionsSetNone) {
  Parameter w(ramp({3}));
  Tensor yes(true);
  auto branch = [&] {
    return cond(
        yes,
        [&] {
          sum(w * w).backward();
          return Tensor(1.f);
        },
        [] { return Tensor(2.f); });
  };
  for (bool compiled : {true, false}) {
    auto f = maybe(branch, compiled);
    EXPECT_THAT(errorOf([&] { f(); }), HasSubstr("backward: is called in a branch, a loop or a checkpoint"));
  }
  auto clear = [&](Tensor x) {
    w.zeroGrad();
    return x;
  };
  EXPECT_THAT(errorOf([&] { checkpoint(clear)(ramp({2})); }), HasSubstr("zeroGrad: is called in a branch"));
  EXPECT_FALSE(w.grad().defined());
}

// What was computed outside is a constant of a compiled function: gradients cannot get through it to parameters.
TEST(GradientState, ParametersBehindOutsideTensorsAreNotForgotten) {
  Parameter w(ramp({3}));
  auto backward = compile([&](Tensor x) { sum(square(x * w)).backward(); });
  backward(ramp({3}));
  backward(Tensor(w.value() * 2).detach());
  EXPECT_THAT(errorOf([&] { backward(w.value() * 2); }), HasSubstr("argument 0 was computed from parameter"));
  EXPECT_THAT(errorOf([&] { backward(w.value() * 2); }), HasSubstr("detach()"));
  Tensor outside = w.value() * 2;
  auto captured = compile([&] { sum(outside * w).backward(); });
  EXPECT_THAT(errorOf([&] { captured(); }), HasSubstr("through a tensor that was computed outside"));
  auto gradient = compile([&] { return grad(sum(outside * w), std::vector{w})[0]; });
  EXPECT_THAT(errorOf([&] { gradient(); }), HasSubstr("another version of parameter"));
  auto given = compile([&](Tensor x) { return grad(sum(x * w), std::vector{w})[0]; });
  EXPECT_EQ(given(ramp({3})).toVector<float>(), ramp({3}).toVector<float>());
  EXPECT_THAT(errorOf([&] { given(w.value() * 2); }), HasSubstr("argument 0 was computed from parameter"));
  Parameter other(ramp({3})); // no gradient with respect to this one is taken within
  EXPECT_EQ(given(other.value() * 1).toVector<float>(), ramp({3}).toVector<float>());
}

TEST(GradientState, OfAParameterThatWasSetSince) {
  Parameter w(ramp({3})), v(ramp({3}));
  auto run = [&](bool compiled) {
    auto f = maybe(
        [&] {
          Tensor loss = sum(w * v);
          w.set(ramp({3}, 0.3f));
          loss.backward();
        },
        compiled);
    return errorOf([&] { f(); });
  };
  EXPECT_THAT(run(true), HasSubstr("a parameter that has been set since"));
  EXPECT_THAT(run(false), HasSubstr("a parameter that has been set since"));
  Tensor loss = sum(w * v);
  w.set(ramp({3}, 0.2f));
  EXPECT_THAT(errorOf([&] { grad(loss, std::vector{w, v}); }), HasSubstr("it has been set since"));
  EXPECT_EQ(grad(loss, std::vector{v})[0].numel(), 3);
}

TEST(GradientState, IsNoneOfPackages) {
  Net net;
  auto optimizer = optim::sgd(net, {.lr = 0.1});
  auto bytesOf = [&](const std::function<Tensor(Tensor)> &body) {
    PackageBuilder builder;
    builder.add("step", body, {{DType::f32, {5, 4}}});
    return builder.bytes();
  };
  auto pass = [&](Tensor x) {
    Tensor loss = mean(square(net(x)));
    loss.backward();
    return loss;
  };
  auto clearAndPass = [&](Tensor x) {
    optimizer.zeroGrad();
    return pass(x);
  };
  auto passAndStep = [&](Tensor x) {
    Tensor loss = pass(x);
    optimizer.step();
    return loss;
  };
  auto step = [&](Tensor x) {
    optimizer.zeroGrad();
    return passAndStep(x);
  };
  EXPECT_THAT(errorOf([&] { bytesOf(passAndStep); }), HasSubstr("adds to the gradient of parameter 'a.weight'"));
  EXPECT_THAT(errorOf([&] { bytesOf(clearAndPass); }),
              HasSubstr("leaves a gradient on parameter 'a.weight' and sets no parameter"));
  mean(net(ramp({1, 4}))).backward();
  EXPECT_THAT(errorOf([&] { bytesOf(passAndStep); }),
              HasSubstr("uses the gradient that parameter 'a.weight' has already"));
  Package package = loadBytes(bytesOf(step));
  Tensor x = ramp({5, 4});
  for (int i = 0; i < 3; ++i) expectSameBits(package.call("step", {&x, 1})[0], step(x));
  expectSameBits(package.state("a.weight"), net.a.weight.value());
}

TEST(GradientState, SaysWhyTheOutputDoesNotDependOnWhatIsAskedFor) {
  Parameter w(Tensor({1.f, 2.f})), v(Tensor({3.f, 4.f}));
  w.setName("fc.weight"), v.setName("head.weight");
  Tensor x({5.f, 6.f});
  auto square = [](const Tensor &t) { return sum(t * t); };
  auto why = [](auto body) {
    const std::string text = errorOf(body), known = "the output does not depend on what the gradient is asked for: ";
    size_t at = text.find(known);
    return at == std::string::npos ? text : text.substr(at + known.size());
  };
  EXPECT_EQ(why([&] { grad(square(v.value()), std::vector{w}); }),
            "it depends on 'head.weight', and parameter 'fc.weight' is not among them");
  EXPECT_EQ(why([&] { grad(square(x), x); }), "the value 2xf32 was used without requireGrad(), which it needs before");
  const std::string nothing =
      "it remembers nothing, as what is computed under NoGrad, from detach()ed values, or from frozen parameters alone";
  EXPECT_EQ(why([&] { grad(square(w.value().detach()), std::vector{w, v}); }), nothing);
  Tensor before;
  {
    NoGrad quiet;
    before = square(w.value());
  }
  EXPECT_EQ(why([&] { grad(before, std::vector{w}); }), nothing);
  EXPECT_NE(errorOf([&] { before.backward(); }).find("depends on no trainable parameter: it remembers nothing"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { square(x.requireGrad()).backward(); }).find("values with requireGrad() alone"),
            std::string::npos);
  w.setTrainable(false);
  EXPECT_EQ(why([&] { grad(square(w.value()), std::vector{w}); }),
            "parameter 'fc.weight' is frozen (setTrainable(false))");

  nn::Sequential net(nn::Linear(2, 1));
  Parameter old = net.parameters()[0];
  net.replace("0", nn::Linear(2, 1));
  EXPECT_THAT(why([&] { grad(square(v.value()), std::vector{old}); }),
              HasSubstr("parameter '0.weight' belongs to its module no more: '0' was replaced at "));
}

} // namespace
