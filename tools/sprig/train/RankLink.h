// What an all-reduce between ranks that train together is expected to take: measured, said by --link or --topology, or
// by the machine's model. For `sprig train` and `sprig compile --train`, which choose buckets of gradients by it.
#pragma once
#include "tools/sprig/Settings.h"
#include "sprig/rt/sprig_rt.h"
#include <cstdint>
#include <optional>
#include <string>

namespace sprig::cli {

struct RankLink {
  double latency = 0;        ///< seconds of an all-reduce of no bytes
  double bytesPerSecond = 0; ///< of its buffers
  bool isApart = true;       ///< whether the step can go on meanwhile: a core is left, or none is needed
  std::string source;        ///< "measured"
};

/// Of processes, of which this one has so many threads; all of them call it. Takes as long as some small and three
/// larger all-reduces.
RankLink measureLink(sprig_rt_group *group, int threads);
/// Of so many threads of this process, which have so many threads each.
RankLink linkOfThreads(int ranks, int threads);
/// Of ranks that are not known yet: as between processes of one machine.
RankLink usualLink();
/// That over the slowest of --link or --topology, where one is given, else the ranks' own; whether the step can go on
/// meanwhile is theirs. Throws usage errors.
RankLink givenOr(RankLink own, const Settings &settings, int ranks);

/// What the first of several processes has, on all; all of them call it.
int64_t ofFirstRank(sprig_rt_group *group, int64_t own);

} // namespace sprig::cli
