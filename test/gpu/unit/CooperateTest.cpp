// What nvcc makes of kernels whose threads meet: results in every order of blocks and threads, and no complaint.
#include "test/gpu/unit/Kernels.h"
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <tuple>

using namespace sprig::gpu;

static const Kernels &cooperate() {
  static Kernels kernels(oracleText("cooperate.ptx"), "cooperate.ptx");
  return kernels;
}

struct CooperatingWay {
  bool isChecked;
  BlockOrder order;
  uint64_t seed;
};
class Cooperate : public testing::TestWithParam<CooperatingWay> {
protected:
  template <class... Arrays> LaunchOptions options(const Arrays &...arrays) {
    LaunchOptions options = GetParam().isChecked ? checkedWith(arrays...) : LaunchOptions();
    options.order = GetParam().order, options.seed = GetParam().seed;
    return options;
  }
};
static std::string nameOf(const testing::TestParamInfo<CooperatingWay> &info) {
  const char *orders[] = {"forward", "reverse", "random"};
  return std::string(info.param.isChecked ? "checked_" : "plain_") + orders[int(info.param.order)] +
         std::to_string(info.param.seed);
}
static const CooperatingWay ways[] = {{false, BlockOrder::Forward, 0}, {false, BlockOrder::Random, 1},
                                      {true, BlockOrder::Forward, 0},  {true, BlockOrder::Reverse, 0},
                                      {true, BlockOrder::Random, 2},   {true, BlockOrder::Random, 3}};
INSTANTIATE_TEST_SUITE_P(Ways, Cooperate, testing::ValuesIn(ways), nameOf);

TEST_P(Cooperate, SumsByBarriersAndShuffles) {
  std::vector<float> x(3000), sums(4);
  for (int i = 0; i < 3000; ++i) x[i] = float(i % 17); // sums are exact
  LaunchReport report = cooperate().run("blockSum", {4}, {256}, options(x, sums), x.data(), sums.data(), 3000);
  EXPECT_EQ(report.text(), "");
  float expected[4] = {};
  for (int i = 0; i < 3000; ++i) expected[i / 256 % 4] += x[i];
  for (int b = 0; b < 4; ++b) EXPECT_EQ(sums[b], expected[b]);
}

TEST_P(Cooperate, LastBlockSeesWhatOthersLeft) {
  Kernels kernels(oracleText("cooperate.ptx"));
  std::vector<int> x(1000), partial(7), total(1);
  std::iota(x.begin(), x.end(), -300);
  LaunchOptions options = this->options(x, partial, total);
  if (options.knowsAllocations) {
    uint64_t block = reinterpret_cast<uint64_t>(kernels.variable("arrived"));
    auto &all = options.allocations;
    all.insert(std::find_if(all.begin(), all.end(), [&](const Range &range) { return range.begin > block; }),
               {block, block + 4});
  }
  LaunchReport report = kernels.run("sumByLastBlock", {7}, {64}, options, x.data(), partial.data(), total.data(), 1000);
  EXPECT_EQ(report.text(), "");
  EXPECT_EQ(total[0], std::accumulate(x.begin(), x.end(), 0));
}

TEST_P(Cooperate, MultipliesByTiles) {
  for (unsigned n : {16u, 37u}) {
    std::vector<float> a(n * n), b(n * n), c(n * n);
    std::mt19937 random(n);
    for (float &v : a) v = float(int(random() % 17) - 8);
    for (float &v : b) v = float(int(random() % 17) - 8);
    unsigned tiles = (n + 15) / 16;
    LaunchReport report =
        cooperate().run("matmul", {tiles, tiles}, {16, 16}, options(a, b, c), a.data(), b.data(), c.data(), n);
    EXPECT_EQ(report.text(), "");
    for (unsigned i = 0; i < n * n; ++i) {
      double sum = 0; // of integers: exact
      for (unsigned k = 0; k < n; ++k) sum += double(a[i / n * n + k]) * b[k * n + i % n];
      ASSERT_EQ(c[i], sum) << i;
    }
  }
}

