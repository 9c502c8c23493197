// The flags that say how several devices are used: --strategy and --mesh.
// For commands that compile a training step. Without them devices are places for layers (--place).
#pragma once
#include "tools/sprig/Settings.h"

namespace sprig::cli {

struct MeshFlags {
  std::string strategy; ///< "data", or "" where devices are places for layers
  std::string mesh;     ///< "data=2"; "": as many ranks as devices

  bool isGiven() const { return !strategy.empty() || !mesh.empty(); }
  /// How many ranks there are: 1 without a strategy. Throws usage errors, and unsupported for devices that have no
  /// ranks yet.
  int ranks(const Settings &settings) const;
};

void addMesh(CLI::App &command, MeshFlags &flags);

/// What one of several ranks is compiled and loaded with: a share of the threads, and no device of others.
Settings settingsOfRank(const Settings &settings, int ranks);

} // namespace sprig::cli
