// What played steps of ranks come to: one number of ranks in detail, or the curve over many, as tables, JSON, a trace
// and a picture. For sprig simulate --mesh.
#pragma once
#include "tools/sprig/Report.h"
#include "tools/sprig/simulate/SimulatedRanks.h"
#include <ostream>

namespace sprig::cli {

const char *nameOf(Scaling scaling);

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
