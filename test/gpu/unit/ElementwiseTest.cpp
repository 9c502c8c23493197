// What nvcc makes of elementwise CUDA kernels: control flow, calls, local memory, integer instructions, variables.
#include "test/gpu/unit/Kernels.h"
#include <bit>
#include <gtest/gtest.h>
#include <random>

using namespace sprig::gpu;

static const Kernels &elementwise() {
  static Kernels kernels(oracleText("elementwise.ptx"), "elementwise.ptx");
  return kernels;
}

class Elementwise : public testing::TestWithParam<bool> {
protected:
  template <class... Arrays> LaunchOptions options(const Arrays &...arrays) {
    return GetParam() ? checkedWith(arrays...) : LaunchOptions();
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, Elementwise, testing::Bool(),
                         [](const auto &info) { return info.param ? "checked" : "plain"; });

TEST_P(Elementwise, AddsArraysOfAnyLength) {
  for (int n : {1, 31, 128, 1000}) {
    std::vector<float> x(n), y(n), z(n, -1);
    for (int i = 0; i < n; ++i) x[i] = 0.1f * float(i), y[i] = 3.f - float(i);
    LaunchReport report =
        elementwise().run("add", {uint32_t(n + 127) / 128}, {128}, options(x, y, z), x.data(), y.data(), z.data(), n);
    EXPECT_TRUE(report.completed);
    EXPECT_EQ(report.text(), "");
    for (int i = 0; i < n; ++i) ASSERT_EQ(z[i], x[i] + y[i]) << i;
  }
}

TEST_P(Elementwise, LoadsAndStoresVectors) {
  struct alignas(16) Four {
    float v[4];
  };
  std::vector<Four> x(33), y(33), z(33);
  for (int i = 0; i < 33 * 4; ++i) x[i / 4].v[i % 4] = float(i), y[i / 4].v[i % 4] = 0.5f;
  LaunchReport report = elementwise().run("add4", {2}, {32}, options(x, y, z), x.data(), y.data(), z.data(), 33);
  EXPECT_EQ(report.text(), "");
  for (int i = 0; i < 33 * 4; ++i) ASSERT_EQ(z[i / 4].v[i % 4], float(i) + 0.5f);
}

TEST_P(Elementwise, CallsFunctionsInLoops) {
  std::vector<unsigned> x(100), z(100);
  for (unsigned i = 0; i < 100; ++i) x[i] = i + 1;
  LaunchReport report = elementwise().run("collatzSteps", {2}, {16}, options(x, z), x.data(), z.data(), 100);
  EXPECT_EQ(report.text(), "");
  for (unsigned i = 0; i < 100; ++i) {
    unsigned steps = 0;
    for (unsigned n = i + 1; n != 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
    ASSERT_EQ(z[i], steps) << i;
  }
}

TEST_P(Elementwise, IndexesLocalArrays) {
  std::vector<unsigned> x = {0, 7, 12345, 999999999, 4294967295u}, z(5);
  EXPECT_GT(elementwise().find("reverseDigits").localBytes, 0u);
  LaunchReport report = elementwise().run("reverseDigits", {1}, {5}, options(x, z), x.data(), z.data(), 10u, 5);
  EXPECT_EQ(report.text(), "");
  for (int i = 0; i < 5; ++i) {
    unsigned reversed = 0;
    for (unsigned v = x[i]; v; v /= 10) reversed = reversed * 10 + v % 10;
    EXPECT_EQ(z[i], reversed);
  }
}

static int expectedChoice(int op, int a, int b) {
  unsigned ua = unsigned(a), ub = unsigned(b);
  switch (op) {
  case 0: return int(ua + ub);
  case 1: return int(ua - ub);
  case 2: return int(ua * ub);
  case 3: return b == 0 ? -1 : int(int64_t(a) / b);
  case 4: return b == 0 ? -1 : int(int64_t(a) % b);
  case 5: return int(int64_t(a) * b >> 32);
  case 6: return a >> (b & 31);
  case 7: return std::popcount(ua) + std::countl_zero(ub);
  case 8: {
    unsigned r = 0;
    for (int i = 0; i < 32; ++i) r |= (ua >> i & 1) << (31 - i);
    return int(r);
  }
  case 9: return int(ub << 7 | ua >> 25);
  case 10: {
    uint64_t both = uint64_t(ub) << 32 | ua;
    return int(uint32_t(both >> 40 & 0xff) | uint32_t(both >> 8 & 0xff) << 8 | uint32_t(both >> 56) << 16 |
               uint32_t(both >> 24 & 0xff) << 24);
  }
  case 11: {
    int sum = a;
    for (int i = 0; i < 4; ++i) sum = int(unsigned(sum) + unsigned(int8_t(ua >> (8 * i)) * int8_t(ub >> (8 * i))));
    return sum;
  }
  case 12: return (a & b) ^ (a | ~b);
  case 13: return a < b ? a : b;
  case 14: return int(a > b ? (a < 0 ? 0u - ua : ua) : (b < 0 ? 0u - ub : ub));
  case 15: return a ? std::countr_zero(ua) + 1 : 0;
  default: return 77;
  }
}

TEST_P(Elementwise, ComputesWithIntegers) {
  std::mt19937 random(5);
  std::vector<int> op, x, y;
  const int special[] = {0, 1, -1, 2147483647, -2147483648, 31, 255};
  for (int o = 0; o <= 16; ++o) {
    for (int a : special)
      for (int b : special) op.push_back(o), x.push_back(a), y.push_back(b);
    for (int i = 0; i < 20; ++i) op.push_back(o), x.push_back(int(random())), y.push_back(int(random()));
  }
  std::vector<int> z(op.size());
  int n = int(op.size());
  LaunchReport report = elementwise().run("choose", {uint32_t(n + 63) / 64}, {64}, options(op, x, y, z), op.data(),
                                          x.data(), y.data(), z.data(), n);
  EXPECT_EQ(report.text(), "");
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(z[i], expectedChoice(op[i], x[i], y[i])) << op[i] << ": " << x[i] << ", " << y[i];
}

TEST(ElementwiseImage, HasVariablesOfTheModule) {
  Kernels kernels(oracleText("elementwise.ptx"));
  std::vector<int> x = {0, 1, 2, 3, 4};
  std::vector<float> z(5);
  LaunchReport report = kernels.run("variables", {1}, {5}, {}, x.data(), z.data(), 5);
  EXPECT_TRUE(report.completed);
  EXPECT_EQ(
      z, (std::vector<float>{7.5f, -12.f, 1.5f, 48.f, 9.f})); // thread 0 has changed the factor when the others read it
  int counter;
  std::memcpy(&counter, kernels.variable("counter"), 4);
  EXPECT_EQ(counter, 6);
}

TEST(ElementwiseImage, DescribesItsKernels) {
  const SprigGpuImage &image = *elementwise().image();
  EXPECT_STREQ(image.target, "sm_80");
  const SprigGpuKernel &add = elementwise().find("add");
  ASSERT_EQ(add.parameterCount, 4u);
  EXPECT_EQ(add.parameters[3].offset, 24u);
  EXPECT_EQ(add.parameterBytes, 28u);
  EXPECT_EQ(add.cooperates, 0u);
  EXPECT_EQ(add.staticSharedBytes, 0u);
  EXPECT_EQ(image.variableCount, 2u);
}

TEST(ElementwiseChecks, NameAccessesOutsideOfAllocations) {
  std::vector<float> x(100), y(100), z(100);
  LaunchReport report = elementwise().run("add", {1}, {128}, checkedWith(x, y, z), x.data(), y.data(), z.data(), 101);
  ASSERT_EQ(report.complaints.size(), 1u);
  EXPECT_FALSE(report.completed);
  EXPECT_EQ(report.complaints[0].fault, Fault::OutOfBounds);
  EXPECT_EQ(report.complaints[0].thread[0], 100u);
  EXPECT_GT(report.complaints[0].line, 0u);
  EXPECT_NE(report.complaints[0].text.find("kernel 'add'"), std::string::npos) << report.text();
}

TEST(ElementwiseChecks, NameMisalignedAccesses) {
  std::vector<float> x(132), y(132), z(132);
  LaunchReport report =
      elementwise().run("add4", {1}, {32}, checkedWith(x, y, z), x.data() + 1, y.data(), z.data(), 32);
  ASSERT_EQ(report.complaints.size(), 1u);
  EXPECT_EQ(report.complaints[0].fault, Fault::Misaligned);
}

TEST(ElementwiseChecks, RecordWhatALaunchReadsAndWrites) {
  std::vector<float> x(300), y(300), z(300);
  LaunchOptions options = checkedWith(x, y, z);
  options.effects = options.counters = true;
  LaunchReport report = elementwise().run("add", {2}, {128}, options, x.data(), y.data() + 10, z.data(), 200);
  EXPECT_EQ(report.text(), "");
  auto range = [](const float *begin, size_t count) {
    return Range{reinterpret_cast<uint64_t>(begin), reinterpret_cast<uint64_t>(begin + count)};
  };
  std::vector<Range> reads = {range(x.data(), 200), range(y.data() + 10, 200)};
  if (reads[0].begin > reads[1].begin) std::swap(reads[0], reads[1]);
  EXPECT_EQ(report.reads, reads);
  EXPECT_EQ(report.writes, (std::vector<Range>{range(z.data(), 200)}));
  ASSERT_EQ(report.traffic.size(), 3u);
  for (const Traffic &traffic : report.traffic) {
    EXPECT_FALSE(traffic.isShared);
    EXPECT_EQ(traffic.requests, 7u); // six whole warps, and eight lanes
    EXPECT_EQ(traffic.ideal, 25u);
  }
}

TEST(ElementwiseChecks, RefuseBlocksThatCannotBe) {
  std::vector<float> x(1);
  LaunchReport report = elementwise().run("add", {1}, {1025}, {}, x.data(), x.data(), x.data(), 1);
  ASSERT_EQ(report.complaints.size(), 1u);
  EXPECT_EQ(report.complaints[0].fault, Fault::BadLaunch);
}
