// Pools whose threads read the rows under their windows at once: values, and memory traffic close to the least.
#include "test/unit/Target/CUDA/TileKernels.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace sprig;

TEST(Pools, ReadRowsAtOnce) {
  struct Case {
    const char *name;
    bool isMaximum;
    int64_t images, height, width, window, stride;
    double sectors; // over the fewest
  };
  const std::vector<Case> pools = {{"pairs", true, 20, 24, 24, 2, 2, 1.0},   {"even", false, 7, 6, 10, 2, 2, 1.5},
                                   {"triples", true, 9, 15, 32, 3, 2, 1.5},  {"neighbours", false, 5, 9, 12, 5, 1, 1.5},
                                   {"windows", true, 30, 8, 8, 4, 4, 1.0},   {"odd", true, 3, 11, 13, 3, 2, 4.0},
                                   {"ends_early", true, 6, 9, 20, 3, 3, 3.0}};
  std::vector<TileCase> cases;
  auto shape = [](int64_t n, int64_t h, int64_t w) {
    return "1x" + std::to_string(n) + "x" + std::to_string(h) + "x" + std::to_string(w) + "xf32";
  };
  auto size = [](const Case &c, int64_t in) { return (in - c.window) / c.stride + 1; };
  for (const Case &c : pools) {
    std::string in = shape(c.images, c.height, c.width);
    std::string out = shape(c.images, size(c, c.height), size(c, c.width)), tensor = "tensor<" + out + ">";
    auto pair = [](int64_t value) {
      return "array<i64: " + std::to_string(value) + ", " + std::to_string(value) + ">";
    };
    cases.push_back({c.name,
                     {in, out},
                     std::string("    %0 = nn.pool ") + (c.isMaximum ? "max" : "sum") +
                         " %a0 {window = " + pair(c.window) + ", strides = " + pair(c.stride) +
                         ", dilations = " + pair(1) + ", padding = array<i64: 0, 0, 0, 0>} : tensor<" + in +
                         ">\n    %1 = nn.sub %0, %a1 : " + tensor + ", " + tensor,
                     "%1",
                     out});
  }
  TileKernels kernels(cases);
  for (const Case &c : pools) {
    SCOPED_TRACE(c.name);
    int64_t rows = size(c, c.height), columns = size(c, c.width), count = c.images * rows * columns;
    std::vector<std::vector<float>> buffers = {std::vector<float>(c.images * c.height * c.width),
                                               std::vector<float>(count), std::vector<float>(count)};
    for (size_t i = 0; i < buffers[0].size(); ++i) buffers[0][i] = std::sin(float(i * i));
    for (int64_t i = 0; i < count; ++i) buffers[1][i] = float(i);
    buffers[0][buffers[0].size() / 2] = NAN;
    TrafficRatios ratios = ratiosOf(kernels.run(c.name, buffers, 0, uint32_t(kernels.kernel(c.name).tiles)));
    EXPECT_LE(ratios.global, c.sectors);
    for (int64_t i = 0; i < count; ++i) {
      float total = c.isMaximum ? -INFINITY : 0.0f;
      for (int64_t tap = 0; tap < c.window * c.window; ++tap) {
        int64_t y = i / columns % rows * c.stride + tap / c.window, x = i % columns * c.stride + tap % c.window;
        float value = buffers[0][(i / (rows * columns) * c.height + y) * c.width + x];
        if (!c.isMaximum)
          total += value;
        else if (std::isnan(value) || value > total)
          total = value;
      }
      float want = total - buffers[1][i];
      ASSERT_TRUE(std::memcmp(&buffers[2][i], &want, sizeof want) == 0 ||
                  (std::isnan(want) && std::isnan(buffers[2][i])))
          << i << ": " << buffers[2][i] << ", not " << want;
    }
  }
}