TEST_P(Cooperate, CountsByAtomics) {
  std::vector<uint8_t> x(5000);
  std::vector<uint32_t> counts(256), expected(256);
  std::mt19937 random(3);
  for (uint8_t &v : x) ++expected[v = uint8_t(random() % 40)];
  LaunchReport report = cooperate().run("histogram", {3}, {128}, options(x, counts), x.data(), counts.data(), 5000);
  EXPECT_EQ(report.text(), "");
  EXPECT_EQ(counts, expected);
}

TEST_P(Cooperate, ExchangesInWarps) {
  std::vector<int> x(32), y(32 * 16);
  for (int i = 0; i < 32; ++i) x[i] = i * 7 % 32 - 4;
  LaunchReport report = cooperate().run("warpOperations", {1}, {32}, options(x, y), x.data(), y.data());
  EXPECT_EQ(report.text(), "");
  unsigned odd = 0, xorOfHalf = 0;
  int smallest = x[0];
  for (int i = 0; i < 32; ++i) {
    odd |= unsigned(x[i] & 1) << i;
    smallest = std::min(smallest, x[i]);
    if (i < 16) xorOfHalf ^= unsigned(x[i]);
  }
  for (int lane = 0; lane < 32; ++lane) {
    const int *out = &y[lane * 16];
    unsigned equal = 0, equalAll = 0;
    for (int i = 0; i < 32; ++i)
      equal |= unsigned((x[i] & 3) == (x[lane] & 3)) << i, equalAll |= unsigned((x[i] >> 20) == (x[lane] >> 20)) << i;
    int expected[16] = {x[5],
                        x[lane >= 3 ? lane - 3 : lane],
                        x[lane + 7 < 32 ? lane + 7 : lane],
                        x[lane ^ 9],
                        x[(lane & ~7) | ((lane + 1) & 7)],
                        x[lane % 8 >= 2 ? lane - 2 : lane],
                        x[lane % 16 + 2 < 16 ? lane + 2 : lane],
                        x[lane ^ 5],
                        1,
                        1,
                        int(odd),
                        int(equal),
                        equalAll == ~0u ? 0 : 0,
                        std::accumulate(x.begin(), x.end(), 0),
                        smallest,
                        lane < 16 ? int(xorOfHalf) : x[lane ^ 1]};
    for (int k = 0; k < 16; ++k)
      if (k != 12) EXPECT_EQ(out[k], expected[k]) << "lane " << lane << ", operation " << k;
    EXPECT_EQ(out[12], equalAll == ~0u ? int(equalAll) + 1 : 0);
  }
}

TEST_P(Cooperate, OrdersBySyncwarp) {
  std::vector<int> x(64), y(64);
  std::iota(x.begin(), x.end(), 10);
  LaunchReport report = cooperate().run("warpExchange", {1}, {64}, options(x, y), x.data(), y.data());
  EXPECT_EQ(report.text(), "");
  for (int i = 0; i < 64; ++i) EXPECT_EQ(y[i], x[i ^ 31 ^ 1] + 1);
}

TEST_P(Cooperate, HandsOverByNamedBarriers) {
  std::vector<int> x(160), y(160);
  std::iota(x.begin(), x.end(), 0);
  LaunchReport report = cooperate().run("produceConsume", {1}, {64}, options(x, y), x.data(), y.data(), 5);
  EXPECT_EQ(report.text(), "");
  for (int i = 0; i < 160; ++i) EXPECT_EQ(y[i], i / 32 * 32 + 31 - i % 32);
}

TEST_P(Cooperate, ReducesAtBarriers) {
  std::vector<int> x(96), y(96);
  std::iota(x.begin(), x.end(), -10);
  LaunchReport report = cooperate().run("blockVotes", {1}, {96}, options(x, y), x.data(), y.data());
  EXPECT_EQ(report.text(), "");
  EXPECT_EQ(y, std::vector<int>(96, 82 * 4 + 2));
}

