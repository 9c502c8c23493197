// A training step that ranks take together, played for one number of them or for many: what it takes, against one rank.
// For sprig simulate --mesh and experiments of many ranks.
#pragma once
#include "lib/Shard/Strategy/StrategyNames.h"
#include "lib/Machine/RankTimes.h"
#include "lib/Machine/Verdict.h"
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/Settings.h"
#include "tools/sprig/simulate/PackageProgram.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

/// What stays when there are more ranks.
enum class Scaling {
  strong, ///< the batch of all ranks together, which they share
  weak,   ///< the batch of each rank
};

struct RankSettings : StepChoices {
  std::vector<int> ranks;
  std::string mesh = {}; ///< of a package that is split over it, as it was given: "data=2,model=2"
  Scaling scaling = Scaling::strong;
  std::optional<rt::collective::Algorithm> algorithm = {}; ///< of collectives; none: by their bytes
  std::optional<machine::Topology> network = {};           ///< between machines; none: Clusters.h says which
  int64_t stepsPerCall = 1;          ///< of training; what is said of a step is its share of a call
  bool onOneMachine = false;         ///< as in TrainRequest
  std::vector<int64_t> weights = {}; ///< of shares (RankWeights.h), of the one number of ranks
  bool isBySpeed = false;            ///< shares as what a step of one rank takes on each node
  bool isBeside = true;              ///< collectives may have a lane of their own beside the rest of the step
};

/// "data=4", "data=1,2,4", "1..1024" (doubled until there). Throws usage errors that begin with `flag`.
std::vector<int> parseRankCounts(const std::string &flag, const std::string &text);

/// Whether it says no more of ranks than how many there are: "data=4".
bool isNumberOfRanks(std::string_view mesh);

/// Time that a step of ranks takes beyond its ideal, which is one rank's: of all samples by so many, or of the same
/// share; 0 where it takes less. The parts are 0 or more and sum up to it.
struct LostTime {
  double latency = 0;   ///< of messages one after the other
  double bandwidth = 0; ///< bytes on links, and adding them up
  double small = 0;     ///< computation that a mean share takes beyond its part of one rank's
  double uneven = 0;    ///< of the largest share beyond the mean
  double all() const { return latency + bandwidth + small + uneven; }
};

struct PlayedRanks {
  int ranks = 1;
  int64_t samples = 0; ///< of all ranks; 0: unknown
  machine::Cluster cluster;
  machine::Played how = machine::Played::all;
  bool isLargestOfAll = false; ///< shares differ, and all were played as the largest
  std::string shares;          ///< "32 samples each"
  int64_t stepsPerCall = 1;    ///< that `played`, `spans` and `timeShares` are of; all else is of one
  double ns = 0, oneNs = 0;
  double speedUp = 1, efficiency = 1;
  LostTime lost;
  double messages = 0; ///< that follow one another in a step's collectives
  size_t meetings = 0;

  machine::Simulation played;
  machine::RanksTime times;       ///< of the ranks that were played
  machine::TimeShares timeShares; ///< of all of those together
  std::vector<const StepProgram *> steps;
  std::vector<std::vector<std::vector<machine::Span>>> spans; ///< by rank, lane and command
  double bytesBesides = 0;                                    ///< RankLanes::meanBytesBesides

  bool isOneForAll() const { return how == machine::Played::one; }
};

/// Steps of a model for every number of ranks, or those of a package, which are of one share.
class RankedSteps {
public:
  /// `config`: the file of a training configuration; empty for a package. Throws what of both does not fit.
  RankedSteps(const Model &model, const std::string &config, const std::vector<std::string> &allow,
              const Settings &settings, const std::string &entry, const RankSettings &ranks);
  /// Of a configuration that was read.
  RankedSteps(const Model &model, const training::TrainConfig &config, const Settings &settings,
              const RankSettings &ranks, const std::vector<std::string> &allow = {});
  ~RankedSteps();

  /// Results point into this.
  PlayedRanks play(const machine::Topology &topology, int ranks);
  const RankSettings &settings() const;

private:
  struct Source;
  std::unique_ptr<Source> source;
};

/// "of the lost time 71 % is the latency of 30 messages ..."
std::string reasonFor(const PlayedRanks &point);
/// Where efficiency falls below 80 % and 50 %, and why; of points in the order of their ranks. A line for each, or one
/// that it does not.
std::vector<std::string> curveInWords(const std::vector<PlayedRanks> &points);

} // namespace sprig::cli
