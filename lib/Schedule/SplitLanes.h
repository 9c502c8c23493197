// From a sequence of commands to a lane for each device that has some.
// For schedule, which puts commands of several devices in one order first.
#pragma once
#include "dialects/Exec/Exec.h"
#include "llvm/ADT/DenseMap.h"

namespace sprig {

/// Moves the commands of `lane`, which have no events, to lanes of their devices in the same order, with events
/// wherever one touches what another device's command before it wrote, or writes what that one touched. `deviceOf` has
/// the numbers of commands that are not on the first. Buffers have no places in an arena yet.
void splitLane(exec::LaneOp lane, llvm::ArrayRef<exec::DeviceOp> devices,
               const llvm::DenseMap<mlir::Operation *, unsigned> &deviceOf);

} // namespace sprig
