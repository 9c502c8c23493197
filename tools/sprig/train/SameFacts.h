// What all processes of a run have to find alike, each for itself: by hashes, of which the group takes least and
// largest. For the session, before ranks meet at collectives that differ, and for the ranks' programs.
#pragma once
#include "sprig/rt/sprig_rt.h"
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace sprig::cli {

struct Fact {
  const char *what;
  std::string value;
  bool isJson = false; ///< whose first field that differs is told
};

/// Makes numbers the least or the largest of all processes, in place; all of them call it.
using ReduceNumbers = std::function<void(std::span<uint64_t>, sprig_rt_reduction)>;

/// Of numbers that all processes have as many of: the first that is not the same on all; -1: all are.
int firstDifference(std::span<const uint64_t> numbers, const ReduceNumbers &reduce);
/// The first fact that is not; null: all are.
const Fact *firstDifference(std::span<const Fact> facts, const ReduceNumbers &reduce);

} // namespace sprig::cli
