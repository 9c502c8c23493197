#include "tools/sprig/profile/RankTable.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>
#include <set>

namespace sprig::cli {
namespace {

using machine::RanksTime;
using machine::RankTimes;

constexpr size_t kMaxTableRanks = 8;

// The first ones, and those that have the most of something.
std::set<size_t> shownOf(const RanksTime &times) {
  std::set<size_t> shown;
  for (size_t rank = 0; rank < std::min(times.ranks.size(), kMaxTableRanks); ++rank) shown.insert(rank);
  for (double RankTimes::*part : {&RankTimes::computing, &RankTimes::exposed, &RankTimes::waiting, &RankTimes::idle}) {
    auto most = std::max_element(times.ranks.begin(), times.ranks.end(),
                                 [&](const RankTimes &a, const RankTimes &b) { return a.*part < b.*part; });
    if (most != times.ranks.end()) shown.insert(size_t(most - times.ranks.begin()));
  }
  if (times.straggler >= 0) shown.insert(size_t(times.straggler));
  return shown;
}

} // namespace

void printRankTimes(const RanksTime &times, const std::vector<std::string> &names) {
  Table table(
      {"rank", "device", "computes ms", "%", "communicates ms", "exposed ms", "%", "waits for others ms", "idle ms"});
  std::set<size_t> shown = shownOf(times);
  for (size_t rank : shown) {
    const RankTimes &each = times.ranks[rank];
    table.add({std::to_string(rank), names[rank], formatMilliseconds(each.computing),
               formatPercent(each.computing / times.ns), formatMilliseconds(each.communicating),
               formatMilliseconds(each.exposed), formatPercent(each.exposed / times.ns),
               formatMilliseconds(each.waiting), formatMilliseconds(each.idle)});
  }
  table.print();
  if (shown.size() < times.ranks.size())
    std::cout << "and " << times.ranks.size() - shown.size() << " ranks between these\n";
  if (times.straggler >= 0)
    std::cout << "the straggler is rank " << times.straggler << ": the others wait "
              << formatMilliseconds(times.stragglerNs) << " ms for it on average\n";
}

Json toJson(const RanksTime &times, const std::vector<std::string> &names) {
  Json ranks = Json::array();
  for (size_t rank = 0; rank < times.ranks.size(); ++rank) {
    const RankTimes &each = times.ranks[rank];
    ranks.push_back({{"rank", rank},
                     {"device", names[rank]},
                     {"compute_ns", each.computing},
                     {"communication_ns", each.communicating},
                     {"exposed_communication_ns", each.exposed},
                     {"waits_for_others_ns", each.waiting},
                     {"idle_ns", each.idle}});
  }
  return {{"ns", times.ns},
          {"ranks", ranks},
          {"straggler", times.straggler >= 0 ? Json(times.straggler) : Json()},
          {"straggler_ns", times.stragglerNs}};
}

} // namespace sprig::cli
