#include "runtime/collective/Shares.h"

#include <algorithm>
#include <numeric>

namespace sprig::rt::collective {

Range shareOf(int64_t samples, uint32_t ranks, const std::vector<int64_t> &weights, uint32_t rank) {
  if (weights.empty()) return pieceOf(samples, ranks, rank);
  int64_t sum = std::accumulate(weights.begin(), weights.end(), int64_t(0)), left = samples;
  std::vector<int64_t> sizes, rests;
  for (int64_t weight : weights) {
    __int128 product = __int128(samples) * weight;
    sizes.push_back(int64_t(product / sum));
    rests.push_back(int64_t(product % sum));
    left -= sizes.back();
  }
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rests[a] > rests[b]; });
  for (int64_t i = 0; i < left; ++i) ++sizes[order[size_t(i)]]; // fewer than there are ranks
  int64_t begin = std::accumulate(sizes.begin(), sizes.begin() + rank, int64_t(0));
  return {begin, begin + sizes[rank]};
}

} // namespace sprig::rt::collective
