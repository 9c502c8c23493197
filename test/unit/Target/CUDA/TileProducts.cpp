#include "test/unit/Target/CUDA/TileProducts.h"
#include "gtest/gtest.h"
#include <random>

using namespace sprig;

static std::string shape(int64_t batch, int64_t a, int64_t b) {
  return (batch > 1 ? std::to_string(batch) + "x" : "") + std::to_string(a) + "x" + std::to_string(b) + "xf32";
}

TileCase sprig::caseOf(const TestProduct &p) {
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
          type,
          p.tf32};
}

std::vector<std::vector<float>> sprig::buffersOf(const TestProduct &p) {
  std::mt19937 random(3);
  std::vector<std::vector<float>> buffers;
  for (int64_t size : {p.batch * p.rows * p.depth, p.depth * p.columns, p.columns, p.batch * p.rows * p.columns})
    for (float &value : buffers.emplace_back(size)) value = std::uniform_real_distribution<float>(-1, 1)(random);
  buffers.emplace_back(p.batch * p.rows * p.columns, 0.0f);
  return buffers;
}

TileKernels sprig::kernelsOf(const std::vector<TestProduct> &products) {
  std::vector<TileCase> cases;
  for (const TestProduct &product : products) cases.push_back(caseOf(product));
  return TileKernels(cases);
}

void sprig::runTiles(TileKernels &kernels, const TestProduct &p, std::vector<std::vector<float>> &buffers,
                     const std::function<void(int64_t, int64_t, int64_t, int64_t)> &check) {
  constexpr int64_t kMany = 32;
  int64_t tiles = kernels.kernel(p.name).tiles;
  std::vector<std::pair<int64_t, int64_t>> runs = {{0, tiles}};
  if (tiles > kMany) runs = {{0, 1}, {tiles - 2, 2}};
  for (auto [first, count] : runs) kernels.run(p.name, buffers, uint32_t(first), uint32_t(count));
  int64_t down = 1, across = 1;
  if (tiles > kMany) {
    ASSERT_GT(p.tile, 0) << p.name << " has " << tiles << " tiles";
    down = (p.rows + p.tile - 1) / p.tile, across = (p.columns + p.tile - 1) / p.tile;
    ASSERT_EQ(tiles, p.batch * down * across) << "tiles of another size";
  }
  for (int64_t b = 0, at = 0; b < p.batch; ++b)
    for (int64_t r = 0; r < p.rows; ++r)
      for (int64_t c = 0; c < p.columns; ++c, ++at) {
        int64_t tile = tiles > kMany ? (b * down + r / p.tile) * across + c / p.tile : 0;
        if (tile == 0 || tile + 2 >= tiles)
          ASSERT_NO_FATAL_FAILURE(check(b, r, c, at));
        else
          ASSERT_EQ(buffers[4][at], 0) << r << ", " << c << " is of a tile that was not run";
      }
}
