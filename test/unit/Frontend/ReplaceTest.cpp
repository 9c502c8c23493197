// What is assigned to a member of a module is the module's: layers and weights that are replaced, tied, left out.
#include "sprig/nn.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/ops.h"
#include "test/unit/Frontend/LayerFixture.h"
#include <array>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <optional>

using namespace sprig;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

struct ReplacedNet : nn::Module {
  nn::Linear body = add("body", nn::Linear(4, 8)), head = add("head", nn::Linear(8, 10));
  Tensor operator()(const Operand &x) const { return head(relu(body(x))); }
};

std::vector<std::string> namesIn(const nn::Module &module) {
  std::vector<std::string> names;
  for (auto &[name, parameter] : module.namedParameters()) names.push_back(name);
  return names;
}

/// Every way to see the network shows the head that has three outputs.
void expectThree(ReplacedNet &net) {
  EXPECT_EQ(net(ones({1, 4})).shape(), Shape({1, 3}));
  EXPECT_TRUE(has(net, net.head.weight));
  EXPECT_TRUE(has(net, net.head.bias));
  EXPECT_EQ(net.numParameters(), 40 + 27);
  EXPECT_THAT(namesIn(net), ElementsAre("body.weight", "body.bias", "head.weight", "head.bias"));
  EXPECT_THAT(net.text(), HasSubstr("(head): Linear(in_features=8, out_features=3, bias=True)"));
  EXPECT_EQ(net.stateDict()[2].value.shape(), Shape({3, 8}));
  EXPECT_TRUE(net.get<nn::Linear>("head").weight.same(net.head.weight));
  EXPECT_EQ(net.head.weight.name(), "head.weight");
  EXPECT_EQ(net.head.path(), "head");
}

TEST(Replace, AssignedLayersAreRegistered) {
  ReplacedNet net;
  net.head = nn::Linear(8, 3);
  expectThree(net);
  net.eval();
  EXPECT_FALSE(net.head.isTraining());
  ReplacedNet other;
  other.replace("head", nn::Linear(8, 3));
  expectThree(other);
  ReplacedNet third;
  third.get<nn::Linear>("head") = nn::Linear(8, 3);
  expectThree(third);
  ReplacedNet twice;
  twice.head = nn::Linear(8, 5);
  twice.head = nn::Linear(8, 3);
  expectThree(twice);
}

TEST(Replace, CopiesOfANetworkShareTheChange) {
  ReplacedNet net, copy = net, assigned;
  assigned = net;
  auto captured = [net](const Tensor &x) { return net(x); };
  ReplacedNet moved = std::move(assigned);
  copy.head = nn::Linear(8, 3);
  for (ReplacedNet *each : {&net, &copy, &moved}) {
    expectThree(*each);
    EXPECT_TRUE(each->head.weight.same(copy.head.weight));
  }
  EXPECT_EQ(captured(ones({1, 4})).shape(), Shape({1, 3}));
  ReplacedNet last = copy;
  last.replace("head", nn::Linear(8, 2));
  EXPECT_EQ(net(ones({1, 4})).shape(), Shape({1, 2}));
}

TEST(Replace, LoneHandlesAreNoMembers) {
  ReplacedNet net;
  nn::Linear mine = net.head;
  mine = nn::Linear(8, 3);
  EXPECT_EQ(net(ones({1, 4})).shape(), Shape({1, 10}));
  EXPECT_EQ(net.numParameters(), 40 + 90);
  nn::Linear old = net.head;
  net.head = nn::Linear(8, 3);
  expectThree(net);
  EXPECT_EQ(old(ones({1, 8})).shape(), Shape({1, 10}));
  nn::Module whole = net;
  nn::Linear lone = net.head;
  lone = nn::Linear(8, 4);
  expectThree(net);
  Parameter weight = net.head.weight;
  weight = Parameter(zeros({1, 8}));
  expectThree(net);
  Parameter kept = net.head.weight;
  net.head.weight = Parameter(zeros({3, 8}));
  net.head = nn::Linear(8, 3);
  net.head.weight = Parameter(zeros({3, 8}));
  EXPECT_EQ(kept.shape(), Shape({3, 8}));
  EXPECT_FALSE(has(net, kept));
  {
    ReplacedNet scope = net;
    nn::Linear outer(8, 3);
    scope.add("tail", outer);
    kept = outer.weight;
  }
  net.get<nn::Linear>("tail").weight = Parameter(zeros({3, 8}));
  EXPECT_FALSE(kept.same(net.get<nn::Linear>("tail").weight));
}

