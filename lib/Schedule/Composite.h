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

/// A lane's commands that run kernels, as long as nothing else is between them.
llvm::SmallVector<llvm::SmallVector<exec::DispatchOp>> runsOfDispatches(exec::LaneOp lane);

/// Whether a composite may call a kernel: one with more buffers, which a call would pass one by one, stays a command.
inline bool isCallable(exec::KernelOp kernel) {
  constexpr size_t kMostBuffers = 1024;
  return !kernel.isComposite() &&
         kernel.getFunctionType().getNumInputs() + kernel.getFunctionType().getNumResults() <= kMostBuffers;
}

/// "first and 2 more" of three.
std::string titleOf(llvm::ArrayRef<exec::DispatchOp> commands);

/// What the kernels of several commands take together, and where these are from.
struct JoinedWork {
  int64_t scratch = 0, flops = 0, bytes = 0; ///< scratch: of the one that needs the most
  mlir::Location loc;
};
JoinedWork workOf(llvm::ArrayRef<exec::DispatchOp> commands, const mlir::SymbolTable &symbols);

/// Replaces commands of one lane, in order and with nothing else between them, by one of that title, of a new kernel of
/// so many tiles. What a command may write over, the new one may where the other calls that touch it come before in the
/// same tile.
exec::DispatchOp makeComposite(llvm::StringRef kernelName, llvm::StringRef title, llvm::ArrayRef<CompositeCall> calls,
                               int64_t tiles, mlir::SymbolTable &symbols);

} // namespace sprig
