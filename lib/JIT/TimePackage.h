// The clock of --tune: how long calls of a package take on this machine.
#pragma once
#include "lib/Pipeline/Pipeline.h"

namespace sprig {

/// Loads a package of one entry with inputs of its own; each call of the result times some calls of it.
PackageTimer packageTimer(int threads);

} // namespace sprig
