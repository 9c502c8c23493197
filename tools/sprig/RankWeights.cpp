#include "tools/sprig/RankWeights.h"
#include "runtime/collective/Shares.h"
#include "sprig/error.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

namespace sprig::cli {

using rt::collective::kMostWeight;

namespace {

bool areSame(std::span<const int64_t> weights) {
  return std::all_of(weights.begin(), weights.end(), [&](int64_t weight) { return weight == weights.front(); });
}

} // namespace

std::vector<int64_t> parseWeights(const std::string &text, int ranks) {
  auto refuse = [&](const std::string &why) -> Error {
    return Error(ErrorKind::usage, "--shares " + text + ": " + why);
  };
  std::vector<int64_t> weights;
  std::string_view list = text;
  while (true) {
    std::string_view item = list.substr(0, list.find(','));
    int64_t weight = 0;
    auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), weight);
    if (error != std::errc() || end != item.data() + item.size() || weight < 1 || weight > kMostWeight)
      throw refuse("expected a number above 0 for each rank, as 2,1, found '" + std::string(item) + "'");
    weights.push_back(weight);
    if (item.size() == list.size()) break;
    list.remove_prefix(item.size() + 1);
  }
  if (weights.size() != size_t(ranks))
    throw refuse(std::to_string(weights.size()) + (weights.size() == 1 ? " share, and " : " shares, and ") +
                 std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"));
  if (int64_t sum = std::accumulate(weights.begin(), weights.end(), int64_t(0)); sum > kMostWeight)
    throw refuse("the sum is " + std::to_string(sum) + ", more than " + std::to_string(kMostWeight));
  if (areSame(weights)) weights.clear();
  return weights;
}

std::vector<int64_t> weightsOf(std::span<const double> speeds) {
  constexpr int64_t kMost = 16, kSame = 14;
  std::vector<int64_t> weights;
  double quickest = *std::max_element(speeds.begin(), speeds.end());
  for (double speed : speeds)
    weights.push_back(std::clamp(int64_t(std::lround(double(kMost) * speed / quickest)), int64_t(1), kMost));
  if (*std::min_element(weights.begin(), weights.end()) >= kSame) return {};
  int64_t divisor =
      std::accumulate(weights.begin(), weights.end(), int64_t(0), [](int64_t a, int64_t b) { return std::gcd(a, b); });
  for (int64_t &weight : weights) weight /= divisor;
  return weights;
}

std::vector<int> threadsByShares(int threads, const std::vector<int64_t> &weights, int ranks) {
  std::vector<int> own;
  for (int rank = 0; rank < ranks; ++rank) {
    int64_t share = weights.empty() ? threads / ranks
                                    : rt::collective::shareOf(threads, uint32_t(ranks), weights, uint32_t(rank)).size();
    own.push_back(int(std::max<int64_t>(1, share)));
  }
  return own;
}

std::string textOf(const std::vector<int64_t> &weights, int ranks) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank)
    text += (rank ? "," : "") + std::to_string(weights.empty() ? 1 : weights[size_t(rank)]);
  return text;
}

std::string sharesText(int64_t samples, const std::vector<int64_t> &weights, int ranks) {
  std::string text = "a batch of " + std::to_string(samples) + " is ";
  for (int rank = 0; rank < ranks; ++rank)
    text += (rank == 0           ? ""
             : rank + 1 == ranks ? " and "
                                 : ", ") +
            std::to_string(rt::collective::shareOf(samples, uint32_t(ranks), weights, uint32_t(rank)).size());
  return text + " samples";
}

} // namespace sprig::cli