TEST(Replace, WholeNetworksAreRebound) {
  ReplacedNet a, b, c = b;
  Parameter headOfB = b.head.weight;
  b = a; // b stands for a now; c keeps what b was
  EXPECT_TRUE(b.head.weight.same(a.head.weight));
  EXPECT_TRUE(c.head.weight.same(headOfB));
  EXPECT_TRUE(has(c, headOfB));
  EXPECT_FALSE(has(c, a.head.weight));
  b.head = nn::Linear(8, 3);
  expectThree(a);
  EXPECT_TRUE(has(c, headOfB));
  b = ReplacedNet();
  EXPECT_EQ(b(ones({1, 4})).shape(), Shape({1, 10}));
  expectThree(a);
  b.head = nn::Linear(8, 3);
  expectThree(b);
}

struct InBody : nn::Module {
  nn::Linear a, b;
  std::optional<nn::Linear> c;
  InBody() {
    a = add("a", nn::Linear(4, 4));
    add("b", b = nn::Linear(4, 4));
    c = add("c", nn::Linear(4, 4));
  }
};
struct InList : nn::Module {
  nn::Linear first;
  std::array<nn::Linear, 2> pair = {add("p0", nn::Linear(4, 4)), add("p1", nn::Linear(4, 4))};
  std::vector<nn::Linear> layers;
  std::map<std::string, nn::Linear> named;
  InList() : first(add("first", nn::Linear(4, 4))) {
    for (int i = 0; i < 5; ++i) layers.push_back(add("l" + std::to_string(i), nn::Linear(4, 4)));
    for (int i = 5; i < 7; ++i) {
      auto layer = add("l" + std::to_string(i), nn::Linear(4, 4));
      layers.push_back(layer);
    }
    named["n"] = add("n", nn::Linear(4, 4));
  }
};

TEST(Replace, MembersOfAnyForm) {
  InBody net;
  for (nn::Linear *each : {&net.a, &net.b, &*net.c}) {
    *each = nn::Linear(4, 7);
    EXPECT_TRUE(has(net, each->weight));
    each->weight = Parameter(zeros({7, 4}));
    EXPECT_TRUE(has(net, each->weight));
  }
  EXPECT_EQ(net.numParameters(), 3 * 35);
  for (InList &list : std::vector<InList>(2)) {
    std::vector<nn::Linear *> all = {&list.first, &list.pair[0], &list.pair[1], &list.named["n"]};
    for (nn::Linear &each : list.layers) all.push_back(&each);
    for (nn::Linear *each : all) {
      *each = nn::Linear(4, 7);
      EXPECT_TRUE(has(list, each->weight)) << each->path();
    }
    EXPECT_EQ(list.numParameters(), 11 * 35);
  }
  InList a, b = std::move(a), c = b;
  c.layers[3] = nn::Linear(4, 7);
  EXPECT_TRUE(has(b, c.layers[3].weight));
  EXPECT_TRUE(b.layers[3].weight.same(c.layers[3].weight));
  b.replace("l4", nn::Linear(4, 9));
  EXPECT_TRUE(c.layers[4].weight.same(b.layers[4].weight));
}

TEST(Replace, MembersThatChangePlaces) {
  InBody net;
  Parameter a = net.a.weight, b = net.b.weight;
  std::swap(net.a, net.b);
  EXPECT_TRUE(net.a.weight.same(b));
  EXPECT_TRUE(net.b.weight.same(a));
  EXPECT_TRUE(net.get<nn::Linear>("a").weight.same(b));
  EXPECT_TRUE(net.get<nn::Linear>("b").weight.same(a));
  std::swap(net.a.weight, net.b.weight);
  EXPECT_TRUE(net.get<nn::Linear>("a").weight.same(a));
  EXPECT_TRUE(net.get<nn::Linear>("b").weight.same(b));
}

