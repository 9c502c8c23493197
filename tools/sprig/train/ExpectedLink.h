// What all-reduces of ranks are expected to take, from the link between two of them, by the laws that all share.
// For who chooses buckets: train, compile, profile and simulate.
#pragma once
#include "lib/Machine/AllReduceTime.h"
#include "tools/sprig/train/RankLink.h"

namespace sprig::cli {

/// Of few bytes and of many, as lib/Machine/AllReduceTime has them.
RankLink rankLinkOf(const machine::RankLink &between, int ranks, const std::string &source);

/// Most bytes of a bucket where nothing hides it: what comes in one piece stays in caches.
inline constexpr int64_t kPlainBucket = int64_t(1) << 20;

} // namespace sprig::cli
