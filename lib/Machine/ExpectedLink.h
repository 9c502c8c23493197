// What all-reduces between ranks that train together are expected to take: measured, or by the machine's model.
// For those who choose buckets of gradients by it: train, compile, profile and simulate, and the front-end.
#pragma once
#include "lib/Machine/AllReduceTime.h"
#include <functional>
#include <span>
#include <string>

namespace sprig::machine {

struct ExpectedLink {
  double latency = 0;        ///< seconds of an all-reduce of no bytes
  double bytesPerSecond = 0; ///< of its buffers
  bool isApart = true;       ///< whether the step can go on meanwhile: a core is left, or none is needed
  std::string source;        ///< "measured"

  AllReduceRate rate() const { return {latency, bytesPerSecond}; }
};

/// Of few bytes and of many, from what ranks meet over.
ExpectedLink expectedLinkOf(const RankLink &between, int ranks, const std::string &source);

/// By some small and a few larger all-reduces, which all ranks do.
ExpectedLink measureLink(const std::function<void(std::span<float>)> &allReduce, bool isApart);
/// Of threads of this process as ranks.
ExpectedLink linkOfThreads(int ranks, bool isApart);
/// Of ranks that are not known yet: as between processes of one machine.
ExpectedLink usualLink();

} // namespace sprig::machine
