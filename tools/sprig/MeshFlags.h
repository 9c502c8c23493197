// The flags that say how several devices are used: --strategy, --mesh, --bucket, --factors, --zero and --allow-gather.
// For commands that compile a training step; --shard beside --mesh is for those that split a model. Without them
// devices are places for layers (--place).
#pragma once
#include "lib/Shard/Strategy/StrategyNames.h"
#include "runtime/collective/MeshText.h"
#include "sprig/options.h"
#include "tools/sprig/Settings.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// Where a command that trains is among its ranks.
struct RankPlace {
  int ranks = 1;          ///< that train together
  bool isProcess = false; ///< each is a process, this one is `rank`; else all are threads of this one
  int rank = 0;
  int here = 1; ///< ranks on this machine, which share its cores

  bool isOnOneMachine() const { return !isProcess || here == ranks; }
};

/// What --mesh says: "data=2,model=4". Throws usage errors.
std::vector<rt::collective::MeshAxis> parseMesh(const std::string &text);

/// How ranks share a training step.
struct StepChoices {
  int64_t bucketBytes = 0; ///< most bytes of gradients that go together; 0: by cost, at the rates of nodes and links
  FactorPolicy factors = FactorPolicy::never; ///< of which gradients the factors are gathered
  std::string strategy = shard::kStrategyNames[0].name;
  bool allowGather = false; ///< of values of samples
};

struct MeshFlags {
  std::string strategy;     ///< of lib/Shard/Strategy/StrategyNames.h, or "" where devices are places for layers
  std::string mesh;         ///< "data=2"; "": as many ranks as devices
  std::string bucket;       ///< as --bucket; "": auto
  std::string factors;      ///< as --factors; "": auto
  int zero = 0;             ///< 1: ranks share the optimizer's state
  std::string shares;       ///< of each batch: "2,1", "auto" or, for even ones, ""
  bool allowGather = false; ///< ranks may gather values of samples
  /// What --shard says of a model that is split over the mesh, not trained by samples.
  std::vector<std::string> shardings = {};
  /// Ranks run a model that is split, or a package of one, of as many as it says.
  bool runsModel = false;

  bool isGiven() const { return !strategy.empty() || !mesh.empty(); }
  /// What --bucket, --factors, --strategy, --zero and --allow-gather say; the first strategy of the table where none is
  /// named. Throws usage errors.
  StepChoices choices() const;
  /// Whether ranks have pieces of the optimizer's state by it.
  bool sharesState() const;
  bool splitsModel() const { return !shardings.empty(); }
  /// How many ranks there are: 1 without a strategy. Throws usage errors, and unsupported for devices that have no
  /// ranks yet.
  int ranks(const Settings &settings) const;
  /// The same for a command that trains, which may be one of several processes (`sprig launch`, mpirun, srun).
  RankPlace place(const Settings &settings) const;
  /// Throws a usage error where --bucket or --factors is given with a package, which has what it was compiled with.
  void refuseChoicesOf(const std::string &package) const;
  /// Throws a usage error where --zero is given with a package, which shares state or does not.
  void refuseZeroOf(const std::string &package) const;
  /// Throws the usage error of --shares that are not even with a package.
  [[noreturn]] void refuseSharesOf(const std::string &package) const;
  /// Throws a usage error where flags of training steps are given with a model that is split.
  void refuseTraining() const;
  /// Throws usage errors of --strategy and --zero.
  void checkNames() const;
  /// What --shares says of so many ranks; none: even ones. Throws usage errors.
  std::vector<int64_t> weights(int ranks) const;
  bool measuresShares() const { return shares == "auto"; }

private:
  std::string strategyName() const;
  int64_t bucketBytes() const;
  int ranksOfMesh(int most) const;
  void checkDevices(const Settings &settings, int ranks) const;
};

void addMesh(CLI::App &command, MeshFlags &flags);
/// Adds --factors; addMesh has it.
void addFactors(CLI::App &command, std::string &factors);
/// Adds --zero alone.
void addZero(CLI::App &command, int &zero);
/// Adds --allow-gather; addMesh has it.
void addAllowGather(CLI::App &command, bool &allowGather);
/// Adds --mesh and --shard, of calls of a model that is split.
void addSplit(CLI::App &command, MeshFlags &flags);
/// Adds --shard.
void addShardings(CLI::App &command, std::vector<std::string> &shardings);

/// What one of several ranks is compiled and loaded with: a share of the threads, and no device of others or link to
/// it.
Settings settingsOfRank(const Settings &settings, const RankPlace &place);

} // namespace sprig::cli
