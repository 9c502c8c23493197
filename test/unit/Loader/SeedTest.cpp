// What manualSeed governs of loaders: the order and the transformations of those without a seed of their own.
#include "sprig/data.h"
#include "sprig/random.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace sprig;
using namespace sprig::data;

namespace {

Dataset numberedRows() {
  std::vector<float> x(100);
  std::vector<int64_t> y(100);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i), y[i] = int64_t(i);
  return TensorDataset{Field(x), Field(y)};
}

/// The indices of one epoch.
std::vector<int64_t> orderDrawn(Loader &loader) {
  std::vector<int64_t> order;
  for (const Batch &batch : loader) order.insert(order.end(), batch.indices().begin(), batch.indices().end());
  return order;
}

TEST(LoaderSeeds, ManualSeedGovernsTheOrderWithoutASeed) {
  auto orders = [](uint64_t seed, int workers = 2) {
    manualSeed(seed);
    Loader loader(numberedRows(), {.batch = 16, .shuffle = true, .workers = workers});
    std::vector<std::vector<int64_t>> epochs{orderDrawn(loader), orderDrawn(loader)};
    return epochs;
  };
  auto first = orders(1);
  EXPECT_NE(first[0], first[1]);
  EXPECT_FALSE(std::is_sorted(first[0].begin(), first[0].end()));
  EXPECT_EQ(orders(1), first);
  EXPECT_NE(orders(2), first);
  // Nor does it draw anything to measure how many workers it gains from.
  EXPECT_EQ(orders(1, kMeasuredWorkers), first);
  // The first loader's seed is manualSeed's; one that is made before it is governed too, and one more has another.
  Loader early(numberedRows(), {.batch = 16, .shuffle = true});
  manualSeed(1);
  Loader same(numberedRows(), {.batch = 16, .shuffle = 1}), free(numberedRows(), {.batch = 16, .shuffle = true}),
      other(numberedRows(), {.batch = 16, .shuffle = true});
  EXPECT_EQ(orderDrawn(same), first[0]);
  EXPECT_EQ(orderDrawn(free), first[0]);
  EXPECT_NE(orderDrawn(other), first[0]);
  uint64_t before = early.seed();
  manualSeed(2);
  EXPECT_NE(early.seed(), before);
  EXPECT_EQ(same.seed(), 1u);
  // A run that goes on needs the seed and the place alone, whatever was drawn in between.
  manualSeed(1);
  Loader resumed(numberedRows(), {.batch = 16, .shuffle = true});
  resumed.seek(1);
  EXPECT_EQ(orderDrawn(resumed), first[1]);
  EXPECT_EQ(randomState().draws, 0u);
}

TEST(LoaderSeeds, ManualSeedGovernsTransformationsWithoutASeed) {
  auto drawn = [](uint64_t seed, LoaderOptions options) {
    manualSeed(seed);
    options.transform = [](Sample s, Random &random) { return Sample{Field(float(random.uniform())), s.y()}; };
    std::vector<float> numbers;
    for (const Batch &batch : Loader(numberedRows(), options))
      for (int64_t i = 0; i < batch.size(); ++i) numbers.push_back(batch.host(0).item<float>(i));
    return numbers;
  };
  EXPECT_EQ(drawn(1, {}), drawn(1, {}));
  EXPECT_NE(drawn(1, {}), drawn(2, {}));
  EXPECT_EQ(drawn(1, {.shuffle = 7}), drawn(2, {.shuffle = 7}));
  EXPECT_EQ(drawn(1, {.seed = 7}), drawn(2, {.seed = 7}));
}

} // namespace
