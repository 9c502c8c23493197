#include "tools/sprig/train/RankLink.h"
#include "runtime/comm/RankLimits.h"
#include "sprig/rt/links.hpp"
#include "tools/sprig/Report.h"
#include "tools/sprig/run/Runner.h"
#include <algorithm>
#include <cmath>

namespace sprig::cli {

RankLink measureLink(sprig_rt_group *group, int threads) {
  auto allReduce = [&](std::span<float> values) {
    check(sprig_rt_group_all_reduce(group, SPRIG_RT_F32, SPRIG_RT_MAX, values.data(), values.size(), "link"));
  };
  return machine::measureLink(allReduce, sprig_rt_group_has_core_beside(group, uint32_t(threads)));
}

RankLink linkOfThreads(int ranks, int threads) {
  return machine::linkOfThreads(ranks, rt::comm::hasCores(uint64_t(ranks) * (uint64_t(threads) + 1)));
}

// Ranks have devices of their own, which are counted from 0; "host" has the arrays of a topology.
static void checkEnd(const std::string &place, const std::string &text, int ranks) {
  size_t colon = place.find(':');
  std::string kind = place.substr(0, colon), number = colon == std::string::npos ? "" : place.substr(colon + 1);
  bool isKnown = kind == "cpu" || kind == "cuda" || kind == "null";
  bool isNumber = !number.empty() && number.size() < 6 && number.find_first_not_of("0123456789") == std::string::npos;
  if (place == "host" || (isKnown && isNumber && std::stoi(number) < ranks)) return;
  badUse("--link " + text + ": '" + place +
         "' is no device of a rank; expected cpu:0 to cpu:" + std::to_string(ranks - 1));
}

RankLink givenOr(RankLink own, const Settings &settings, int ranks) {
  if (settings.links.empty()) return own;
  double latencyNs = 0, rate = INFINITY;
  for (const std::string &text : settings.links) {
    rt::GivenLink link;
    if (std::string why = rt::parseGivenLink(text, link); !why.empty()) badUse("--link " + text + ": " + why);
    checkEnd(link.a, text, ranks);
    checkEnd(link.b, text, ranks);
    latencyNs = std::max(latencyNs, link.latencyNs());
    rate = std::min(rate, link.rates.rate.bytesPerSecond() / (link.halfDuplex ? 2 : 1));
  }
  RankLink given = machine::expectedLinkOf({{latencyNs * 1e-9, rate}}, ranks, "of --link or --topology");
  given.isApart = own.isApart;
  return given;
}

int64_t ofFirstRank(sprig_rt_group *group, int64_t own) {
  uint64_t number = sprig_rt_group_rank(group) == 0 ? uint64_t(own) : 0;
  check(sprig_rt_group_all_reduce(group, SPRIG_RT_U64, SPRIG_RT_SUM, &number, 1, "the size of buckets"));
  return int64_t(number);
}

} // namespace sprig::cli
