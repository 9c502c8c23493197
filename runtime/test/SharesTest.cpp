// Shares of samples by weights: nothing is lost, parts follow the weights, equal weights are even shares.
#include "runtime/collective/Shares.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

namespace sprig::rt::collective {
namespace {

using Sizes = std::vector<int64_t>;

Sizes sizesOf(int64_t samples, const Sizes &weights) {
  Sizes sizes;
  for (size_t rank = 0; rank < weights.size(); ++rank)
    sizes.push_back(shareOf(samples, uint32_t(weights.size()), weights, uint32_t(rank)).size());
  return sizes;
}

TEST(Shares, FollowTheWeights) {
  EXPECT_EQ(sizesOf(6, {2, 1}), (Sizes{4, 2}));
  EXPECT_EQ(sizesOf(6, {1, 2}), (Sizes{2, 4}));
  EXPECT_EQ(sizesOf(5, {2, 1}), (Sizes{3, 2})); // 3.3 and 1.7
  EXPECT_EQ(sizesOf(1, {1, 3, 3}), (Sizes{0, 1, 0}));
  EXPECT_EQ(sizesOf(0, {2, 1}), (Sizes{0, 0}));
  EXPECT_EQ(sizesOf(10, {16, 1}), (Sizes{9, 1}));
  int64_t many = int64_t(1) << 62;
  EXPECT_EQ(sizesOf(many, {3, 1}), (Sizes{many / 4 * 3, many / 4}));
}

TEST(Shares, AreNeighboursThatMakeUpAll) {
  for (const Sizes &weights : {Sizes{1}, {2, 1}, {1, 7, 3}, {5, 5, 1, 9, 2}, {1, 1 << 19}})
    for (int64_t samples : {0, 1, 2, 3, 7, 64, 1009}) {
      int64_t at = 0, sum = std::accumulate(weights.begin(), weights.end(), int64_t(0));
      for (size_t rank = 0; rank < weights.size(); ++rank) {
        Range share = shareOf(samples, uint32_t(weights.size()), weights, uint32_t(rank));
        EXPECT_EQ(share.begin, at);
        // Less than one beside what is proportional.
        EXPECT_LT(std::llabs(share.size() * sum - samples * weights[rank]), sum) << samples << " rank " << rank;
        at = share.end;
      }
      EXPECT_EQ(at, samples);
    }
}

TEST(Shares, OfEqualWeightsAreEven) {
  for (int64_t samples = 0; samples < 20; ++samples)
    for (uint32_t ranks = 1; ranks < 9; ++ranks)
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        Range even = pieceOf(samples, ranks, rank);
        for (const Sizes &weights : {Sizes(), Sizes(ranks, 3)}) {
          Range share = shareOf(samples, ranks, weights, rank);
          EXPECT_EQ(share.begin, even.begin);
          EXPECT_EQ(share.end, even.end);
        }
      }
}

} // namespace
} // namespace sprig::rt::collective
