// Profiles of steps that ranks take together: threads of this process, or one of several processes, whose recordings
// come together at the first on one clock.
// For sprig profile.
#pragma once
#include "lib/Machine/RankTimes.h"
#include "lib/Machine/Verdict.h"
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/run/Runner.h"
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace sprig::cli {

/// A call or a command as one rank recorded it, by the first rank's clock.
struct RankEvent {
  int32_t kind = 0; ///< sprig_rt_profile_kind
  uint32_t lane = 0, command = 0;
  uint64_t begin = 0, end = 0;
};

struct RanksProfile {
  std::string entry, dims;
  RankPlace place;
  uint64_t calls = 0;
  int64_t stepsPerCall = 1;
  std::vector<std::vector<RankEvent>> events; ///< by rank
  machine::RanksTime times;                   ///< from the first call's begin to the last one's end
  machine::TimeShares shares;                 ///< of all ranks together
  std::vector<double> stepNs;                 ///< medians of calls, by rank; of several steps one's share
  double inFlightBytes = 0;                   ///< that collectives hold on their way, of a rank at most
  double clockErrorNs = 0;                    ///< between processes, at most
  /// A collective of the program, on average over calls and ranks.
  struct Meeting {
    std::string name;
    double bytes = 0;          ///< of whole tensors, of which ranks may have pieces
    double ns = 0, waitNs = 0; ///< waitNs: until the last rank came
  };
  std::vector<Meeting> meetings;
  /// By rank, lane and command, as far as this process knows the ranks' programs.
  std::vector<std::vector<std::vector<std::string>>> commandNames;
  std::string nameOf(size_t rank, uint32_t lane, uint32_t command) const;
};

struct RanksToProfile {
  std::vector<Runner> runners; ///< of the ranks of this process
  RankPlace place;
  std::string entry;
  double seconds = 1;
  uint64_t calls = 0; ///< 0: as many as the seconds hold
  uint64_t seed = 1;
  std::shared_ptr<sprig_rt_group> group = nullptr; ///< of processes that have met already; else they meet
  /// Whole arrays, of which each rank has its pieces; none: random ones.
  std::optional<std::map<std::string, data::Array>> arrays = {};
};

/// Joins the ranks, runs and records. Of processes each gets all ranks' recordings.
RanksProfile profileRanks(RanksToProfile ranks, const Settings &settings);

void printRanksProfile(const RanksProfile &profile);
Json toJson(const RanksProfile &profile);
/// A process for each rank, with its calls and lanes, of the last few calls.
void writeRanksTrace(std::ostream &out, const RanksProfile &profile);

} // namespace sprig::cli
