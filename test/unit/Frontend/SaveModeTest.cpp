// Packages for inference of networks that are still in training mode are refused; those that mean it are not.
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include "sprig/package.h"
#include "sprig/random.h"
#include "sprig/reductions.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace sprig;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

struct SavedNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(4, 4));
  nn::Dropout drop = add("drop", nn::Dropout(0.5));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(4));
  Tensor operator()(const Operand &x) const { return norm(drop(a(x))); }
};

const std::vector<TensorType> kInputs = {{DType::f32, {3, 4}}};

template <typename F> std::string refusalOf(const F &f, const SaveOptions &options = {}) {
  return errorOf([&] { PackageBuilder().add("main", f, kInputs, options); });
}

TEST(Save, RefusesLayersInTrainingMode) {
  SavedNet net;
  EXPECT_THAT(refusalOf(net), AllOf(HasSubstr("SaveModeTest.cpp:"), HasSubstr("'main' has a layer in training mode"),
                                    HasSubstr("draws random numbers (layer 'drop')"),
                                    HasSubstr("sets 'norm.num_batches_tracked' and 2 more"), HasSubstr("call eval()")));
  net.eval();
  EXPECT_EQ(refusalOf(net), "no error");
  net.norm.train(); // one below is enough
  EXPECT_THAT(refusalOf(net), HasSubstr("it sets 'norm.num_batches_tracked'"));
  EXPECT_EQ(refusalOf(net, {.training = true}), "no error");
  net.eval();
  net.drop.train();
  EXPECT_THAT(refusalOf([&](const Tensor &x) { return net(x); }), HasSubstr("layer 'drop'"));
  EXPECT_THAT(errorOf([&] { save("/nonexistent/net.sprig", net, kInputs); }), HasSubstr("call eval()"));
  nn::LSTM lstm(4, 4, {.layers = 2, .dropout = 0.5});
  EXPECT_THAT(refusalOf([&](const Tensor &x) { return lstm(x).output; }), HasSubstr("draws random numbers"));
}

TEST(Save, TakesWhatCompileGave) {
  nn::Linear layer(4, 2);
  auto plain = [&](const Tensor &x, const Tensor &y) { return relu(layer(x)) + y; };
  auto bytesOf = [](const auto &f) {
    PackageBuilder builder;
    builder.add("main", f, {{DType::f32, {3, 4}}, {DType::f32, {3, 2}}});
    return builder.bytes();
  };
  Package package = loadBytes(bytesOf(compile(plain)));
  Tensor x = randn({3, 4}), y = randn({3, 2});
  EXPECT_FALSE(any(package(x, y) != plain(x, y)).item<bool>());
  EXPECT_THAT(refusalOf(compile(plain)), HasSubstr("does not take the 1 inputs"));
}

TEST(Save, TakesFunctionsThatMeanIt) {
  SavedNet net;
  auto optimizer = optim::sgd(net);
  auto step = [&](const Tensor &x) {
    Tensor loss = mean(square(net(x)));
    optimizer.update(grad(loss, net.parameters()));
    return loss;
  };
  EXPECT_EQ(refusalOf(step), "no error");
  EXPECT_EQ(refusalOf([](const Tensor &x) { return x + randn({3, 4}); }), "no error");
  nn::Sequential plain(nn::Linear(4, 4), nn::ReLU(), nn::Dropout(0));
  EXPECT_EQ(refusalOf(plain), "no error");
  Parameter count(Tensor(int64_t(0)));
  EXPECT_EQ(refusalOf([&](const Tensor &x) {
              count.set(count.value() + 1);
              return x;
            }),
            "no error");
}

} // namespace
