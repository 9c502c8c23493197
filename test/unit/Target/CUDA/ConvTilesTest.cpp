// Convolutions, transposed ones and gradients of filters by tiles: the bits of one chain for each element, which leaves
// out what is in the padding, and memory traffic close to the least.
#include "test/unit/Target/CUDA/TestConvs.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace sprig;

namespace {
// Sums in the order of nn's operations; those of gradients of more than 1024 products are chains of 512, each of which
// is a result of its own where there are parts.
std::vector<float> expected(const TestConv &c, const std::vector<std::vector<float>> &x) {
  int64_t steps = c.steps(), part = 0;
  bool inParts = c.kind == TestConv::filterGradientParts, isCut = c.isGradient() && (steps > 1024 || inParts);
  std::vector<float> result;
  std::vector<std::vector<float>> parts(inParts ? (steps + 511) / 512 : 0);
  float total = 0, chain = 0;
  auto endPart = [&] {
    if (inParts) parts[part].push_back(chain);
    total += std::exchange(chain, 0.0f);
    ++part;
  };
  auto product = [&](int64_t step, float element, float weight) {
    while (isCut && part < step / 512) endPart();
    chain = std::fma(element, weight, chain);
  };
  auto end = [&](int64_t channel) {
    while (isCut && part <= (steps - 1) / 512) endPart();
    float sum = isCut ? total : chain;
    total = chain = 0, part = 0;
    if (!c.isGradient()) {
      sum += x[2][channel];
      sum = (sum > 0 || std::isnan(sum) ? sum : 0.0f) - x[3][result.size()];
    }
    result.push_back(sum);
  };
  forProducts(c, x, product, end);
  if (!inParts) return result;
  result.clear();
  for (const std::vector<float> &each : parts) result.insert(result.end(), each.begin(), each.end());
  return result;
}

// Whatever is multiplied by an infinity by mistake becomes a NaN.
void fillSpecial(std::vector<float> &values) {
  fillRandom(values);
  for (size_t i = 0; i < values.size(); i += 23) values[i] = i % 2 ? INFINITY : -INFINITY;
  values[values.size() / 3] = NAN;
}

// With the NaN by which kernels mark what is in the padding.
void fillMarked(std::vector<float> &values) {
  fillRandom(values);
  const uint32_t mark = 0x7fedcba9;
  std::memcpy(&values[values.size() / 2], &mark, sizeof mark);
}

bool areSame(float a, float b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }
} // namespace

