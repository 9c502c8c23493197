#include "tools/sprig/train/RankLink.h"
#include "runtime/comm/RankLimits.h"
#include "sprig/error.h"
#include "sprig/rt/links.hpp"
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

RankLink givenOr(RankLink own, const Settings &settings, int ranks) {
  if (settings.links.empty()) return own;
  double latencyNs = 0, rate = INFINITY;
  for (const std::string &text : settings.links) {
    rt::GivenLink link;
    if (std::string why = rt::parseGivenLink(text, link); !why.empty())
      throw Error(ErrorKind::usage, "--link " + text + ": " + why);
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
