// The order of dispatches around updates of state.
// For schedule: an update can be written in place only where everything else that reads the old value has run.
#pragma once
#include "mlir/IR/Block.h"

namespace sprig {

/// Moves each dispatch that computes the new value of a parameter (nn.set_param) after all others that read the old
/// one, where its own results do not lead to them, and no further: gradients are used up as they come. What waits for
/// other ranks comes in the end (dist::waitLate). Otherwise the program's order stays.
void readStateBeforeUpdates(mlir::Block &block);

} // namespace sprig
