// Transposes by tiles: values of every kind of shape, and memory traffic close to the least.
#include "test/unit/Target/CUDA/TileKernels.h"
#include <gtest/gtest.h>

using namespace sprig;

namespace {
struct Turned {
  const char *name;
  std::vector<int64_t> shape, permutation;
  double sectors; // over the fewest

  std::vector<int64_t> result() const {
    std::vector<int64_t> sizes;
    for (int64_t dim : permutation) sizes.push_back(shape[dim]);
    return sizes;
  }
};

std::string join(const std::vector<int64_t> &values, const char *between) {
  std::string text;
  for (int64_t value : values) text += (text.empty() ? "" : between) + std::to_string(value);
  return text;
}
} // namespace

TEST(TransposeTiles, MoveEachElementInFewSectors) {
  const std::vector<Turned> transposes = {
      {"matrix", {64, 96}, {1, 0}, 1.0},
      {"edges", {65, 47}, {1, 0}, 1.6},
      {"batch", {3, 40, 64}, {0, 2, 1}, 1.0},
      {"outer", {5, 3, 32, 32}, {3, 0, 1, 2}, 1.0},
      {"few", {2, 3, 256}, {0, 2, 1}, 1.4},
      {"many_of_few", {2, 700, 3}, {0, 2, 1}, 1.3},
      {"filter", {64, 16, 3, 3}, {2, 3, 1, 0}, 1.2},
      {"filter_of_few", {16, 64, 5, 1}, {2, 3, 1, 0}, 1.2},
      {"ones", {1, 33, 1, 35}, {3, 2, 0, 1}, 1.6},
      {"all", {4, 5, 6, 7, 8}, {4, 2, 0, 3, 1}, 2.5},
  };
  std::vector<TileCase> cases;
  for (const Turned &t : transposes) {
    std::string in = join(t.shape, "x") + "xf32", out = join(t.result(), "x") + "xf32";
    cases.push_back({t.name,
                     {in},
                     "    %0 = nn.transpose %a0 [" + join(t.permutation, ", ") + "] : tensor<" + in + ">",
                     "%0",
                     out});
  }
  TileKernels kernels(cases);
  for (const Turned &t : transposes) {
    SCOPED_TRACE(t.name);
    std::vector<int64_t> sizes = t.result(), strides(t.shape.size());
    int64_t count = 1;
    for (size_t d = strides.size(); d-- > 0; count *= t.shape[d]) strides[d] = count;
    std::vector<std::vector<float>> buffers = {std::vector<float>(count), std::vector<float>(count)};
    for (int64_t i = 0; i < count; ++i) buffers[0][i] = float(i + 1);
    TrafficRatios ratios = ratiosOf(kernels.run(t.name, buffers, 0, uint32_t(kernels.kernel(t.name).tiles)));
    EXPECT_LE(ratios.global, t.sectors);
    EXPECT_LE(ratios.shared, 1.1);
    for (int64_t i = 0; i < count; ++i) {
      int64_t from = 0, rest = i;
      for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) from += rest % sizes[d] * strides[t.permutation[d]];
      ASSERT_EQ(buffers[1][i], float(from + 1)) << i;
    }
  }
}
