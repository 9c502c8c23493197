// What the CPU makes one kernel of. For its target.
#pragma once
#include "lib/Target/FusionGroup.h"

namespace sprig::cpu {

/// Target::canFuse, by the rules of the emitters that will take the dispatch (Epilogue, LoopSpace).
bool canFuse(const FusionGroup &group, mlir::Operation *op);

} // namespace sprig::cpu