TEST_P(Cooperate, UpdatesAtomically) {
  std::vector<float> x(200), largest = {0};
  std::vector<double> sum(1);
  std::vector<uint64_t> packed(2);
  for (int i = 0; i < 200; ++i) x[i] = float(i * 37 % 200) - 50;
  LaunchReport report = cooperate().run("atomics", {4}, {64}, options(x, largest, sum, packed), x.data(),
                                        largest.data(), sum.data(), packed.data(), 200);
  EXPECT_EQ(report.text(), "");
  EXPECT_EQ(largest[0], 149);
  EXPECT_EQ(sum[0], 199 * 100 - 50 * 200.);
  EXPECT_EQ(packed[0], 199u << 3);
  EXPECT_EQ(packed[1], 7u);
}

// Which bytes a launch updates by what commutes, and which it writes.
TEST(CooperateEffects, TellUpdatesFromWrites) {
  std::vector<uint8_t> x(300, 7);
  std::vector<uint32_t> counts(256);
  x[0] = 9;
  auto at = [](const auto &array, size_t begin, size_t end) {
    return Range{reinterpret_cast<uint64_t>(&array[0] + begin), reinterpret_cast<uint64_t>(&array[0] + end)};
  };
  LaunchOptions options = checkedWith(x, counts);
  options.effects = true;
  Kernels kernels(oracleText("cooperate.ptx"));
  LaunchReport report = kernels.run("histogram", {2}, {128}, options, x.data(), counts.data(), 300);
  EXPECT_EQ(report.reads, (std::vector<Range>{at(x, 0, 300)})); // compilers write `atom` for what is `red`
  EXPECT_EQ(report.writes, std::vector<Range>());
  ASSERT_EQ(report.updates.size(), 1u);
  EXPECT_EQ(report.updates[0].bytes, (std::vector<Range>{at(counts, 7, 8), at(counts, 9, 10)}));
  uint32_t kindOfSums = report.updates[0].kind;

  // A maximum of integers commutes; a sum of floats, an exchange and a comparison are writes.
  std::vector<float> y(40, 1), largest = {0};
  std::vector<double> sum(1);
  std::vector<uint64_t> packed(2);
  options = checkedWith(y, largest, sum, packed);
  options.effects = true;
  report = kernels.run("atomics", {1}, {64}, options, y.data(), largest.data(), sum.data(), packed.data(), 40);
  EXPECT_EQ(report.text(), "");
  ASSERT_EQ(report.updates.size(), 1u);
  EXPECT_EQ(report.updates[0].bytes, (std::vector<Range>{at(packed, 0, 1)}));
  EXPECT_NE(report.updates[0].kind, kindOfSums);
  uint64_t exchanged = at(packed, 1, 2).begin;
  std::vector<Range> writes = {at(largest, 0, 1), at(sum, 0, 1), {exchanged, exchanged + 4}};
  std::sort(writes.begin(), writes.end(), [](Range a, Range b) { return a.begin < b.begin; });
  EXPECT_EQ(report.writes, writes);
  auto isRead = [&](Range range) { return std::find(report.reads.begin(), report.reads.end(), range); };
  for (Range range : writes) EXPECT_NE(isRead(range), report.reads.end());
}

