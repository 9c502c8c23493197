// An order of dispatches that keeps little alive.
// For schedule, after the order around updates of state (StateOrder.h): the parts of a step that could go one after the
// other, as forward and backward passes of parts of its batch, may stand side by side in the program.
#pragma once
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Block.h"

namespace sprig {

/// Operations that must come after an operation without reading its results.
using LaterOperations = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>>;

/// Moves operations towards their first readers where that lowers the block's peak of bytes alive by a third or more;
/// otherwise the order stays. `last` are at the block's end and stay there.
void orderForMemory(mlir::Block &block, const LaterOperations &later, const llvm::DenseSet<mlir::Operation *> &last);

} // namespace sprig
