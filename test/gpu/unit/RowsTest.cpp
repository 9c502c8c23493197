// What MLIR and LLVM's NVPTX back-end make of kernels: the way that a compiler's own kernels take.
#include "test/gpu/unit/Kernels.h"
#include <array>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace sprig::gpu;

static const Kernels &rows() {
  static Kernels kernels(oracleText("rows.ptx"), "rows.ptx");
  return kernels;
}
// Arrays as aligned as memory of a GPU.
template <class T, size_t N> struct alignas(256) Aligned : std::array<T, N> {};

TEST(Rows, TakesSoftmaxByShuffles) {
  auto both = std::make_unique<std::array<Aligned<float, 8 * 64>, 2>>();
  auto &[x, y] = *both;
  std::mt19937 random(1);
  for (float &v : x) v = std::uniform_real_distribution<float>(-8, 8)(random);
  LaunchOptions options = checkedWith(*both);
  options.counters = true;
  LaunchReport report = rows().run("softmax", {8}, {32}, options, x.data(), y.data());
  EXPECT_EQ(report.text(), "");
  for (int row = 0; row < 8; ++row) {
    double largest = -INFINITY, sum = 0;
    for (int i = 0; i < 64; ++i) largest = std::fmax(largest, x[row * 64 + i]);
    for (int i = 0; i < 64; ++i) sum += std::exp(x[row * 64 + i] - largest);
    for (int i = 0; i < 64; ++i) {
      double expected = std::exp(x[row * 64 + i] - largest) / sum;
      EXPECT_NEAR(y[row * 64 + i], expected, 4e-6 * expected) << row << ", " << i;
    }
  }
  for (const Traffic &traffic : report.traffic) EXPECT_EQ(traffic.units, traffic.ideal) << traffic.line;
}

TEST(Rows, SumsByATree) {
  std::vector<uint16_t> x(4 * 101);
  std::vector<float> y(4);
  for (size_t i = 0; i < x.size(); ++i) x[i] = uint16_t(std::bit_cast<uint32_t>(float(int(i % 23) - 7)) >> 16);
  EXPECT_EQ(rows().run("sums", {4}, {128}, checkedWith(x, y), x.data(), y.data()).text(), "");
  for (int row = 0; row < 4; ++row) {
    float sum = 0; // of small integers: exact
    for (int i = 0; i < 101; ++i) sum += float((row * 101 + i) % 23 - 7);
    EXPECT_EQ(y[row], sum);
  }
}

TEST(Rows, MultipliesTilesInTf32) {
  auto memory = std::make_unique<std::array<Aligned<float, 128>, 3>>();
  auto &[a, b, c] = *memory;
  for (int i = 0; i < 128; ++i) a[i] = float(i % 13 - 6), b[i] = float(i % 7 - 3), c[i] = float(i);
  Aligned<float, 128> before = c;
  EXPECT_EQ(rows().run("tile", {1}, {32}, checkedWith(*memory), a.data(), b.data(), c.data()).text(), "");
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < 4; ++e) {
      int row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
      float sum = before[lane * 4 + e];
      // Element (row, k) is word row / 8 + k / 4 * 2 of lane row % 8 * 4 + k % 4; (k, column) word k / 4 of lane column
      // * 4 + k % 4.
      for (int k = 0; k < 8; ++k)
        sum += a[(row % 8 * 4 + k % 4) * 4 + row / 8 + k / 4 * 2] * b[(column * 4 + k % 4) * 2 + k / 4];
      EXPECT_EQ(c[lane * 4 + e], sum) << row << ", " << column;
    }
}
