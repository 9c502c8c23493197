// Convolutions, transposed ones and gradients of filters on tensor cores, of each tile, kind of filter and kind of
// slice: what docs/numerics.md says of tf32, and memory traffic close to the least.
#include "test/unit/Target/CUDA/TestConvs.h"
#include "test/unit/Target/CUDA/TestSums.h"
#include "llvm/Support/MathExtras.h"
#include <gtest/gtest.h>

using namespace sprig;

namespace {
std::vector<TestConv> inTf32(std::vector<TestConv> convolutions) {
  for (TestConv &each : convolutions) each.tf32 = true;
  return convolutions;
}

// Steps, as the channels of a tap are filled up.
int64_t mostSteps(const TestConv &c) { return c.window * c.window * int64_t(llvm::alignTo(c.channels / c.groups, 16)); }

bool isOfTensorCores(const TileKernels &kernels, const TestConv &c) {
  return kernels.kernel(c.name).launch.sharedBytes > 0;
}
} // namespace

TEST(ConvMmaTiles, KeepTheBoundOfTf32) {
  const std::vector<TestConv> convolutions = inTf32({
      // samples, channels, height, width; outputs, window, stride, dilation, low, high, groups
      {"largest", TestConv::rowsInside, 4, 16, 66, 65, 125, 3, 1, 1, 1, 1, 1, 128},
      {"large", TestConv::plain, 3, 8, 55, 54, 62, 5, 1, 1, 2, 2, 1, 64},
      {"padded", TestConv::plain, 1, 16, 9, 12, 32, 3, 1, 1, 1, 1, 1},
      {"strided", TestConv::rowsInside, 2, 9, 11, 12, 31, 3, 2, 1, 1, 2, 1},
      {"groups", TestConv::rowsInside, 1, 60, 7, 12, 64, 3, 1, 2, 2, 2, 2},
      {"few_channels", TestConv::rowsInside, 1, 3, 19, 18, 30, 5, 2, 1, 2, 2, 1},
      {"filled", TestConv::rowsInside, 1, 47, 8, 7, 30, 3, 1, 1, 1, 1, 1},
      {"filled_plain", TestConv::plain, 1, 47, 8, 7, 30, 3, 1, 1, 1, 1, 1},
      {"few_rows", TestConv::rowsInside, 1, 48, 10, 11, 12, 3, 1, 1, 1, 1, 1},
      {"few_columns", TestConv::rowsInside, 1, 48, 4, 3, 68, 3, 1, 1, 1, 1, 1},
      {"long", TestConv::rowsInside, 1, 128, 5, 5, 36, 3, 1, 1, 1, 1, 1},
      {"far", TestConv::plain, 1, 8, 4, 5, 17, 3, 1, 1, 9, 9, 1},
      {"pointwise", TestConv::plain, 3, 28, 4, 6, 32, 1, 1, 1, 0, 0, 1},
      {"pointwise_odd", TestConv::rowsInside, 2, 30, 5, 7, 33, 1, 1, 1, 0, 0, 1},
      {"pointwise_strided", TestConv::rowsInside, 2, 32, 7, 8, 33, 1, 2, 1, 0, 0, 1},
      {"inside", TestConv::rowsInside, 2, 5, 10, 10, 18, 3, 1, 1, 0, 0, 1},
      {"transposed", TestConv::transposed, 1, 16, 7, 8, 17, 3, 1, 1, 1, 1, 1},
      {"phases", TestConv::transposedRowsInside, 3, 18, 7, 6, 32, 3, 2, 1, 1, 0, 1},
      {"phases_of_taps", TestConv::transposedRowsInside, 2, 32, 7, 6, 32, 3, 2, 1, 1, 0, 1},
      {"empty_phases", TestConv::transposed, 2, 32, 6, 6, 32, 1, 2, 1, 0, 0, 1},
      {"far_phases", TestConv::transposed, 1, 32, 5, 5, 34, 4, 3, 2, 1, 0, 2},
  });
  TileKernels kernels = kernelsOf(convolutions);
  for (const TestConv &c : convolutions) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(isOfTensorCores(kernels, c));
    std::vector<std::vector<float>> buffers = buffersOf(c, fillRandom, fillRandom);
    constexpr int64_t kMany = 36;
    int64_t tiles = kernels.kernel(c.name).tiles, plane = c.outputSize(c.height) * c.outputSize(c.width), across = 1;
    if (tiles > kMany) {
      ASSERT_GT(c.tile, 0) << tiles << " tiles";
      across = (c.samples * plane + c.tile - 1) / c.tile;
      ASSERT_EQ(tiles, (c.outputs + c.tile - 1) / c.tile * across) << "tiles of another size";
      for (int64_t first : {int64_t(0), tiles - 1}) kernels.run(c.name, buffers, uint32_t(first), 1);
    } else {
      kernels.run(c.name, buffers, 0, uint32_t(tiles));
    }
    // Whether the block of a result has run.
    auto isRun = [&](int64_t at, int64_t channel) {
      if (tiles <= kMany) return true;
      int64_t column = at / (c.outputs * plane) * plane + at % plane;
      int64_t tile = channel / c.tile * across + column / c.tile;
      return tile == 0 || tile == tiles - 1;
    };
    TestSums sums;
    int64_t at = 0;
    std::string wrong;
    auto end = [&](int64_t channel) {
      float got = buffers[4][at], residual = buffers[3][at];
      TestSums own = std::exchange(sums, {});
      std::string here;
      if (isRun(at, channel))
        here = own.compare(got, mostSteps(c), buffers[2][channel], residual);
      else if (got != 0)
        here = "of a tile that was not run";
      if (wrong.empty() && !here.empty()) wrong = std::to_string(at) + ": " + here;
      ++at;
    };
    forProducts(c, buffers, [&](int64_t, float element, float weight) { sums.add(element, weight); }, end, isRun);
    EXPECT_EQ(wrong, "");
  }
}

