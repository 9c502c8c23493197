// From a sequence of commands to a lane for each device that has some, and lanes for copies or collectives beside them.
// For schedule, which puts commands of several devices in one order first, and overlap-collectives.
#pragma once
#include "dialects/Exec/Exec.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace sprig {

/// What is known of commands in front of it; devices by their numbers.
struct LaneCommands {
  llvm::DenseMap<mlir::Operation *, unsigned> device; ///< where it is not the first
  /// Of copies between two devices: the one whose memory they write. They wait for what computes their values and hold
  /// up neither device.
  llvm::DenseMap<mlir::Operation *, unsigned> copiesTo;
  /// States that a command's result will be written to in the end: it comes after what reads them elsewhere, so that it
  /// may write them itself.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 1>> updates;
  /// Collectives that have a lane to themselves, of the first device. Those that have not stay in order with them.
  llvm::DenseSet<mlir::Operation *> apart;
};

/// Moves the commands of `lane`, which have no events, to lanes of their devices in the same order, copies from one
/// device to another to a lane of that way, some collectives to theirs, with events wherever one touches what another
/// lane's command before it wrote, or writes what that one touched. Buffers have no places in an arena yet.
void splitLane(exec::LaneOp lane, llvm::ArrayRef<exec::DeviceOp> devices, const LaneCommands &commands);

} // namespace sprig