struct ReplacedBlock : nn::Module {
  nn::Linear inner = add("inner", nn::Linear(4, 4));
  nn::Dropout drop = add("drop", nn::Dropout(0.5));
  Tensor operator()(const Operand &x) const { return drop(inner(x)); }
};
struct ReplacedDeep : nn::Module {
  ReplacedBlock block = add("block", ReplacedBlock());
  nn::Sequential chain = add("chain", nn::Sequential(ReplacedBlock(), nn::ReLU(), nn::Linear(4, 2)));
  nn::ModuleList<nn::Linear> list = add("list", nn::ModuleList<nn::Linear>{nn::Linear(4, 4), nn::Linear(4, 4)});
  nn::ModuleDict<nn::Linear> dict = add("dict", nn::ModuleDict<nn::Linear>{{"x", nn::Linear(4, 4)}});
  Tensor operator()(const Operand &x) const { return chain(block(x)); }
};

TEST(Replace, NestedModulesAndContainers) {
  ReplacedDeep net;
  net.eval();
  Tensor x = ones({1, 4});
  auto change = [&](nn::Linear &place, const char *path, int64_t outputs) {
    place = nn::Linear(4, outputs);
    EXPECT_TRUE(net.get<nn::Linear>(path).weight.same(place.weight)) << path;
    EXPECT_TRUE(has(net, place.weight)) << path;
    EXPECT_EQ(place.weight.name(), std::string(path) + ".weight");
  };
  change(net.block.inner, "block.inner", 4);
  change(net.get<ReplacedBlock>("block").inner, "block.inner", 4);
  EXPECT_TRUE(net.block.inner.weight.same(net.get<nn::Linear>("block.inner").weight));
  change(net.get<ReplacedBlock>("chain.0").inner, "chain.0.inner", 4);
  change(net.get<nn::Linear>("chain.2"), "chain.2", 3);
  EXPECT_EQ(net(x).shape(), Shape({1, 3}));
  change(net.list[1], "list.1", 5);
  for (nn::Linear &each : net.list) change(each, each.path().c_str(), 6);
  change(net.dict["x"], "dict.x", 5);
  net.replace("chain.1", nn::GELU());
  EXPECT_THAT(net.text(), HasSubstr("(1): GELU"));
  net.replace("chain.2", nn::Sequential(nn::Linear(4, 4), nn::Linear(4, 7)));
  EXPECT_EQ(net(x).shape(), Shape({1, 7}));
  net.block = ReplacedBlock();
  EXPECT_TRUE(has(net, net.block.inner.weight));
  change(net.block.inner, "block.inner", 4);
  nn::TransformerEncoder encoder(nn::TransformerEncoderLayer(4, 2, {.feedForward = 8}), 2);
  auto &layer = encoder.get<nn::TransformerEncoderLayer>("layers.1");
  layer.linear2 = nn::Linear(8, 4, {.bias = false});
  EXPECT_TRUE(has(encoder, layer.linear2.weight));
  encoder.eval();
  Tensor before = encoder(ones({3, 1, 4}));
  init::constant_(layer.linear2.weight, 5);
  EXPECT_NE(encoder(ones({3, 1, 4})).toVector<float>(), before.toVector<float>());
}

TEST(Replace, LayersOfOtherNetworksAreShared) {
  ReplacedNet net, donor;
  donor.head = nn::Linear(8, 3);
  net.head = donor.head;
  expectThree(net);
  EXPECT_TRUE(donor.head.weight.same(net.head.weight));
  EXPECT_TRUE(has(donor, net.head.weight));
  donor.head = nn::Linear(8, 2);
  expectThree(net);
  EXPECT_EQ(donor(ones({1, 4})).shape(), Shape({1, 2}));
  ReplacedNet third;
  third.head = std::move(net.head);
  expectThree(third);
  expectThree(net);
}

