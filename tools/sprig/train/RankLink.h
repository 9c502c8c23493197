// What an all-reduce between ranks that train together is expected to take, where flags have a say in it.
// For `sprig train` and `sprig compile --train`, which choose buckets of gradients by it.
#pragma once
#include "lib/Machine/ExpectedLink.h"
#include "sprig/rt/sprig_rt.h"
#include "tools/sprig/Settings.h"
#include <cstdint>

namespace sprig::cli {

using RankLink = machine::ExpectedLink;

/// Of processes, of which this one has so many threads; all of them call it.
RankLink measureLink(sprig_rt_group *group, int threads);
/// Of so many threads of this process, which have so many threads each.
RankLink linkOfThreads(int ranks, int threads);
/// That over the slowest of --link or --topology, where one is given, else the ranks' own; whether the step can go on
/// meanwhile is theirs. Throws usage errors.
RankLink givenOr(RankLink own, const Settings &settings, int ranks);

/// What the first of several processes has, on all; all of them call it.
int64_t ofFirstRank(sprig_rt_group *group, int64_t own);

} // namespace sprig::cli
