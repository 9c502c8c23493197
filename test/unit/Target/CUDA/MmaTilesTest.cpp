// Products on tensor cores, of each tile and in all layouts: what docs/numerics.md says of tf32, and memory traffic
// close to the least.
#include "test/unit/Target/CUDA/TestSums.h"
#include "test/unit/Target/CUDA/TileProducts.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace sprig;

namespace {
TestSums sumsOf(const TestProduct &p, const std::vector<std::vector<float>> &x, int64_t b, int64_t r, int64_t c) {
  TestSums sums;
  for (int64_t k = 0; k < p.depth; ++k) sums.add(x[0][p.leftAt(b, r, k)], x[1][p.rightAt(k, c)]);
  return sums;
}

std::vector<TestProduct> productsInTf32(std::vector<TestProduct> products) {
  for (TestProduct &product : products) product.tf32 = true;
  return products;
}
} // namespace

TEST(MmaTiles, KeepTheBoundOfTf32) {
  const std::vector<TestProduct> products = productsInTf32({
      {"largest", 1, 2044, 1028, 21, false, true, 128},
      {"largest_turned", 1, 2044, 1028, 36, true, false, 128},
      {"large", 1, 509, 1001, 23, false, false, 64},
      {"large_turned", 1, 512, 1000, 50, true, true, 64},
      {"medium", 3, 131, 250, 20, true, true, 32},
      {"long", 1, 37, 46, 1043, true, false},
      {"rows", 1, 13, 70, 44, false, false},
      {"rows_turned", 1, 12, 66, 36, true, true},
      {"columns", 1, 70, 12, 40, true, true},
      {"columns_turned", 1, 70, 12, 44, false, false},
      {"batch", 3, 17, 20, 30, true, false},
      {"shallow", 1, 40, 64, 8, false, false},
  });
  TileKernels kernels = kernelsOf(products);
  for (const TestProduct &p : products) {
    SCOPED_TRACE(p.name);
    std::vector<std::vector<float>> buffers = buffersOf(p);
    runTiles(kernels, p, buffers, [&](int64_t b, int64_t r, int64_t c, int64_t at) {
      ASSERT_EQ(sumsOf(p, buffers, b, r, c).compare(buffers[4][at], p.depth, buffers[2][c], buffers[3][at]), "")
          << r << ", " << c;
    });
  }
}

// An infinity reaches its row alone: what is beyond the edges counts as zeros on both sides.
TEST(MmaTiles, KeepInfinitiesInTheirRow) {
  TileKernels kernels({{"edge",
                        {"20x69xf32", "69x18xf32"},
                        "    %0 = nn.matmul %a0, %a1 : tensor<20x69xf32>, tensor<69x18xf32>",
                        "%0",
                        "20x18xf32",
                        true}});
  std::vector<std::vector<float>> buffers(3);
  buffers[0].assign(20 * 69, 1.0f), buffers[1].assign(69 * 18, 2.0f), buffers[2].assign(20 * 18, 0.0f);
  buffers[0].back() = INFINITY;
  kernels.run("edge", buffers, 0, uint32_t(kernels.kernel("edge").tiles));
  for (size_t i = 0; i < buffers[2].size(); ++i) EXPECT_EQ(buffers[2][i], i / 18 == 19 ? INFINITY : 138.0f) << i;
}

// Small products are those of f32, and so is what is not allowed to be rounded.
TEST(MmaTiles, AreOfTensorCoresWhereTheyAreLarge) {
  std::vector<TestProduct> products = productsInTf32({{"square", 1, 33, 33, 40, false, false},
                                                      {"row", 1, 8, 256, 64, false, false},
                                                      {"small", 1, 16, 16, 64, false, false},
                                                      {"strict", 1, 33, 33, 40, false, false}});
  products.back().tf32 = false;
  TileKernels kernels = kernelsOf(products);
  for (const TestProduct &p : products)
    EXPECT_EQ(kernels.kernel(p.name).launch.sharedBytes > 0, p.name == std::string("square")) << p.name;
}

TEST(MmaTiles, TakeFewSectorsAndNoBankTwice) {
  // Both sides in both layouts.
  const std::vector<TestProduct> products = productsInTf32({
      {"largest0", 1, 2048, 1024, 48, false, true},
      {"largest1", 1, 2048, 1024, 48, true, false},
      {"large0", 1, 512, 1024, 64, false, true},
      {"large1", 1, 512, 1024, 64, true, false},
      {"medium0", 1, 256, 256, 64, false, true},
      {"medium1", 1, 256, 256, 64, true, false},
      {"rows0", 1, 16, 256, 64, false, true},
      {"rows1", 1, 16, 256, 64, true, false},
      {"columns0", 1, 256, 16, 64, false, true},
      {"columns1", 1, 256, 16, 64, true, false},
  });
  TileKernels kernels = kernelsOf(products);
  for (const TestProduct &p : products) {
    std::vector<std::vector<float>> buffers = buffersOf(p);
    TrafficRatios ratios = ratiosOf(kernels.run(p.name, buffers, 1, 1));
    EXPECT_LE(ratios.global, 1.1) << p.name;
    EXPECT_LE(ratios.shared, 1.0) << p.name;
  }
}
