#include "lib/Data/Batches.h"
#include "lib/Data/Philox.h"
#include "sprig/error.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

using namespace sprig;
using namespace sprig::data;

namespace {

std::vector<int64_t> take(Batches &batches) {
  auto indices = batches.next();
  return {indices.begin(), indices.end()};
}

} // namespace

// The known answers of the authors' Random123 library (kat_vectors).
TEST(Philox, KnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Batches, InOrderWithTheLastSmaller) {
  Batches batches({.samples = 7, .batch = 3});
  EXPECT_EQ(batches.stepsPerEpoch(), 3);
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(batches.position(), (Batches::Position{epoch, 0}));
    EXPECT_EQ(take(batches), (std::vector<int64_t>{0, 1, 2}));
    EXPECT_EQ(batches.position(), (Batches::Position{epoch, 3}));
    EXPECT_EQ(take(batches), (std::vector<int64_t>{3, 4, 5}));
    EXPECT_EQ(take(batches), (std::vector<int64_t>{6}));
  }
  Batches dropping({.samples = 7, .batch = 3, .dropLast = true});
  EXPECT_EQ(dropping.stepsPerEpoch(), 2);
  take(dropping);
  take(dropping);
  EXPECT_EQ(dropping.position(), (Batches::Position{1, 0}));
}

TEST(Batches, EachEpochHasEverySampleOnceInAnOrderOfItsOwn) {
  Batches batches({.samples = 101, .batch = 10, .shuffle = true, .seed = 3});
  std::set<std::vector<int64_t>> orders;
  for (int epoch = 0; epoch < 4; ++epoch) {
    std::vector<int64_t> order;
    while (batches.position().epoch == epoch) {
      std::vector<int64_t> step = take(batches);
      order.insert(order.end(), step.begin(), step.end());
    }
    std::vector<int64_t> sorted = order, all(101);
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 4u);
}

// The order is part of what a seed promises: it must not change from one version to the next.
TEST(Batches, TheOrderOfASeedIsFixed) {
  std::vector<int64_t> order(8), other(8);
  shuffledOrder(0, 0, order);
  EXPECT_EQ(order, (std::vector<int64_t>{7, 2, 5, 6, 3, 1, 4, 0}));
  shuffledOrder(1, 0, other);
  EXPECT_NE(order, other);
}

// The same shuffle, written down a second time without tricks: multiply, compare the low word, draw again.
TEST(Batches, TheOrderIsFisherYatesByLemiresMethod) {
  uint64_t seed = 0x123456789abcdef, epoch = 5;
  std::vector<int64_t> order(1000), want(1000);
  shuffledOrder(seed, epoch, order);
  std::iota(want.begin(), want.end(), 0);
  uint32_t drawn = 0;
  auto word = [&] {
    auto block = philox({drawn / 2, 0, uint32_t(epoch), 1}, {uint32_t(seed), uint32_t(seed >> 32)});
    size_t at = drawn++ % 2 * 2;
    return block[at] + (uint64_t(block[at + 1]) << 32);
  };
  for (uint64_t n = 1000; n > 1; --n) {
    __uint128_t product;
    do product = __uint128_t(word()) * n;
    while (uint64_t(product) < uint64_t((__uint128_t(1) << 64) % n));
    std::swap(want[n - 1], want[size_t(product >> 64)]);
  }
  EXPECT_EQ(order, want);
}

TEST(Batches, PlacesAreUniform) {
  // Where sample 0 of five goes over many epochs: a fifth each, within five standard deviations.
  std::vector<int> counts(5);
  std::vector<int64_t> order(5);
  const int epochs = 20000;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    shuffledOrder(11, uint64_t(epoch), order);
    ++counts[size_t(std::find(order.begin(), order.end(), 0) - order.begin())];
  }
  for (int count : counts) EXPECT_NEAR(count, epochs / 5, 5 * 57);
}

TEST(Batches, GoesOnFromAnyPosition) {
  Batches::Options options{.samples = 37, .batch = 5, .shuffle = true, .seed = 9};
  Batches whole(options);
  for (int step = 0; step < 20; ++step) {
    Batches resumed(options);
    resumed.seek(whole.position());
    EXPECT_EQ(take(whole), take(resumed)) << "step " << step;
    EXPECT_EQ(whole.position(), resumed.position());
  }
  EXPECT_THROW(whole.seek({0, 3}), Error);
  EXPECT_THROW(whole.seek({0, 40}), Error);
  EXPECT_THROW(whole.seek({-1, 0}), Error);
}

TEST(Batches, RefusesWhatHasNoStep) {
  EXPECT_THROW(Batches({.samples = 0, .batch = 5}), Error);
  EXPECT_THROW(Batches({.samples = 5, .batch = 0}), Error);
  EXPECT_THROW(Batches({.samples = 4, .batch = 5, .dropLast = true}), Error);
  Batches small({.samples = 4, .batch = 5});
  EXPECT_EQ(take(small).size(), 4u);
}
