// Kernels of little work that are shared out because their neighbours are: for choose-threads.
#pragma once
#include "dialects/Exec/FetchedBytes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace sprig {

/// Halves kernels that stand beside shared ones where the hand-off (in shares of work) costs less than half of their
/// work and what two threads then need not fetch of each other. `shares` has each leaf kernel's work. Returns those.
llvm::DenseSet<mlir::Operation *> shareBesideShared(mlir::ModuleOp module,
                                                    const llvm::MapVector<mlir::Operation *, double> &shares,
                                                    double sharesOfHandOff, double bytesFetchedPerShare);

} // namespace sprig
