// sprig bench sampler: which samples each of several ranks gets, by epoch and seed, beside a sampler that is never told
// of the epoch and one that pads.
#include "sprig/data/loader.h"
#include "tools/sprig/bench/Experiment.h"
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>

namespace sprig::cli {
namespace {

constexpr int64_t kSamples = 1001, kSampledBatch = 32, kShown = 8;
constexpr int64_t kEpochs = 4;
constexpr uint64_t kSamplerSeed = 42;

using Order = std::vector<int64_t>;

data::Loader loaderOf(int64_t samples, int ranks, int rank, uint64_t seed, int workers = 0) {
  data::Dataset set(samples, [](int64_t index) { return data::Sample{data::Field(index)}; });
  return data::Loader(
      set, {.batch = kSampledBatch, .shuffle = seed, .workers = workers, .prefetch = 2, .rank = rank, .ranks = ranks});
}

void append(Order &order, const data::Batch &batch) {
  order.insert(order.end(), batch.indices().begin(), batch.indices().end());
}

// A rank's samples of the next epoch.
Order epochOf(data::Loader &loader) {
  Order order;
  for (const data::Batch &batch : loader.fields<1>()) append(order, batch);
  return order;
}

struct Shares {
  std::vector<Order> ofRanks;
  Order together;        ///< step by step, one rank's share after the other
  int64_t mostApart = 0; ///< the largest difference between two shares of a step
};

Shares sharesDrawn(int64_t samples, int ranks, uint64_t seed, int64_t epoch) {
  std::vector<std::vector<Order>> batches(static_cast<size_t>(ranks));
  Shares shares;
  shares.ofRanks.resize(size_t(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    data::Loader loader = loaderOf(samples, ranks, rank, seed);
    loader.seek(epoch);
    for (const data::Batch &batch : loader.fields<1>()) {
      append(batches[size_t(rank)].emplace_back(), batch);
      append(shares.ofRanks[size_t(rank)], batch);
    }
  }
  for (size_t step = 0; step < batches[0].size(); ++step) {
    size_t least = SIZE_MAX, most = 0;
    for (auto &own : batches) {
      const Order &share = own.at(step);
      shares.together.insert(shares.together.end(), share.begin(), share.end());
      least = std::min(least, share.size());
      most = std::max(most, share.size());
    }
    shares.mostApart = std::max(shares.mostApart, int64_t(most - least));
  }
  return shares;
}

std::string beginOf(const Order &order) {
  std::string text;
  for (int64_t i = 0; i < std::min<int64_t>(kShown, int64_t(order.size())); ++i)
    text += (i ? " " : "") + std::to_string(order[size_t(i)]);
  return text;
}

bool isEverySampleOnce(Order order, int64_t samples) {
  std::sort(order.begin(), order.end());
  Order all(size_t(samples), 0);
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

void showShares(int64_t samples, int most, ExperimentReport &report) {
  report.table("shares", {"ranks", "rank", "epoch", "samples", "first ones", "padded to", "twice"});
  bool isOnce = true, isLikeOne = true, isEven = true;
  for (int ranks = 1; ranks <= most; ++ranks)
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      Shares shares = sharesDrawn(samples, ranks, kSamplerSeed, epoch);
      isOnce &= isEverySampleOnce(shares.together, samples);
      isLikeOne &= shares.together == sharesDrawn(samples, 1, kSamplerSeed, epoch).together;
      isEven &= shares.mostApart <= 1;
      // What a sampler that gives all ranks as many would take.
      int64_t padded = (samples + ranks - 1) / ranks;
      for (int rank = 0; rank < ranks; ++rank) {
        const Order &own = shares.ofRanks[size_t(rank)];
        if (ranks == most)
          report.row({ranks, rank, epoch, int64_t(own.size()), beginOf(own), padded, padded * ranks - samples});
      }
    }
  std::string ranks = "1 to " + std::to_string(most) + " ranks, " + std::to_string(samples) + " samples";
  report.verdict("the ranks' shares of an epoch are every sample once", ranks, isOnce);
  report.verdict("a step of all ranks is the samples of one rank's step, in its order", ranks, isLikeOne);
  report.verdict("shares differ by one sample a step at most", ranks, isEven);
}

// Of all ranks together.
void showEpochs(int64_t samples, ExperimentReport &report) {
  report.table("epochs", {"seed", "epoch", "first samples", "without the epoch"});
  std::set<Order> orders, frozen, ofOtherSeed;
  bool isRepeated = true;
  for (uint64_t seed : {kSamplerSeed, kSamplerSeed + 1}) {
    data::Loader goesOn = loaderOf(samples, 1, 0, seed), stays = loaderOf(samples, 1, 0, seed),
                 again = loaderOf(samples, 1, 0, seed);
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
      Order order = epochOf(goesOn);
      // A sampler that nobody tells of the epoch is in the first one forever.
      stays.seek(0);
      Order same = epochOf(stays);
      isRepeated &= order == epochOf(again);
      report.row({seed, epoch, beginOf(order), beginOf(same)});
      (seed == kSamplerSeed ? orders : ofOtherSeed).insert(order);
      if (seed == kSamplerSeed) frozen.insert(same);
    }
  }
  std::string epochs = " in " + std::to_string(kEpochs) + " epochs";
  report.verdict("every epoch has an order of its own, and nobody says which it is",
                 std::to_string(orders.size()) + " orders" + epochs, int64_t(orders.size()) == kEpochs);
  report.verdict("without the epoch all have that of the first", std::to_string(frozen.size()) + " order" + epochs,
                 frozen.size() == 1);
  report.verdict("a seed gives the same orders again", isRepeated ? "all alike" : "some differ", isRepeated);
  bool isApart = std::none_of(orders.begin(), orders.end(), [&](auto &order) { return ofOtherSeed.count(order); });
  report.verdict("another seed gives others", isApart ? "none in common" : "some in common", isApart);
}

void showWorkers(int64_t samples, int ranks, ExperimentReport &report) {
  data::Loader alone = loaderOf(samples, ranks, 0, kSamplerSeed);
  Order expected = epochOf(alone);
  bool isSame = true;
  for (int workers : {1, 3}) {
    data::Loader loader = loaderOf(samples, ranks, 0, kSamplerSeed, workers);
    isSame &= epochOf(loader) == expected;
  }
  report.verdict("orders do not depend on workers", "0, 1 and 3", isSame);
  data::Loader late = loaderOf(samples, ranks, 0, kSamplerSeed);
  int64_t half = late.size() / 2;
  late.seek(0, half);
  Order rest = epochOf(late);
  bool isRest = rest.size() < expected.size() && std::equal(rest.rbegin(), rest.rend(), expected.rbegin());
  report.verdict("from the middle of an epoch its rest comes",
                 "from batch " + std::to_string(half) + " of " + std::to_string(late.size()),
                 isRest || late.size() == 1);
}

} // namespace

void benchSampler(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t samples = options.n ? options.n : kSamples;
  int ranks = options.ranks ? options.ranks : 4;
  showShares(samples, ranks, report);
  showEpochs(samples, report);
  showWorkers(samples, ranks, report);
  report.note("batches of " + std::to_string(kSampledBatch) +
              " of all ranks together; padded: what as many samples for each rank would take, and how many of them "
              "come twice");
}

} // namespace sprig::cli
