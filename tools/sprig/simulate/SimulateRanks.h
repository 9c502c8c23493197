// sprig simulate --mesh: a training step on any number of ranks of a machine that need not be here.
// For sprig simulate.
#pragma once
#include "tools/sprig/simulate/ProgramToPlay.h"

namespace sprig::cli {

/// Whether the command line is about ranks.
bool isOfRanks(const SimulateOptions &options);
int simulateRanks(const SimulateOptions &options);

} // namespace sprig::cli
