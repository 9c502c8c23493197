// An entry of a package as a program for the simulator: what its commands cost on the devices of a topology, the copies
// of the caller's arrays around them as the runtime makes them, and what memory it takes while it is played.
// For sprig simulate.
#pragma once
#include "lib/Machine/RankSteps.h"
#include "runtime/exec/Results.h"
#include "tools/sprig/run/Runner.h"
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

struct PlayedCommand {
  std::string name;
  int32_t kind = 0; ///< sprig_rt_command_kind
  uint64_t flops = 0, bytes = 0;
  std::vector<rt::core::CommandPlace> writers = {}; ///< of a result that goes back: what it waits for
};

struct PackageProgram {
  std::string entry;
  machine::SimulatedProgram program;
  std::vector<uint32_t> nodes;    ///< of the topology, by the package's devices
  size_t packageLanes = 0;        ///< lanes behind these copy the caller's arrays
  size_t firstResults = 0;        ///< those before it bring arrays, it and those behind it take results back
  size_t inFront = 0;             ///< commands before the package's own in each of its lanes: waits for those arrays
  std::vector<std::string> lanes; ///< what they are called: "lane 0", "arrays", "results"
  std::vector<std::vector<PlayedCommand>> commands; ///< of all lanes
};

/// Throws where a node has no rates that commands could be reckoned with.
PackageProgram programOf(const Runner &runner, uint32_t entry, const machine::Topology &topology,
                         const std::vector<uint32_t> &nodes);

/// An entry that ranks run together, as one of them runs it: its commands on a node of its own, and where it meets the
/// others. The caller's arrays are there: those of the next step come beside this one.
struct StepProgram {
  machine::RankStep step;
  std::vector<std::vector<PlayedCommand>> commands; ///< by lane
};
/// `algorithm`: of collectives whose own is not said; without it the one for their bytes. Throws as programOf.
StepProgram stepOf(const Runner &runner, uint32_t entry, const machine::Topology &topology, uint32_t node, int ranks,
                   std::optional<rt::collective::Algorithm> algorithm);

struct DeviceMemory {
  uint64_t constants = 0, states = 0, arrays = 0; ///< throughout; arrays: copies of the caller's
  uint64_t arenaPeak = 0;                         ///< bytes of intermediate values in use at once
  double peakNs = 0;                              ///< when
  uint64_t total() const { return constants + states + arrays + arenaPeak; }
};
/// By the package's devices.
std::vector<DeviceMemory> memoryOf(const Runner &runner, uint32_t entry, const machine::Topology &topology,
                                   const PackageProgram &program, const machine::Simulation &played);

/// Runs that the runtime serves a call with, whose samples no entry is for.
struct EntryRuns {
  uint32_t entry = 0;
  int64_t samples = 0; ///< that the entry is for
  int64_t count = 1, padding = 0;
};
/// `like`: an entry of the family that the call means.
std::vector<EntryRuns> runsFor(const Runner &runner, uint32_t like, int64_t samples);
/// What an entry is for; nothing where it has none that are independent.
std::optional<int64_t> samplesOf(const Runner &runner, uint32_t entry);

} // namespace sprig::cli
