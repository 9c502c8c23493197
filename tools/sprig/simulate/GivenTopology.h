// What --topology names: for simulate, which plays on it, and for commands that compile or run on this machine, whose
// copies take as long as over its links.
#pragma once
#include "lib/Machine/Topology.h"
#include "tools/sprig/Settings.h"

namespace sprig::cli {

/// A file where there is one of that name or the name looks like one, else a preset. Throws usage errors.
machine::Topology readTopology(const std::string &given, const std::string &flag = "--topology");

/// Throws unsupported where the topology lacks one; `expected` ends the message.
std::vector<uint32_t> nodesOf(const machine::Topology &topology, const std::vector<std::string> &devices,
                              const std::string &expected);

/// Adds links for the ways that --topology has between the devices of a run, in front of those of --link, which count
/// instead. Throws unsupported where a run could not keep to the topology, and says why.
void takeTopology(Settings &settings);
/// The same for placement alone, which weighs each pair by itself.
void takeTopologyToPlace(Settings &settings);
void placeOn(const machine::Topology &topology, Settings &settings);

} // namespace sprig::cli