// An old value that is used depends on the order: it is read, too. Signs do not matter to a sum.
TEST(CooperateEffects, AnOldValueThatIsUsedIsRead) {
  auto effects = [](const std::string &body) {
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 "
                       "%r<4>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd0, [p];\nmov.u32 %r0, 5;\n" +
                       body + "ret;\n}\n";
    std::vector<uint32_t> x(2);
    LaunchOptions options = checkedWith(x);
    options.effects = true;
    LaunchReport report = Kernels(text).run("k", {1}, {1}, options, x.data());
    EXPECT_EQ(report.text(), "");
    return std::tuple(report.reads.size(), report.writes.size(), report.updates.empty() ? 0 : report.updates[0].kind);
  };
  auto [reads, writes, kind] = effects("red.global.add.u32 [%rd0], %r0;\n");
  EXPECT_EQ(std::pair(reads, writes), std::pair(size_t(0), size_t(0)));
  EXPECT_NE(kind, 0u);
  EXPECT_EQ(effects("atom.add.s32 %r1, [%rd0], %r0;\n"), std::tuple(0, 0, kind)); // generic, and nobody reads %r1
  EXPECT_EQ(effects("atom.global.add.u32 %r1, [%rd0], %r0;\nadd.u32 %r2, %r1, 1;\n"), std::tuple(1, 0, kind));
  EXPECT_EQ(effects("atom.global.inc.u32 %r1, [%rd0], %r0;\n"), std::tuple(1, 1, 0u));
  auto signedMaximum = effects("red.global.max.s32 [%rd0], %r0;\n"),
       maximum = effects("red.global.max.u32 [%rd0], %r0;\n");
  EXPECT_NE(std::get<2>(signedMaximum), std::get<2>(maximum));
}

// The tiled product with one barrier less, or one index off by one.
TEST(CooperateMutants, AreNoticed) {
  std::string text = oracleText("cooperate.ptx");
  size_t first = text.find(".visible .entry"), entry = text.find(".visible .entry matmul"),
         next = text.find(".visible .entry", entry + 1);
  text = text.substr(0, text.find(".global")) + text.substr(entry, next - entry);
  ASSERT_LT(first, entry);
  constexpr int n = 37;
  std::vector<float> a(n * n), b(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = float(i % 11 - 5), b[i] = float(i % 7 - 3);
  auto run = [&](const std::string &ptx, std::vector<float> &c) {
    return Kernels(ptx).run("matmul", {3, 3}, {16, 16}, checkedWith(a, b, c), a.data(), b.data(), c.data(), n);
  };
  std::vector<float> expected(n * n);
  EXPECT_EQ(run(text, expected).text(), "");
  struct Mutation {
    std::string from, to;
    bool isRace;
  };
  const Mutation mutations[] = {{"bar.sync", "// bar.sync", true}, {"+4];", "+8];", false}};
  for (const Mutation &mutation : mutations) {
    int count = 0;
    for (size_t at = 0; count < 3 && (at = text.find(mutation.from, at)) != text.npos; ++at, ++count) {
      std::vector<float> c(n * n);
      LaunchReport report = run(std::string(text).replace(at, mutation.from.size(), mutation.to), c);
      std::string what = mutation.from + ", place " + std::to_string(count);
      if (mutation.isRace)
        EXPECT_NE(report.text().find("race"), std::string::npos) << what;
      else
        EXPECT_TRUE(!report.complaints.empty() || c != expected) << what;
    }
    EXPECT_GT(count, 0) << mutation.from;
  }
}

TEST(CooperateCounters, SeeBankConflicts) {
  for (int padded : {0, 1}) {
    // As aligned as memory of a GPU.
    struct alignas(256) Matrix : std::array<float, 1024> {};
    std::vector<Matrix> both(2);
    Matrix &x = both[0], &y = both[1];
    std::iota(x.begin(), x.end(), 0.f);
    LaunchOptions options = checkedWith(both);
    options.counters = true;
    LaunchReport report = cooperate().runShared("transpose", {1}, {32, 32}, uint32_t(32 * (32 + padded) * 4), options,
                                                x.data(), y.data(), padded);
    EXPECT_EQ(report.text(), "");
    for (int i = 0; i < 1024; ++i) ASSERT_EQ(y[i], x[i % 32 * 32 + i / 32]);
    ASSERT_EQ(report.traffic.size(), 4u);
    for (const Traffic &traffic : report.traffic) {
      EXPECT_EQ(traffic.requests, 32u);
      EXPECT_EQ(traffic.ideal, traffic.isShared ? 32u : 128u);
      EXPECT_EQ(traffic.units, !traffic.isShared ? 128u : !traffic.isWrite && !padded ? 1024u : 32u);
    }
  }
}
