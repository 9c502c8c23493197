// Collectives on a topology: the programs of ranks (runtime/collective) as lanes for the simulator, and rings that the
// links of a topology have room for.
// For experiments and for what compares algorithms on machines that are not here.
#pragma once
#include "lib/Machine/Simulator.h"
#include "runtime/collective/Collective.h"
#include <functional>
#include <span>

namespace sprig::machine {

/// Programs of ranks on these nodes, one each. Every lane of a rank sends one message after the other, and waits for
/// those that it takes; adding up takes what `reduceNs` says of a node and so many bytes of one operand. Messages cost
/// processors what the links of the topology say; without one nothing.
SimulatedProgram lanesOf(std::span<const rt::collective::Program> programs, std::span<const uint32_t> nodes,
                         int64_t bytes, const std::function<double(uint32_t node, int64_t bytes)> &reduceNs,
                         const Topology *handledAsIn = nullptr);

/// Programs of all ranks of a plan. Throws usage errors that say what is wrong with it.
std::vector<rt::collective::Program> programsOf(const rt::collective::Plan &plan);
/// An all-reduce over one that has no part in it: rank 0 takes from all others, adds up, and sends back. Of ranks + 1
/// programs, the first of them the helper's.
std::vector<rt::collective::Program> throughHelper(int ranks);

/// As many rings over all of the nodes as there are, `most` at most, in which no link of the topology is twice, of
/// links side by side each once. Each ring begins at the first node; numbers are positions in `nodes`. Rings go over
/// links between the nodes alone. Empty where there is none, or none was found in a million steps.
std::vector<std::vector<int>> disjointRings(const Topology &topology, std::span<const uint32_t> nodes, int most);

} // namespace sprig::machine
