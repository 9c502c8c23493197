// How sums over ranks of a compiled function go together: bits that do not depend on it, and one choice on all ranks.
#include "lib/Frontend/Dist/Group.h"
#include "test/unit/Frontend/RankSteps.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace sprig;

namespace {

constexpr int64_t kWide = 256, kMost = std::numeric_limits<int64_t>::max();

struct Ran {
  nn::StateDict state;
  uint64_t collectives = 0; ///< of the last call
  int64_t bytes = 0;
};

/// Gradients of 64, 256 and 3 KiB and their biases; four steps, one by one or as calls of two.
Ran run(dist::Group &group, int64_t bytes, bool isTogether = false) {
  manualSeed(3);
  nn::Sequential net(nn::Linear(64, kWide), nn::Tanh(), nn::Linear(kWide, kWide), nn::Tanh(), nn::Linear(kWide, 3));
  auto optimizer = optim::adam(net, {.lr = 0.01});
  auto step = compile(
      [&](const Tensor &x, const Tensor &y) {
        Tensor loss = crossEntropy(net(x), y);
        optimizer.update(group.allReduce(grad(loss, net.parameters()), dist::Reduce::mean));
        return group.allReduce(loss, dist::Reduce::mean);
      },
      {.bucketBytes = bytes});
  const rt::comm::RankGroup &ranks = *dist::endOf(group)->group;
  Ran ran;
  for (int i = 0; i < 4; i += 1 + isTogether) {
    const uint64_t before = ranks.times().collectives;
    std::vector<std::tuple<Tensor, Tensor>> calls;
    for (int each = i; each <= i + isTogether; ++each) {
      std::vector<float> numbers;
      for (int j = 0; j < 8 * 64; ++j) numbers.push_back(std::sin(float(each * 7 + group.rank() * 31 + j * 17)));
      calls.emplace_back(Tensor(numbers, {8, 64}), Tensor({int64_t(0), int64_t(1), int64_t(2), int64_t(0), int64_t(2),
                                                           int64_t(1), int64_t(1), int64_t(0)}));
    }
    if (isTogether)
      step.together(calls).back().wait();
    else
      step(std::get<0>(calls[0]), std::get<1>(calls[0])).wait();
    ran.collectives = ranks.times().collectives - before;
  }
  ran.bytes = step.bucketBytes();
  group.checkReplicas(net);
  ran.state = net.stateDict();
  return ran;
}

/// What this rank takes all-reduces to be, in place of what it would find.
void expectLink(dist::Group &group, double latency, double bytesPerSecond) {
  dist::endOf(group)->link = machine::ExpectedLink{latency, bytesPerSecond, true, "given"};
}

} // namespace

TEST(DistBuckets, WhatIsGivenChangesNoBit) {
  for (int ranks : {2, 3})
    dist::spawn(ranks, [](dist::Group &group) {
      Ran alone = run(group, 1), all = run(group, kMost), usual = run(group, 300 << 10);
      EXPECT_EQ(alone.collectives, 7u) << "gradients, and the loss";
      EXPECT_EQ(all.collectives, 1u);
      EXPECT_EQ(usual.collectives, 2u);
      EXPECT_EQ(alone.bytes, 1);
      EXPECT_EQ(all.bytes, kMost);
      EXPECT_TRUE(sameBits(alone.state, all.state) && sameBits(usual.state, all.state));
      for (int64_t bytes : {int64_t(1), kMost, int64_t(0)})
        EXPECT_TRUE(sameBits(run(group, bytes, /*isTogether=*/true).state, all.state)) << bytes;
    });
}

// Links that ranks take to be other ones would lead each to a choice of its own.
TEST(DistBuckets, TheFirstRankChoosesForAll) {
  for (bool isTogether : {false, true}) {
    std::vector<Ran> slow(2), quick(2);
    dist::spawn(2, [&](dist::Group &group) {
      expectLink(group, group.rank() ? 1e-9 : 1, 1e9);
      slow[size_t(group.rank())] = run(group, 0, isTogether);
    });
    dist::spawn(2, [&](dist::Group &group) {
      expectLink(group, group.rank() ? 1 : 1e-9, 1e9);
      quick[size_t(group.rank())] = run(group, 0, isTogether);
    });
    EXPECT_GT(slow[0].bytes, 320 << 10) << "each message costs a second";
    EXPECT_LE(quick[0].bytes, 256 << 10) << "messages cost nothing, and bytes can be hidden";
    EXPECT_EQ(slow[1].bytes, slow[0].bytes);
    EXPECT_EQ(quick[1].bytes, quick[0].bytes);
    EXPECT_LT(slow[0].collectives, quick[0].collectives);
    EXPECT_TRUE(sameBits(slow[0].state, quick[1].state));
  }
}

// Ranks of a part that call it meanwhile do not choose again for the whole, which the others would not come to.
TEST(DistBuckets, EachGroupHasItsOwnChoice) {
  dist::spawn(3, [](dist::Group &group) {
    dist::Group pair = group.sub({0, 1});
    auto sum = compile([&](const Tensor &x, bool isOfPair) { return (isOfPair ? pair : group).allReduce(x); },
                       {.report = [](const std::string &) {}, .bucketBytes = 0});
    const Tensor x = ones({32 << 10});
    auto of = [&](bool isOfPair) { return sum(x, isOfPair).data<float>()[0]; };
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(of(false), 3);
      if (group.rank() < 2) EXPECT_EQ(of(true), 2);
    }
  });
}

// Nobody meets for what goes in one piece in any case, nor for a number that was given.
TEST(DistBuckets, RanksMeetWhereThereIsAChoiceAlone) {
  dist::spawn(2, [](dist::Group &group) {
    auto sum = compile([&](const Tensor &x) { return group.allReduce(x); }, {.bucketBytes = 0});
    EXPECT_EQ(sum.bucketBytes(), 0);
    sum(ones({8})).wait();
    EXPECT_FALSE(dist::endOf(group)->link);
    EXPECT_GT(sum.bucketBytes(), 0);
    run(group, kMost);
    EXPECT_FALSE(dist::endOf(group)->link);
    run(group, 0);
    EXPECT_TRUE(dist::endOf(group)->link);
  });
  EXPECT_TRUE(has(errorOf([] { compile([](const Tensor &x) { return x; }, {.name = "f", .bucketBytes = -1}); }),
                  "DistBucketsTest.cpp:"));
}
