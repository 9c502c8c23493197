// Products by tiles, of each size of tile: the bits of one chain of multiply-adds for each element, whatever the tile,
// and memory traffic close to the least.
#include "test/unit/Target/CUDA/TileProducts.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace sprig;

// From the ends of the result; sums of more than 1024 products are chains of 512.
static float expectedProduct(const TestProduct &p, const std::vector<std::vector<float>> &x, int64_t b, int64_t r,
                             int64_t c) {
  int64_t part = p.depth > 1024 ? 512 : p.depth;
  float total = 0;
  for (int64_t begin = 0; begin < p.depth; begin += part) {
    float chain = 0;
    for (int64_t k = begin; k < std::min(begin + part, p.depth); ++k)
      chain = std::fma(x[0][p.leftAt(b, r, k)], x[1][p.rightAt(k, c)], chain);
    total = p.depth > 1024 ? total + chain : chain;
  }
  return std::fmax(total + x[2][c], 0.0f) - x[3][(b * p.rows + r) * p.columns + c];
}

TEST(MatmulTiles, HaveTheBitsOfOneChain) {
  const std::vector<TestProduct> products = {
      {"largest", 1, 2044, 1028, 21, false, true, 128},
      {"large", 1, 509, 1001, 23, false, false, 64},
      {"medium", 3, 163, 250, 20, true, true, 32},
      {"small", 1, 37, 46, 1043, true, false},
      {"row", 1, 1, 43, 700, false, true},
      {"rows", 1, 5, 20, 1200, false, false},
      {"columns", 1, 90, 3, 130, false, true},
      {"batch", 3, 17, 20, 30, true, false},
  };
  TileKernels kernels = kernelsOf(products);
  for (const TestProduct &p : products) {
    SCOPED_TRACE(p.name);
    std::vector<std::vector<float>> buffers = buffersOf(p);
    runTiles(kernels, p, buffers, [&](int64_t b, int64_t r, int64_t c, int64_t at) {
      float want = expectedProduct(p, buffers, b, r, c);
      ASSERT_EQ(std::memcmp(&buffers[4][at], &want, sizeof want), 0) << r << ", " << c << ": " << buffers[4][at];
    });
  }
}

// Padding of steps that are not there changes not even the sign of a zero.
TEST(MatmulTiles, KeepTheSignOfZero) {
  TestProduct p{"zeros", 1, 16, 16, 69, false, true};
  TileKernels kernels({{p.name,
                        {"16x69xf32", "16x69xf32"},
                        "    %0 = nn.matmul %a0, %a1 {transpose_rhs} : tensor<16x69xf32>, tensor<16x69xf32>",
                        "%0",
                        "16x16xf32"}});
  std::vector<std::vector<float>> buffers(3);
  buffers[0].assign(16 * 69, -1e-30f), buffers[1].assign(16 * 69, 1e-30f), buffers[2].assign(16 * 16, 1.0f);
  kernels.run(p.name, buffers, 0, uint32_t(kernels.kernel(p.name).tiles));
  for (float value : buffers[2]) EXPECT_TRUE(value == 0 && std::signbit(value));
}

TEST(MatmulTiles, TakeFewSectorsAndNoBankTwice) {
  // Both sides in both layouts.
  const std::vector<TestProduct> products = {
      {"largest0", 1, 2048, 1024, 16, false, true}, {"largest1", 1, 2048, 1024, 16, true, false},
      {"large0", 1, 512, 1024, 32, false, true},    {"large1", 1, 512, 1024, 32, true, false},
      {"medium0", 1, 256, 512, 64, false, true},    {"medium1", 1, 256, 512, 64, true, false},
      {"small0", 1, 64, 256, 128, false, true},     {"small1", 1, 64, 256, 128, true, false},
      {"row0", 1, 1, 256, 512, false, true},        {"row1", 1, 8, 256, 512, true, false},
  };
  TileKernels kernels = kernelsOf(products);
  for (const TestProduct &p : products) {
    std::vector<std::vector<float>> buffers = buffersOf(p);
    TrafficRatios ratios = ratiosOf(kernels.run(p.name, buffers, 1, 1));
    EXPECT_LE(ratios.global, 1.1) << p.name;
    EXPECT_LE(ratios.shared, 1.0) << p.name;
  }
}