struct Tied : nn::Module {
  nn::Embedding embedding = add("embedding", nn::Embedding(5, 3));
  nn::Linear head = add("head", nn::Linear(3, 5, {.bias = false}));
  Tensor operator()(const Tensor &tokens) const { return head(embedding(tokens)); }
};

TEST(Tie, TwoNamesOneParameter) {
  Tied assigned, called;
  assigned.head.weight = assigned.embedding.weight;
  called.tie("head.weight", called.embedding.weight);
  for (Tied *net : {&assigned, &called}) {
    EXPECT_TRUE(net->head.weight.same(net->embedding.weight));
    EXPECT_TRUE(net->get<nn::Linear>("head").weight.same(net->embedding.weight));
    EXPECT_THAT(namesIn(*net), ElementsAre("embedding.weight"));
    EXPECT_EQ(net->numParameters(), 15);
    nn::StateDict state = net->stateDict();
    ASSERT_EQ(state.size(), 2u);
    EXPECT_EQ(state[1].name, "head.weight");
    Tied other;
    other.loadStateDict(state);
    expectSameBits(other.head.weight.value(), net->embedding.weight.value());
    // One name is enough; two with other values are none.
    net->loadStateDict({{"embedding.weight", ones({5, 3})}});
    expectSameBits(net->head.weight.value(), ones({5, 3}));
    EXPECT_THAT(
        errorOf([&] { net->loadStateDict({{"embedding.weight", ones({5, 3})}, {"head.weight", zeros({5, 3})}}); }),
        HasSubstr("head.weight: is one parameter with embedding.weight, which has other values"));
    Tied copy = nn::clone(*net);
    EXPECT_TRUE(copy.head.weight.same(copy.embedding.weight));
    EXPECT_FALSE(copy.head.weight.same(net->head.weight));
    net->resetParameters();
    EXPECT_TRUE(net->head.weight.same(net->embedding.weight));
    net->head.weight = Parameter(zeros({5, 3})); // untied
    EXPECT_THAT(namesIn(*net), ElementsAre("embedding.weight", "head.weight"));
    EXPECT_EQ(net->head.weight.name(), "head.weight");
  }
  Tied net;
  EXPECT_THAT(errorOf([&] { net.tie("head.weight", Parameter(zeros({5, 4}))); }),
              HasSubstr("'head.weight' is 5x3xf32, '' is 5x4xf32"));
  EXPECT_THAT(errorOf([&] { net.tie("head.scale", net.embedding.weight); }), HasSubstr("there is no parameter"));
  EXPECT_THAT(errorOf([&] { net.tie("tail.weight", net.embedding.weight); }), HasSubstr("there is no parameter"));
}

TEST(Tie, AModuleUnderTwoNames) {
  struct Twice : nn::Module {
    nn::Linear a = add("a", nn::Linear(3, 3)), b = add("b", a);
  } net;
  EXPECT_THAT(namesIn(net), ElementsAre("a.weight", "a.bias"));
  EXPECT_EQ(net.stateDict().size(), 4u);
  net.b = nn::Linear(3, 3);
  EXPECT_EQ(net.parameters().size(), 4u);
  net.b = net.a;
  EXPECT_THAT(namesIn(net), ElementsAre("a.weight", "a.bias"));
  Twice copy = nn::clone(net);
  EXPECT_TRUE(copy.a.weight.same(copy.b.weight));
  EXPECT_FALSE(copy.a.weight.same(net.a.weight));
}

