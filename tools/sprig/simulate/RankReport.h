// What played steps of ranks come to: one number of ranks in detail, or the curve over many, as tables, JSON, a trace
// and a picture. For sprig simulate --mesh.
#pragma once
#include "tools/sprig/Report.h"
#include "tools/sprig/simulate/SimulatedRanks.h"
#include <ostream>

namespace sprig::cli {

const char *nameOf(Scaling scaling);

/// What ranks spend their time on, a row each of the first few and of whoever stands out; `names` by rank.
void printRankTimes(const machine::RanksTime &times, const std::vector<std::string> &names);
Json toJson(const machine::RanksTime &times, const std::vector<std::string> &names);

void printRanks(const PlayedRanks &point, Scaling scaling);
void printRankCurve(const std::vector<PlayedRanks> &points, Scaling scaling);
Json toJson(const PlayedRanks &point);

/// A process for each of the first ranks, with its lanes, and one with the links, on one clock.
void writeRankTrace(std::ostream &out, const PlayedRanks &point);
/// The same as a picture.
std::string rankTimeline(const PlayedRanks &point, const std::string &model);
/// Speed-up, efficiency and exposed communication over the number of ranks.
std::string rankCurve(const std::vector<PlayedRanks> &points, Scaling scaling, const std::string &model);

} // namespace sprig::cli
