// Random tensors: bits against a plain Philox4x32-10 and the formulas of docs/numerics.md, and the distributions.
#include "sprig/function.h"
#include "test/unit/Frontend/Ops/Harness.h"
#include <algorithm>
#include <numbers>
#include <numeric>
#include <set>

using namespace sprig;
using namespace sprig::test;

namespace {

/// Word `index` of a stream (Salmon et al. 2011).
uint32_t philox(uint64_t index, uint64_t key, uint64_t counter, uint32_t stream) {
  uint32_t c[4] = {uint32_t(index / 4), stream, uint32_t(counter), uint32_t(counter >> 32)};
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(c[0]) * 0xD2511F53, p1 = uint64_t(c[2]) * 0xCD9E8D57;
    uint32_t next[4] = {uint32_t(p1 >> 32) ^ c[1] ^ k0, uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k1, uint32_t(p0)};
    std::copy(next, next + 4, c);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c[index % 4];
}

constexpr uint64_t kSeed = 0x123456789abcdef0;

TEST(Random, FollowsFromSeedAndOrder) {
  manualSeed(kSeed);
  Array first = arrayOf(rand({3, 5})), second = arrayOf(rand({3, 5}));
  for (uint64_t i = 0; i < 15; ++i) {
    EXPECT_EQ(first.values[i], double(philox(i, kSeed, 0, 0) >> 8) * 0x1p-24);
    EXPECT_EQ(second.values[i], double(philox(i, kSeed, 1, 0) >> 8) * 0x1p-24);
  }
  manualSeed(kSeed);
  EXPECT_EQ(arrayOf(rand({15})).values, first.values); // whatever the shape
}

TEST(Random, TheFormulas) {
  manualSeed(kSeed);
  Array u = arrayOf(rand({9}, DType::f64)), h = arrayOf(rand({9}, DType::f16)), b = arrayOf(rand({9}, DType::bf16)),
        n = arrayOf(randn({9})), n64 = arrayOf(randn({9}, DType::f64)), r = arrayOf(randint(-3, 7, {9})),
        wide = arrayOf(randint(0, int64_t(1) << 40, {9})), scaled = arrayOf(normal({9}, 5, 0.5)),
        between = arrayOf(uniform({9}, -2, 2));
  auto unit = [](uint64_t i, uint64_t counter, uint32_t stream) {
    return double(philox(i, kSeed, counter, stream) >> 8) * 0x1p-24;
  };
  auto unit64 = [](uint64_t i, uint64_t counter, uint32_t stream) {
    uint64_t high = philox(i, kSeed, counter, stream) >> 5, low = philox(i, kSeed, counter, stream + 1) >> 6;
    return double((high << 26) + low) * 0x1p-53;
  };
  auto boxMuller = [](double p, double q) {
    return std::sqrt(-2 * std::log(1 - p)) * std::cos(2 * std::numbers::pi * q);
  };
  for (uint64_t i = 0; i < 9; ++i) {
    EXPECT_EQ(u.values[i], unit64(i, 0, 0));
    EXPECT_EQ(h.values[i], double(philox(i, kSeed, 1, 0) >> 21) * 0x1p-11);
    EXPECT_EQ(b.values[i], double(philox(i, kSeed, 2, 0) >> 24) * 0x1p-8);
    EXPECT_NEAR(n.values[i], boxMuller(unit(i, 3, 0), unit(i, 3, 1)), 3e-6);
    EXPECT_NEAR(n64.values[i], boxMuller(unit64(i, 4, 0), unit64(i, 4, 2)), 1e-14);
    EXPECT_EQ(r.values[i], -3 + double((uint64_t(philox(i, kSeed, 5, 0)) * 10) >> 32));
    EXPECT_EQ(wide.values[i],
              double(((uint64_t(philox(i, kSeed, 6, 0)) << 32) + philox(i, kSeed, 6, 1)) % (uint64_t(1) << 40)));
    EXPECT_NEAR(scaled.values[i], 5 + 0.5 * boxMuller(unit(i, 7, 0), unit(i, 7, 1)), 3e-6);
    EXPECT_NEAR(between.values[i], -2 + 4 * unit(i, 8, 0), 1e-6);
  }
}

double meanOfDraws(const std::vector<double> &v) { return std::accumulate(v.begin(), v.end(), 0.0) / double(v.size()); }

TEST(Random, Distributions) {
  manualSeed(1);
  Array n = arrayOf(randn({200, 100}));
  double mean = meanOfDraws(n.values), square = meanOfDraws(map(n, [](double v) { return v * v; }).values),
         fourth = meanOfDraws(map(n, [](double v) { return v * v * v * v; }).values);
  EXPECT_NEAR(mean, 0, 0.03);
  EXPECT_NEAR(square, 1, 0.04);
  EXPECT_NEAR(fourth, 3, 0.3);
  Array r = arrayOf(randint(2, 5, {3000}, DType::i32));
  for (double k : {2.0, 3.0, 4.0}) EXPECT_NEAR(double(std::count(r.values.begin(), r.values.end(), k)), 1000, 110);
  Array coin = arrayOf(bernoulli({4000}, 0.3));
  EXPECT_NEAR(meanOfDraws(coin.values), 0.3, 0.03);
  Array each = arrayOf(bernoulli(Tensor({0.f, 1.f, 0.f, 1.f})));
  EXPECT_EQ(each.values, (std::vector<double>{0, 1, 0, 1}));
}

TEST(Random, Permutations) {
  Array p = arrayOf(randperm(50));
  EXPECT_NE(p.values, counting({50}).values);
  std::sort(p.values.begin(), p.values.end());
  EXPECT_EQ(p.values, counting({50}).values);
  EXPECT_EQ(randperm(0).numel(), 0);
}

TEST(Random, ChoiceByWeights) {
  manualSeed(7);
  Tensor weights({1.f, 0.f, 3.f});
  Array drawn = arrayOf(multinomial(weights, 4000, true));
  EXPECT_NEAR(double(std::count(drawn.values.begin(), drawn.values.end(), 2.0)), 3000, 130);
  EXPECT_EQ(std::count(drawn.values.begin(), drawn.values.end(), 1.0), 0);
  Tensor rows = multinomial(ones({20, 6}), 6);
  EXPECT_EQ(describe(rows.type()), "20x6xi64");
  Array sets = arrayOf(rows);
  for (size_t i = 0; i < 20; ++i)
    EXPECT_EQ(std::set<double>(sets.values.begin() + int64_t(i) * 6, sets.values.begin() + int64_t(i) * 6 + 6).size(),
              6u);
  Array chosen = arrayOf(categorical(log(weights).expand({3000, 3})));
  EXPECT_NEAR(double(std::count(chosen.values.begin(), chosen.values.end(), 0.0)), 750, 100);
  EXPECT_EQ(chosen.shape, Shape({3000}));
}

TEST(Random, CompiledFunctionsDrawTheSame) {
  auto draw = [](const Tensor &x) {
    return std::vector<Tensor>{rand({7}), randn({3}) + x, dropout(x.expand({9}), 0.5), randint(0, 100, {5}),
                               bernoulli({6}, 0.4)};
  };
  Tensor x(2.f);
  manualSeed(11);
  std::vector<std::vector<Tensor>> want{draw(x), draw(x), draw(x)};
  for (auto &tensors : want)
    for (Tensor &tensor : tensors) tensor.wait();
  auto compiled = compile(draw);
  manualSeed(11);
  for (auto &tensors : want) {
    auto got = compiled(x);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(arrayOf(got[i]).values, arrayOf(tensors[i]).values) << i;
  }
}

} // namespace
