// Which processors each of several processes of this machine may be bound to: its share of the cores, side by side.
// For `sprig launch --bind cores`.
#pragma once
#include "runtime/machine/Processors.h"
#include <sched.h>
#include <vector>

namespace sprig::machine {

using rt::core::Processor;

/// For each process its share: whole cores, neighbours, sizes that differ by one core at most, larger ones first; of
/// threads, where these are enough and cores are not. None where there are fewer threads than processes.
std::vector<cpu_set_t> coreShares(std::vector<Processor> processors, int processes);

} // namespace sprig::machine
