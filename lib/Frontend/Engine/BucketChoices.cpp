#include "lib/Frontend/Engine/BucketChoices.h"
#include "lib/Frontend/Engine/Collective.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "sprig/error.h"
#include "sprig/rt/sprig_rt.h"
#include <algorithm>

namespace sprig::frontend {

namespace {

using rt::collective::Kind;

/// Fewer bytes go in one piece whatever is chosen, so that nobody has to meet for it.
constexpr int64_t kLeastBytes = int64_t(64) << 10;

/// Of a graph of all ranks' samples the sums are made later, of what is marked.
template <typename F> void forEachSum(const Variant &variant, F body) {
  for (const GraphNode &node : variant.graph.nodes)
    if (variant.division ? find(node.attrs, "nn.gradients") != nullptr : node.op == &collectiveName(Kind::allReduce))
      body(node);
}

/// The same on all ranks.
int64_t summedBytes(const Variant &variant) {
  int64_t bytes = 0;
  forEachSum(variant, [&](const GraphNode &sum) {
    for (uint32_t i = 0; i < sum.resultCount; ++i) bytes += variant.graph.types[sum.firstResult + i].bytes();
  });
  return bytes;
}

/// As what they sum is made: by the newest of their operands. Values are numbered in the order of their operations. Who
/// divides a graph knows the order.
std::vector<int64_t> orderOf(const Variant &variant) {
  std::vector<int64_t> order;
  if (variant.division) return order;
  forEachSum(variant, [&](const GraphNode &sum) {
    order.push_back(*std::max_element(sum.operands.begin(), sum.operands.end()));
  });
  return order;
}

template <typename T>
void allReduce(const RankEnd &end, sprig_rt_dtype dtype, rt::comm::Reduction reduction, std::span<T> numbers,
               const Variant &variant) {
  end.order->settle();
  rt::comm::GroupTensor tensor{{numbers.data(), int64_t(numbers.size())}};
  rt::comm::Status status =
      end.group->run({Kind::allReduce, dtype, reduction}, {&tensor, 1}, variant.name + ": how sums go together");
  if (!status.isOk()) throw errorOf(status, variant.name, variant.source);
}

/// All ranks ask at the same place of their programs.
const machine::ExpectedLink &linkOf(RankEnd &end, const Variant &variant) {
  if (end.link) return *end.link;
  const DeviceId own[] = {variant.device};
  int threads = threadsOf(own);
  const bool isApart = end.group->hasCoreBeside(uint32_t(threads ? threads : sprig_rt_default_threads()));
  end.link = end.group->isWithinProcess()
                 ? machine::linkOfThreads(end.group->ranks(), isApart)
                 : machine::measureLink(
                       [&](std::span<float> values) {
                         allReduce(end, SPRIG_RT_F32, rt::comm::Reduction::max, values, variant);
                       },
                       isApart);
  return *end.link;
}

} // namespace

RankBuckets BucketChoices::choose(const Variant &variant, int64_t bytes, int64_t times) const {
  const bool isFirst = variant.ranks->group->rank() == 0;
  RankBuckets chosen;
  chosen.link = linkOf(*variant.ranks, variant);
  chosen.order = orderOf(variant);
  if (bytes) chosen.bytes = bytes;
  if (isFirst) {
    PlanRanks ranks = variant.planRanks(chosen);
    ranks.buckets.bytes = bytes;
    CompileOptions options = segmentOptions();
    options.factors = variant.factors;
    options.lanes = variant.programLanes;
    try {
      chosen = chooseBuckets(variant.graph, variant.slots, options, variant.name, ranks, times);
    } catch (const Error &) {
      // What cannot be compiled is said by the call itself.
    }
  }
  std::vector<int64_t> all = {chosen.bytes, chosen.turn.value_or(0)};
  all.insert(all.end(), chosen.order.begin(), chosen.order.end());
  if (!isFirst) std::fill(all.begin(), all.end(), 0);
  allReduce(*variant.ranks, SPRIG_RT_I64, rt::comm::Reduction::sum, std::span(all), variant);
  chosen.bytes = all[0];
  chosen.turn = times > 1 ? std::optional(all[1]) : std::nullopt;
  chosen.order.assign(all.begin() + 2, all.end());
  return chosen;
}

RankBuckets BucketChoices::of(const Variant &variant, int64_t bytes, int64_t times) {
  if (!variant.ranks) return {};
  std::erase_if(groups, [](const auto &each) { return each.first.expired(); });
  std::map<int64_t, RankBuckets> &made = groups[variant.ranks];
  if (auto known = made.find(times); known != made.end()) return known->second;
  RankBuckets chosen;
  if (bytes) chosen.bytes = bytes;
  const bool isOpen = bytes == 0 || times > 1;
  // Single calls take what was chosen for several.
  if (times == 1 && !made.empty())
    chosen = made.begin()->second;
  else if (isOpen && variant.devices.empty() && summedBytes(variant) >= kLeastBytes)
    chosen = choose(variant, bytes, times);
  newest = chosen.bytes;
  return made[times] = chosen;
}

} // namespace sprig::frontend