TEST(ConvTiles, HaveTheBitsOfOneChain) {
  const std::vector<TestConv> convolutions = {
      // samples, channels, height, width; outputs, window, stride, dilation, low, high, groups
      {"padded", TestConv::plain, 1, 16, 9, 12, 32, 3, 1, 1, 1, 1, 1},
      {"strided", TestConv::rowsInside, 2, 9, 11, 12, 31, 3, 2, 1, 1, 2, 1},
      {"groups", TestConv::rowsInside, 1, 24, 7, 12, 64, 3, 1, 2, 2, 2, 2},
      {"few_channels", TestConv::rowsInside, 1, 3, 19, 18, 30, 5, 2, 1, 2, 2, 1},
      {"far", TestConv::plain, 1, 8, 4, 5, 16, 3, 1, 1, 9, 9, 1},
      {"pointwise", TestConv::plain, 3, 28, 4, 6, 32, 1, 1, 1, 0, 0, 1},
      {"inside", TestConv::rowsInside, 2, 5, 10, 10, 16, 3, 1, 1, 0, 0, 1},
      {"transposed", TestConv::transposed, 1, 16, 7, 8, 16, 3, 1, 1, 1, 1, 1},
      {"phases", TestConv::transposedRowsInside, 3, 18, 7, 6, 32, 3, 2, 1, 1, 0, 1},
      {"turned", TestConv::transposedChannelsInside, 1, 32, 6, 8, 32, 3, 1, 1, 1, 1, 2},
      {"turned_phases", TestConv::transposedChannelsInside, 3, 28, 7, 6, 30, 3, 2, 1, 1, 0, 1},
      {"turned_odd", TestConv::transposedChannelsInside, 1, 9, 8, 10, 32, 3, 1, 1, 1, 1, 1},
      {"far_phases", TestConv::transposed, 2, 32, 6, 6, 32, 4, 3, 2, 1, 0, 2},
      {"gradient", TestConv::filterGradient, 2, 8, 9, 7, 16, 3, 1, 1, 1, 1, 1},
      {"strided_gradient", TestConv::filterGradient, 3, 12, 22, 41, 31, 3, 2, 1, 1, 1, 1},
      {"gradient_of_groups", TestConv::filterGradient, 2, 32, 6, 8, 64, 3, 1, 2, 2, 2, 2},
      {"pointwise_gradient", TestConv::filterGradient, 2, 32, 8, 8, 32, 1, 1, 1, 0, 0, 1},
      {"parts", TestConv::filterGradientParts, 3, 5, 22, 20, 17, 3, 1, 1, 1, 1, 1},
      {"parts_of_groups", TestConv::filterGradientParts, 2, 6, 33, 17, 6, 3, 1, 2, 2, 2, 6},
      {"one_part", TestConv::filterGradientParts, 1, 12, 9, 13, 16, 3, 2, 1, 1, 1, 1},
  };
  TileKernels kernels = kernelsOf(convolutions);
  for (const TestConv &c : convolutions) {
    SCOPED_TRACE(c.name);
    std::vector<std::vector<float>> buffers = buffersOf(c, fillMarked, fillSpecial);
    EXPECT_LT(kernels.kernel(c.name).launch.threads, 256u) << "a thread for each element";
    kernels.run(c.name, buffers, 0, uint32_t(kernels.kernel(c.name).tiles));
    std::vector<float> want = expected(c, buffers);
    ASSERT_EQ(want.size(), buffers.back().size());
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_TRUE(areSame(buffers.back()[i], want[i])) << i << ": " << buffers.back()[i] << ", not " << want[i];
  }
}

// What is in the padding changes not even the sign of a zero.
TEST(ConvTiles, KeepTheSignOfZero) {
  const TestConv c{"zeros", TestConv::filterGradient, 1, 16, 9, 9, 16, 3, 1, 1, 1, 1, 1};
  auto tiny = [](float value) { return [value](std::vector<float> &values) { values.assign(values.size(), value); }; };
  std::vector<std::vector<float>> buffers = buffersOf(c, tiny(1e-30f), tiny(-1e-30f));
  TileKernels kernels = kernelsOf({c});
  kernels.run(c.name, buffers, 0, uint32_t(kernels.kernel(c.name).tiles));
  for (float value : buffers.back()) EXPECT_TRUE(value == 0 && std::signbit(value));
}

TEST(ConvTiles, TakeFewSectorsAndBankWaves) {
  const std::vector<TestConv> convolutions = {
      {"pointwise", TestConv::plain, 1, 64, 16, 16, 64, 1, 1, 1, 0, 0, 1},
      {"large", TestConv::rowsInside, 4, 32, 64, 64, 64, 3, 1, 1, 1, 1, 1},
      {"small", TestConv::rowsInside, 1, 32, 32, 32, 16, 3, 1, 1, 0, 0, 1},
      {"odd", TestConv::rowsInside, 1, 32, 31, 31, 32, 3, 1, 1, 1, 1, 1},
      {"turned_large", TestConv::transposedChannelsInside, 4, 64, 64, 64, 32, 3, 1, 1, 1, 1, 1},
  };
  TileKernels kernels = kernelsOf(convolutions);
  for (const TestConv &c : convolutions) {
    std::vector<std::vector<float>> buffers = buffersOf(c, fillRandom, fillRandom);
    TrafficRatios ratios = ratiosOf(kernels.run(c.name, buffers, 1, 1));
    // Windows begin anywhere in a sector.
    EXPECT_LE(ratios.global, c.window == 1 ? 1.1 : 1.3) << c.name;
    // In a patch some meet: columns of neighbouring rows of an odd size, and the element that is read where a window
    // sees nothing.
    EXPECT_LE(ratios.shared, c.window == 1 ? 1.0 : 1.1) << c.name;
  }
}
