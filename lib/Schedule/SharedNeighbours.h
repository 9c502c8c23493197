// Kernels that are shared out, or are not, because of what their neighbours are: for choose-threads.
#pragma once
#include "dialects/Exec/FetchedBytes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <limits>

namespace sprig {

/// What a second thread costs, in shares of work.
struct SharingCost {
  double sharesOfHandOff = 0;
  double bytesFetchedPerShare = 1;
  double bytesOfLatency = 0; ///< bytes fetched in the time that the first of them take
  /// Of what is fetched, so much comes by single lines, and what another processor's cache holds beyond it as a stream.
  double bytesByLines = std::numeric_limits<double>::infinity(), bytesOfCache = bytesByLines;
};

/// Halves kernels of little work that stand beside shared ones where the hand-off costs less than half of their work
/// and what two threads then need not fetch of each other; leaves to one thread those of which half of the work is less
/// than the hand-off and what has to be fetched, as their neighbours run on one. A program of several commands for
/// which all this is worth less than two shares is left to one thread. `shares` has each leaf kernel's work. Returns
/// those that it has changed.
llvm::DenseSet<mlir::Operation *> shareAsNeighbours(mlir::ModuleOp module,
                                                    const llvm::MapVector<mlir::Operation *, double> &shares,
                                                    const SharingCost &cost);

} // namespace sprig
