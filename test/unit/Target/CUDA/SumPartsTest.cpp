// Parts of long sums of products, added up in their order, and what follows them.
#include "test/unit/Target/CUDA/TileKernels.h"
#include <gtest/gtest.h>
#include <random>

using namespace sprig;

TEST(SumParts, HaveTheBitsOfTheirOrder) {
  struct Case {
    const char *name;
    int64_t parts, rows, columns; // and a scale for each column, so that elements know where they are; 1: for all
    int64_t scales;
  };
  // Fewer parts than are read at once, as many, and more; four elements of a thread, which one scale allows.
  const std::vector<Case> sums = {
      {"few", 3, 6, 25, 25}, {"some", 16, 5, 13, 1}, {"many", 75, 2, 43, 43}, {"wide", 19, 257, 256, 1}};
  auto shape = [](std::initializer_list<int64_t> sizes) {
    std::string text;
    for (int64_t size : sizes) text += std::to_string(size) + "x";
    return text + "f32";
  };
  std::vector<TileCase> cases;
  for (const Case &c : sums) {
    std::string parts = shape({c.parts, c.rows, c.columns}), scale = shape({c.scales}),
                type = shape({c.rows, c.columns});
    cases.push_back({c.name,
                     {parts, scale},
                     "    %0 = kernel.sum_parts %a0 : tensor<" + parts + ">\n    %1 = nn.mul %0, %a1 : tensor<" + type +
                         ">, tensor<" + scale + ">",
                     "%1",
                     type});
  }
  TileKernels kernels(cases);
  std::mt19937 random(5);
  for (const Case &c : sums) {
    SCOPED_TRACE(c.name);
    int64_t count = c.rows * c.columns;
    std::vector<std::vector<float>> buffers = {std::vector<float>(c.parts * count), std::vector<float>(c.scales),
                                               std::vector<float>(count)};
    for (std::vector<float> &buffer : buffers)
      for (float &value : buffer) value = std::uniform_real_distribution<float>(-1, 1)(random);
    TrafficRatios ratios = ratiosOf(kernels.run(c.name, buffers, 0, uint32_t(kernels.kernel(c.name).tiles)));
    EXPECT_LE(ratios.global, count % 8 ? 1.4 : 1.0);
    for (int64_t i = 0; i < count; ++i) {
      float sum = 0;
      for (int64_t part = 0; part < c.parts; ++part) sum += buffers[0][part * count + i];
      ASSERT_EQ(buffers[2][i], sum * buffers[1][i % c.scales]) << i;
    }
  }
}
