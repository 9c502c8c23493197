// What all processes of a run have to find alike, each for itself: by hashes, of which the group takes least and
// largest. For `sprig train` and the trainer of C++, before their ranks meet at collectives that differ.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace sprig::training {

struct Fact {
  const char *what;
  std::string value;
  bool isJson = false; ///< whose first field that differs is told
};

/// Makes numbers the largest of all processes, in place; all of them call it. As signed numbers or not.
using ReduceNumbers = std::function<void(std::span<uint64_t>)>;

/// Of numbers that all processes have as many of: the first that is not the same on all; -1: all are.
int firstDifference(std::span<const uint64_t> numbers, const ReduceNumbers &reduce);
/// The first fact that is not; null: all are.
const Fact *firstDifference(std::span<const Fact> facts, const ReduceNumbers &reduce);

/// Of an error: "the ranks do not begin alike: ", what differs, and what has to be the same.
std::string notAlikeText(const std::string &what);

} // namespace sprig::training
