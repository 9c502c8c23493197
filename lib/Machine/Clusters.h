// Where ranks are: nodes of a topology, and where it has fewer, more machines of its kind on one network.
// For simulate and experiments of many ranks.
#pragma once
#include "lib/Machine/Topology.h"
#include <optional>
#include <string>
#include <vector>

namespace sprig::machine {

struct Cluster {
  Topology topology;
  std::vector<uint32_t> nodes; ///< by rank
  int perMachine = 1;          ///< ranks of a machine, which are numbered machine by machine
  std::string rule = {};       ///< what was made of the topology, for people; empty: nothing
  /// Machines that are alike: one of them, whose way to the others goes through `network`.
  struct One {
    Topology topology;
    std::vector<uint32_t> nodes; ///< of its ranks
    uint32_t network = 0;
  };
  std::optional<One> one = {};

  int ranks() const { return int(nodes.size()); }
  int machines() const { return ranks() / perMachine; }
};

/// Ranks are on cards where a topology has several, else on all of its devices; those of few devices along a ring of
/// links where there is one. Of more ranks than that: hosts on one switch are as many as ranks; a host with cards is as
/// many machines as ranks need, each joined to one switch by `network`. Throws unsupported, with both numbers, where
/// neither is so.
Cluster clusterOf(const Topology &topology, int ranks, const std::optional<Topology> &network = {});
/// Where a topology's ranks are without more machines: its cards where there are some, else all devices.
std::vector<uint32_t> nodesForRanks(const Topology &topology);

} // namespace sprig::machine
