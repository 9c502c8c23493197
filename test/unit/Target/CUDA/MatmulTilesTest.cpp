// Products by tiles, of each size of tile: the bits of one chain of multiply-adds for each element, whatever the tile,
// and memory traffic close to the least.
#include "test/unit/Target/CUDA/TileKernels.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace sprig;

namespace {
struct Product {
  const char *name;
  int64_t batch, rows, columns, depth;
  bool transposedLeft, transposedRight;

  int64_t leftAt(int64_t b, int64_t r, int64_t k) const {
    return b * rows * depth + (transposedLeft ? k * rows + r : r * depth + k);
  }
  // All products share the right side.
  int64_t rightAt(int64_t k, int64_t c) const { return transposedRight ? c * depth + k : k * columns + c; }
};

std::string shape(int64_t batch, int64_t a, int64_t b) {
  return (batch > 1 ? std::to_string(batch) + "x" : "") + std::to_string(a) + "x" + std::to_string(b) + "xf32";
}

// relu(x y + bias), and what follows it of a residual of the result's shape.
TileCase caseOf(const Product &p) {
  std::string left = p.transposedLeft ? shape(p.batch, p.depth, p.rows) : shape(p.batch, p.rows, p.depth);
  std::string right = p.transposedRight ? shape(1, p.columns, p.depth) : shape(1, p.depth, p.columns);
  std::string bias = std::to_string(p.columns) + "xf32", type = shape(p.batch, p.rows, p.columns);
  std::string attributes = p.transposedLeft && p.transposedRight ? " {transpose_lhs, transpose_rhs}"
                           : p.transposedLeft                    ? " {transpose_lhs}"
                           : p.transposedRight                   ? " {transpose_rhs}"
                                                                 : "";
  auto t = [](const std::string &text) { return "tensor<" + text + ">"; };
  return {p.name,
          {left, right, bias, type},
          "    %0 = nn.matmul %a0, %a1" + attributes + " : " + t(left) + ", " + t(right) +
              "\n    %1 = nn.add %0, %a2 : " + t(type) + ", " + t(bias) + "\n    %2 = nn.relu %1 : " + t(type) +
              "\n    %3 = nn.sub %2, %a3 : " + t(type) + ", " + t(type),
          "%3",
          type};
}

// From the ends of the result; sums of more than 1024 products are chains of 512.
float expected(const Product &p, const std::vector<std::vector<float>> &x, int64_t b, int64_t r, int64_t c) {
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

std::vector<std::vector<float>> buffersOf(const Product &p) {
  std::mt19937 random(3);
  std::vector<std::vector<float>> buffers;
  for (int64_t size : {p.batch * p.rows * p.depth, p.depth * p.columns, p.columns, p.batch * p.rows * p.columns})
    for (float &value : buffers.emplace_back(size)) value = std::uniform_real_distribution<float>(-1, 1)(random);
  buffers.emplace_back(p.batch * p.rows * p.columns, 0.0f);
  return buffers;
}

TileKernels kernelsOf(const std::vector<Product> &products) {
  std::vector<TileCase> cases;
  for (const Product &product : products) cases.push_back(caseOf(product));
  return TileKernels(cases);
}
} // namespace

TEST(MatmulTiles, HaveTheBitsOfOneChain) {
  const std::vector<Product> products = {
      {"largest", 1, 2044, 1028, 21, false, true}, {"large", 1, 509, 1001, 23, false, false},
      {"medium", 3, 131, 250, 20, true, true},     {"small", 1, 37, 46, 1043, true, false},
      {"row", 1, 1, 43, 700, false, true},         {"rows", 1, 5, 20, 1200, false, false},
      {"columns", 1, 90, 3, 130, false, true},     {"batch", 3, 17, 20, 30, true, false},
  };
  TileKernels kernels = kernelsOf(products);
  for (const Product &p : products) {
    SCOPED_TRACE(p.name);
    std::vector<std::vector<float>> buffers = buffersOf(p);
    // Of many tiles the first and the last two.
    uint32_t tiles = uint32_t(kernels.kernel(p.name).tiles);
    std::vector<std::pair<uint32_t, uint32_t>> runs = {{0, tiles}};
    if (tiles > 32) runs = {{0, 1}, {tiles - 2, 2}};
    for (auto [first, count] : runs) kernels.run(p.name, buffers, first, count);
    int64_t computed = 0;
    for (int64_t b = 0, at = 0; b < p.batch; ++b)
      for (int64_t r = 0; r < p.rows; ++r)
        for (int64_t c = 0; c < p.columns; ++c, ++at) {
          if (buffers[4][at] == 0) continue; // not run: no result is zero
          ++computed;
          float want = expected(p, buffers, b, r, c);
          ASSERT_EQ(std::memcmp(&buffers[4][at], &want, sizeof want), 0) << r << ", " << c << ": " << buffers[4][at];
        }
    if (tiles <= 32)
      EXPECT_EQ(computed, p.batch * p.rows * p.columns);
    else
      EXPECT_GT(computed, 256);
  }
}

// Padding of steps that are not there changes not even the sign of a zero.
TEST(MatmulTiles, KeepTheSignOfZero) {
  Product p{"zeros", 1, 16, 16, 69, false, true};
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
  const std::vector<Product> products = {
      {"largest0", 1, 2048, 1024, 16, false, true}, {"largest1", 1, 2048, 1024, 16, true, false},
      {"large0", 1, 512, 1024, 32, false, true},    {"large1", 1, 512, 1024, 32, true, false},
      {"medium0", 1, 256, 512, 64, false, true},    {"medium1", 1, 256, 512, 64, true, false},
      {"small0", 1, 64, 256, 128, false, true},     {"small1", 1, 64, 256, 128, true, false},
      {"row0", 1, 1, 256, 512, false, true},        {"row1", 1, 8, 256, 512, true, false},
  };
  TileKernels kernels = kernelsOf(products);
  for (const Product &p : products) {
    std::vector<std::vector<float>> buffers = buffersOf(p);
    TrafficRatios ratios = ratiosOf(kernels.run(p.name, buffers, 1, 1));
    EXPECT_LE(ratios.global, 1.1) << p.name;
    EXPECT_LE(ratios.shared, 1.0) << p.name;
  }
}