TEST(ConvMmaTiles, GradientsOfFiltersKeepTheBound) {
  const std::vector<TestConv> convolutions = inTf32({
      {"gradient", TestConv::filterGradient, 2, 8, 9, 7, 17, 3, 1, 1, 1, 1, 1},
      {"strided", TestConv::filterGradient, 3, 12, 22, 41, 31, 3, 2, 1, 1, 1, 1},
      {"groups", TestConv::filterGradient, 2, 32, 6, 8, 64, 3, 1, 2, 2, 2, 2},
      {"pointwise", TestConv::filterGradient, 2, 32, 8, 8, 32, 1, 1, 1, 0, 0, 1},
      {"pointwise_odd", TestConv::filterGradient, 3, 33, 5, 7, 30, 1, 1, 1, 0, 0, 1},
      {"few_rows", TestConv::filterGradient, 2, 32, 6, 6, 12, 3, 1, 1, 1, 1, 1},
      {"parts", TestConv::filterGradientParts, 3, 5, 22, 20, 17, 3, 1, 1, 1, 1, 1},
      {"parts_pointwise", TestConv::filterGradientParts, 2, 20, 20, 28, 30, 1, 1, 1, 0, 0, 1},
  });
  TileKernels kernels = kernelsOf(convolutions);
  for (const TestConv &c : convolutions) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(isOfTensorCores(kernels, c));
    std::vector<std::vector<float>> buffers = buffersOf(c, fillRandom, fillRandom);
    kernels.run(c.name, buffers, 0, uint32_t(kernels.kernel(c.name).tiles));
    bool inParts = c.kind == TestConv::filterGradientParts;
    int64_t steps = c.samples * c.outputSize(c.height) * c.outputSize(c.width),
            parts = inParts ? (steps + 511) / 512 : 1;
    const std::vector<float> &result = buffers.back();
    std::vector<TestSums> sums(parts);
    size_t at = 0, count = result.size() / parts;
    std::string wrong;
    auto end = [&](int64_t) {
      for (int64_t part = 0; part < parts; ++part) {
        std::string here = std::exchange(sums[part], {}).compare(result[part * count + at], inParts ? 512 : steps);
        if (wrong.empty() && !here.empty()) wrong = std::to_string(at) + ": " + here;
      }
      ++at;
    };
    auto product = [&](int64_t step, float element, float weight) {
      sums[inParts ? step / 512 : 0].add(element, weight);
    };
    forProducts(c, buffers, product, end);
    EXPECT_EQ(wrong, "");
    EXPECT_EQ(at, count);
  }
}

// An infinity reaches the windows that see it alone: what is beyond edges, channels and taps counts as zeros on both
// sides.
TEST(ConvMmaTiles, KeepInfinitiesInTheirWindows) {
  const std::vector<TestConv> convolutions = inTf32({
      {"padded", TestConv::rowsInside, 2, 47, 5, 6, 30, 3, 1, 1, 1, 1, 1},
      {"steps", TestConv::plain, 2, 19, 10, 5, 30, 3, 1, 1, 0, 0, 1},
      {"groups", TestConv::plain, 1, 46, 8, 7, 64, 3, 1, 1, 1, 1, 2},
      {"phases", TestConv::transposedRowsInside, 2, 31, 5, 6, 30, 3, 2, 1, 1, 0, 1},
      {"phases_of_steps", TestConv::transposed, 2, 20, 5, 6, 30, 3, 2, 1, 1, 0, 1},
      {"turned", TestConv::transposedChannelsInside, 2, 44, 5, 6, 30, 3, 2, 1, 1, 0, 1},
  });
  TileKernels kernels = kernelsOf(convolutions);
  auto ones = [](std::vector<float> &values) { values.assign(values.size(), 1.0f); };
  for (const TestConv &c : convolutions) {
    ASSERT_TRUE(isOfTensorCores(kernels, c)) << c.name;
    std::vector<std::vector<float>> buffers = buffersOf(c, ones, ones);
    ones(buffers[2]), ones(buffers[3]);
    buffers[0].front() = buffers[0].back() = buffers[0][buffers[0].size() / 2] = INFINITY;
    kernels.run(c.name, buffers, 0, uint32_t(kernels.kernel(c.name).tiles));
    float sum = 0;
    size_t at = 0;
    auto end = [&](int64_t) {
      EXPECT_EQ(buffers[4][at], std::exchange(sum, 0.0f)) << c.name << ": " << at;
      ++at;
    };
    forProducts(c, buffers, [&](int64_t, float element, float) { sum += element; }, end);
  }
}

