// Register tiles to try for a contraction. For the CPU's target.
#pragma once
#include "lib/Target/Target.h"

namespace sprig::cpu {

/// The tiles of a dispatch of packed contractions that fit this machine's registers; none of any other. Throws
/// sprig::Error where the options do not name the instruction set `native`.
TileChoices registerTileChoices(kernel::DispatchOp dispatch, const CompileOptions &options);

} // namespace sprig::cpu
