// Machines that have a name: `sprig simulate --topology pcie4`. docs/simulator.md says where their figures are from.
#pragma once
#include "lib/Machine/Topology.h"
#include <optional>
#include <span>

namespace sprig::machine {

struct TopologyPreset {
  const char *name;
  Topology (*make)();
};
std::span<const TopologyPreset> topologyPresets();
/// "pcie3, pcie4, ..."
std::string topologyPresetNames();
std::optional<Topology> topologyPreset(std::string_view name);

/// Devices that nothing is said of but their names, as they are on this machine: processors share the threads and
/// work on the host's memory at measured rates, and copies between them go through it; null devices keep the clock of
/// the runtime's. Throws unsupported for what is not here.
Topology thisMachine(std::span<const std::string> devices, int threads, std::string_view rates = "native");

} // namespace sprig::machine