// An infinite weight reaches its own channel: as an infinity, and as NaN where its window sees padding.
TEST(ConvMmaTiles, CountPaddingAsZeros) {
  const TestConv c = inTf32({{"padding", TestConv::plain, 1, 16, 8, 8, 30, 3, 1, 1, 1, 1, 1}})[0];
  TileKernels kernels = kernelsOf({c});
  auto ones = [](std::vector<float> &values) { values.assign(values.size(), 1.0f); };
  std::vector<std::vector<float>> buffers = buffersOf(c, ones, ones);
  buffers[1][3 * 16 * 9] = INFINITY; // the upper left tap of channel 3
  kernels.run(c.name, buffers, 0, uint32_t(kernels.kernel(c.name).tiles));
  for (int64_t at = 0; at < int64_t(buffers[4].size()); ++at) {
    bool isAtEdge = at % 64 < 8 || at % 8 == 0;
    if (at / 64 != 3)
      EXPECT_TRUE(std::isfinite(buffers[4][at])) << at;
    else
      EXPECT_TRUE(isAtEdge ? std::isnan(buffers[4][at]) : buffers[4][at] == INFINITY) << at;
  }
}

// What is small, depthwise or not allowed to be rounded stays in f32.
TEST(ConvMmaTiles, AreOfTensorCoresWhereTheyAreLarge) {
  std::vector<TestConv> convolutions = inTf32({
      {"large", TestConv::plain, 1, 16, 9, 9, 30, 3, 1, 1, 1, 1, 1},
      {"few_filters", TestConv::plain, 1, 64, 32, 32, 8, 3, 1, 1, 1, 1, 1},
      {"few_positions", TestConv::plain, 1, 128, 4, 4, 64, 3, 1, 1, 0, 0, 1},
      {"depthwise", TestConv::plain, 1, 64, 16, 16, 64, 3, 1, 1, 1, 1, 64},
      {"strict", TestConv::plain, 1, 16, 9, 9, 30, 3, 1, 1, 1, 1, 1},
  });
  convolutions.back().tf32 = false;
  TileKernels kernels = kernelsOf(convolutions);
  for (const TestConv &c : convolutions)
    EXPECT_EQ(isOfTensorCores(kernels, c), c.name == std::string("large")) << c.name;
}

TEST(ConvMmaTiles, TakeFewSectorsAndNoBankTwice) {
  const std::vector<TestConv> convolutions = inTf32({
      {"largest", TestConv::rowsInside, 8, 32, 64, 64, 128, 3, 1, 1, 1, 1, 1},
      {"large", TestConv::rowsInside, 4, 32, 64, 64, 64, 3, 1, 1, 1, 1, 1},
      {"medium", TestConv::rowsInside, 1, 32, 32, 32, 32, 3, 1, 1, 0, 0, 1},
      {"odd", TestConv::rowsInside, 1, 32, 31, 31, 32, 3, 1, 1, 1, 1, 1},
      {"rows", TestConv::rowsInside, 1, 48, 16, 16, 16, 3, 1, 1, 1, 1, 1},
      {"columns", TestConv::rowsInside, 1, 32, 4, 4, 64, 3, 1, 1, 1, 1, 1},
      {"pointwise", TestConv::plain, 1, 64, 16, 16, 64, 1, 1, 1, 0, 0, 1},
      {"gradient", TestConv::filterGradient, 2, 32, 16, 16, 32, 3, 1, 1, 1, 1, 1},
      {"gradient_pointwise", TestConv::filterGradient, 2, 64, 16, 16, 64, 1, 1, 1, 0, 0, 1},
  });
  TileKernels kernels = kernelsOf(convolutions);
  for (const TestConv &c : convolutions) {
    ASSERT_TRUE(isOfTensorCores(kernels, c)) << c.name;
    std::vector<std::vector<float>> buffers = buffersOf(c, fillRandom, fillRandom);
    TrafficRatios ratios = ratiosOf(kernels.run(c.name, buffers, 0, 1));
    // Windows begin anywhere in a sector.
    EXPECT_LE(ratios.global, c.window == 1 ? 1.1 : 1.4) << c.name;
    EXPECT_LE(ratios.shared, 1.0) << c.name;
  }
}
