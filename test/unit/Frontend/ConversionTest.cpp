// Module::to of an element type: what stays, what is another thing afterwards, and what cannot be.
#include "LayerFixture.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include "sprig/random.h"
#include "test/unit/Frontend/LayerFixture.h"
#include <gmock/gmock.h>

using namespace sprig;
using namespace sprig::test;
using ::testing::HasSubstr;

namespace {

Numbers wide(const Tensor &tensor) { return tensor.to(DType::f64).toVector<double>(); }
Numbers wide(const Parameter &parameter) { return wide(parameter.value()); }

// Floats of another width: the same layers, members, ties and statistics; those who hold the old parameters say so.
TEST(Conversion, floatsOfAnotherType) {
  struct Tied : nn::Module {
    nn::Embedding embedding = add("embedding", nn::Embedding(5, 4));
    nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(4));
    nn::Linear head = add("head", nn::Linear(4, 5, {.bias = false}));
    Parameter scale = addParameter("scale", full({1}, 0.1));
    Tied() { head.weight = embedding.weight; }
    Tensor operator()(const Tensor &tokens) const { return head(norm(embedding(tokens))) * scale.value(); }
  };
  manualSeed(11);
  Tied net;
  net.scale.setTrainable(false);
  Tensor tokens({1, 4, 0, 3});
  auto run = compile([&](const Tensor &x) { return net(x); });
  Tensor before = run(tokens);
  Numbers table = wide(net.head.weight);
  auto optimizer = optim::sgd(net, {.lr = 0.1});
  Parameter old = net.head.weight;

  net.to(DType::f64);
  for (auto &named : {net.namedParameters(), net.namedBuffers()})
    for (auto &[name, parameter] : named) {
      EXPECT_EQ(parameter.dtype(), name.ends_with("num_batches_tracked") ? DType::i64 : DType::f64) << name;
      EXPECT_EQ(parameter.name(), name == "embedding.weight" ? old.name() : name);
    }
  EXPECT_EQ(old.dtype(), DType::f32);
  EXPECT_TRUE(net.head.weight.same(net.embedding.weight));
  EXPECT_TRUE(has(net, net.head.weight) && has(net, net.norm.weight) && has(net, net.scale));
  EXPECT_FALSE(net.scale.trainable());
  EXPECT_EQ(wide(net.head.weight), table); // f32 exactly
  EXPECT_EQ(net.norm.numBatchesTracked.value().item<int64_t>(), 1);
  Tensor after = run(tokens);
  EXPECT_EQ(after.dtype(), DType::f64);
  Numbers now = wide(after), then = wide(before);
  for (size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(now[i], then[i], 1e-6);
  EXPECT_NE(now, then);

  EXPECT_THAT(errorOf([&] { optimizer.update(std::vector<Tensor>(optimizer.parameters().size())); }),
              ::testing::AllOf(HasSubstr("belongs to its module no more"), HasSubstr("was replaced at "),
                               HasSubstr("ConversionTest.cpp:")));
  auto next = optim::adam(net, {.lr = 0.1});
  next.update(grad(sum(net(tokens)), next.parameters()));
  EXPECT_NE(wide(net.head.weight), table);
  EXPECT_TRUE(net.head.weight.same(net.embedding.weight));

  // Initial values are drawn in the new type, and statistics begin anew; a state of the other width is loaded.
  net.resetParameters();
  EXPECT_EQ(net.norm.numBatchesTracked.value().item<int64_t>(), 0);
  EXPECT_EQ(wide(net.scale), Numbers{double(0.1f)});
  nn::StateDict state = Tied().stateDict();
  net.loadStateDict(state);
  EXPECT_EQ(wide(net.head.weight), wide(state[1].value));
  net.to(DType::f64); // nothing to do
  next.update(grad(sum(net(tokens)), next.parameters()));
}

TEST(Conversion, aTypeThatCannotBe) {
  struct Net : nn::Module {
    nn::Linear body = add("body", nn::Linear(4, 8)), head = add("head", nn::Linear(8, 10));
  };
  Net net, other;
  EXPECT_THAT(errorOf([&] { net.to(DType::i64); }), HasSubstr("Module::to: parameters are floats, asked for is i64"));
  net.tie("head.weight", other.head.weight);
  EXPECT_THAT(errorOf([&] { net.to(DType::f64); }),
              HasSubstr("'head.weight' is shared with a module that is not below this Net"));
  EXPECT_EQ(net.body.weight.dtype(), DType::f32);
  EXPECT_THAT(errorOf([&] { compile([&](const Tensor &x) { return net.body.to(DType::f64), x; })(ones({1})); }),
              HasSubstr("Module::to"));
}

} // namespace