TEST(Replace, BuffersAndParametersThatWereLeftOut) {
  nn::BatchNorm1d norm(3, {.affine = false});
  norm.runningMean = Parameter(ones({3}), /*trainable=*/false);
  EXPECT_TRUE(norm.buffers()[0].same(norm.runningMean));
  expectSameBits(norm.stateDict()[0].value, ones({3}));
  EXPECT_THAT(errorOf([&] { norm.runningMean = Parameter(ones({3})); }), HasSubstr("'running_mean' is a buffer"));
  EXPECT_THAT(errorOf([&] { norm.runningMean = Parameter(); }), HasSubstr("left out"));
  norm.weight = Parameter(ones({3}));
  EXPECT_THAT(namesIn(norm), ElementsAre("weight"));
  EXPECT_EQ(norm.weight.name(), "weight");
  nn::Linear plain(2, 3, {.bias = false});
  nn::Linear copy = plain;
  plain.bias = Parameter(ones({3}));
  EXPECT_TRUE(copy.bias.same(plain.bias));
  EXPECT_THAT(namesIn(copy), ElementsAre("weight", "bias"));
  copy.bias = Parameter();
  EXPECT_FALSE(plain.bias.defined());
  EXPECT_THAT(namesIn(plain), ElementsAre("weight"));
  EXPECT_THAT(plain.text(), HasSubstr("bias=False"));
  nn::LSTM lstm(3, 4), same = lstm;
  lstm.weights[0].inputs = Parameter(zeros({16, 3}));
  EXPECT_TRUE(has(lstm, lstm.weights[0].inputs));
  EXPECT_TRUE(same.weights[0].inputs.same(lstm.weights[0].inputs));
}

TEST(Replace, ClonesAreTheirOwn) {
  ReplacedNet net, copy = nn::clone(net);
  copy.head = nn::Linear(8, 3);
  expectThree(copy);
  EXPECT_EQ(net(ones({1, 4})).shape(), Shape({1, 10}));
  net.head.weight = Parameter(zeros({10, 8}));
  EXPECT_TRUE(has(net, net.head.weight));
  expectThree(copy);
  InList list, other = nn::clone(list);
  other.layers[2] = nn::Linear(4, 7);
  EXPECT_TRUE(has(other, other.layers[2].weight));
  EXPECT_FALSE(has(list, other.layers[2].weight));
}

TEST(Replace, RefusesWhatCannotBe) {
  struct Special : nn::Linear {
    Special() : nn::Linear(8, 3) {}
  };
  ReplacedDeep net;
  Parameter weight = net.block.inner.weight;
  EXPECT_THAT(errorOf([&] { net.replace("block", nn::Linear(2, 2)); }),
              ::testing::AllOf(HasSubstr("ReplaceTest.cpp:"),
                               HasSubstr("'block' is a member of class ReplacedBlock, which cannot hold a Linear")));
  EXPECT_THAT(errorOf([&] { net.replace("list.0", nn::ReLU()); }), HasSubstr("which cannot hold a ReLU"));
  EXPECT_THAT(errorOf([&] { net.list.add("2", nn::ReLU()); }), HasSubstr("which this ModuleList does not hold"));
  EXPECT_THAT(errorOf([&] { net.replace("tail", nn::ReLU()); }), HasSubstr("there is no module 'tail'"));
  EXPECT_THAT(errorOf([&] { net.replace("chain.1", net); }), HasSubstr("below it"));
  ReplacedNet small;
  EXPECT_THAT(errorOf([&] { small.head = Special(); }), HasSubstr("which cannot hold a Special"));
  EXPECT_TRUE(net.block.inner.weight.same(weight));
  EXPECT_EQ(small(ones({1, 4})).shape(), Shape({1, 10}));
  ReplacedNet source;
  source.head.weight = small.head.weight;
  EXPECT_THAT(errorOf([&] { source.resetParameters(); }), HasSubstr("'head.weight' is shared with a module"));
  static_assert(!std::is_assignable_v<nn::Module &, nn::Linear>, "a Linear would lose its class");
}

TEST(Replace, SurvivesItsOwners) {
  nn::Linear head;
  {
    ReplacedNet net;
    head = net.head;
  }
  head = nn::Linear(8, 3);
  head.weight = Parameter(zeros({3, 8}));
  Parameter weight;
  {
    nn::Linear layer(2, 2);
    weight = layer.weight;
  }
  weight = Parameter(zeros({2, 2}));
  auto make = [] {
    ReplacedNet net;
    net.head = nn::Linear(8, 5);
    return net;
  };
  std::vector<ReplacedNet> nets;
  for (int i = 0; i < 5; ++i) nets.push_back(make());
  for (ReplacedNet &net : nets) {
    net.head = nn::Linear(8, 3);
    expectThree(net);
  }
}

} // namespace
