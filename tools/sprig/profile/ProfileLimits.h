// How fast each command of a profile could be on this machine, and how its time splits over the operations inside.
// For sprig profile, from measured rates (lib/Machine).
#pragma once
#include "lib/Machine/DotRates.h"
#include "tools/sprig/profile/ProfileRows.h"

namespace sprig::cli {

/// Sets limitNs of the rows (CommandLimits.h): a command that was cut has all threads, another one has one. Sets the
/// parts' shares by the same rule; they are a model, not a measurement.
void setLimits(ProfileResult &result, const Runner &runner, const machine::ProductRates &rates);

} // namespace sprig::cli
