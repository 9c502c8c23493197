// One command of several: a composite kernel that calls theirs.
// For the passes merge-dispatches and join-branches, which say which commands these are and in which tiles they run.
#pragma once
#include "dialects/Exec/Exec.h"

namespace sprig {

/// A command and the tiles of the composite kernel that it is shared out over.
struct CompositeCall {
  exec::DispatchOp command;
  int64_t firstTile = 0, endTile = 1;
};

/// Replaces commands of one lane, in order and with nothing else between them, by one of that title, of a new kernel of
/// so many tiles. What a command may write over, the new one may where the other calls that touch it come before in the
/// same tile.
exec::DispatchOp makeComposite(llvm::StringRef kernelName, llvm::StringRef title, llvm::ArrayRef<CompositeCall> calls,
                               int64_t tiles, mlir::SymbolTable &symbols);

} // namespace sprig
