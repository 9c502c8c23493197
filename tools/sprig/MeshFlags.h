// The flags that say how several devices are used: --strategy, --mesh, --bucket and --zero.
// For commands that compile a training step. Without them devices are places for layers (--place).
#pragma once
#include "tools/sprig/Settings.h"

namespace sprig::cli {

/// Where a command that trains is among its ranks.
struct RankPlace {
  int ranks = 1;          ///< that train together
  bool isProcess = false; ///< each is a process, this one is `rank`; else all are threads of this one
  int rank = 0;
  int here = 1; ///< ranks on this machine, which share its cores
};

struct MeshFlags {
  std::string strategy; ///< "data", or "" where devices are places for layers
  std::string mesh;     ///< "data=2"; "": as many ranks as devices
  std::string bucket;   ///< as --bucket; "": auto
  int zero = 0;         ///< 1: ranks share the optimizer's state

  bool isGiven() const { return !strategy.empty() || !mesh.empty(); }
  /// How many ranks there are: 1 without a strategy. Throws usage errors, and unsupported for devices that have no
  /// ranks yet.
  int ranks(const Settings &settings) const;
  /// The same for a command that trains, which may be one of several processes (`sprig launch`, mpirun, srun).
  RankPlace place(const Settings &settings) const;
  /// Most bytes of gradients that go together; 0: by cost. Throws usage errors.
  int64_t bucketBytes() const;
  /// Throws a usage error where --bucket is given with a package, which has the buckets that it was compiled with.
  void refuseBucketOf(const std::string &package) const;

private:
  void checkNames() const;
  void checkDevices(const Settings &settings, int ranks) const;
};

void addMesh(CLI::App &command, MeshFlags &flags);

/// What one of several ranks is compiled and loaded with: a share of the threads, and no device of others or link to
/// it.
Settings settingsOfRank(const Settings &settings, const RankPlace &place);

} // namespace sprig::cli
