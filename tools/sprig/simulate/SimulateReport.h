// What a simulated call comes to, as tables, JSON, a trace and a picture.
// For sprig simulate.
#pragma once
#include "tools/sprig/Report.h"
#include "tools/sprig/simulate/PackageProgram.h"
#include <optional>
#include <ostream>

namespace sprig::cli {

struct SimulatedEntry {
  uint32_t index = 0;             ///< of the package's entries
  std::string dims;               ///< "batch=8", or empty
  int64_t padding = 0;            ///< samples that the entry is for beyond those of the call
  std::optional<int64_t> samples; ///< that the entry is for
  PackageProgram program;
  machine::Simulation played;
  std::vector<DeviceMemory> memory; ///< by the package's devices
};

/// "entry 'main' with batch=5, padded to 8"
std::string titleOf(const SimulatedEntry &entry);
void printSimulation(const machine::Topology &topology, const SimulatedEntry &entry);
Json toJson(const machine::Topology &topology, const SimulatedEntry &entry);
/// In the form of `sprig profile --trace`: one viewer draws both.
void writeSimulatedTrace(std::ostream &out, const Runner &runner, const machine::Topology &topology,
                         const SimulatedEntry &entry);
std::string simulatedTimeline(const machine::Topology &topology, const SimulatedEntry &entry, const std::string &model);

} // namespace sprig::cli
