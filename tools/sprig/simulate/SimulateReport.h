// What a simulated call comes to, as tables, JSON, a trace and a picture.
// For sprig simulate.
#pragma once
#include "lib/Machine/Verdict.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/profile/Dependences.h"
#include "tools/sprig/simulate/PackageProgram.h"
#include "tools/sprig/simulate/SimulatedCalls.h"
#include <optional>
#include <ostream>

namespace sprig::cli {

struct SimulatedEntry {
  uint32_t index = 0;             ///< of the package's entries
  std::string dims;               ///< "batch=8", or empty
  int64_t padding = 0;            ///< samples that the entry is for beyond those of the call
  std::optional<int64_t> samples; ///< that the entry is for
  PackageProgram program;
  machine::Simulation played;       ///< one call
  SimulatedCalls calls;             ///< as many as were asked for
  std::vector<DeviceMemory> memory; ///< by the package's devices
  CommandPath path;                 ///< lanes and commands as they were played, those of arrays among them
};

/// What the call needs one after the other: arrays that come, commands that read each other's results, arrays that go.
CommandPath pathOf(const Runner &runner, const SimulatedEntry &entry);
/// "entry 'main' with batch=5, padded to 8"
std::string titleOf(const SimulatedEntry &entry);
void printSimulation(const machine::Topology &topology, const SimulatedEntry &entry);
Json toJson(const machine::Topology &topology, const SimulatedEntry &entry);
/// In the form of `sprig profile --trace`: one viewer draws both.
void writeSimulatedTrace(std::ostream &out, const Runner &runner, const machine::Topology &topology,
                         const SimulatedEntry &entry);
std::string simulatedTimeline(const machine::Topology &topology, const SimulatedEntry &entry, const std::string &model);

} // namespace sprig::cli
