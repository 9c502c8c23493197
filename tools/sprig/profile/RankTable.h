// What ranks spent their time on, as a table and as JSON.
// For sprig profile (recorded times) and sprig simulate (played ones).
#pragma once
#include "lib/Machine/RankTimes.h"
#include "tools/sprig/Report.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// A row each of the first few ranks and of whoever has the most of something, then the straggler; `names`: devices by
/// rank.
void printRankTimes(const machine::RanksTime &times, const std::vector<std::string> &names);
Json toJson(const machine::RanksTime &times, const std::vector<std::string> &names);

} // namespace sprig::cli
