// What a program's commands touch and in which order they run, as the proof of order takes them.
// For verify-order, and for the passes that ask which command happens before which, or must.
#pragma once
#include "dialects/Exec/Exec.h"
#include "runtime/format/Order.h"
#include <tuple>

namespace sprig {

/// What lies in one stretch of memory: an output, a state, a device's arena; of an arena without offsets, each buffer.
using Space = std::tuple<exec::BufferKind, const void *, const void *, int64_t>;
Space spaceOf(exec::BufferOp buffer);

/// A program's lanes for rt::order::checkOrder, with what the indices in its finding stand for.
struct ProgramOrder {
  rt::order::Schedule schedule;
  llvm::SmallVector<exec::LaneOp> lanes;
  llvm::SmallVector<exec::CommandOpInterface> commands; // in the order of schedule.commands
  /// "the arena of @cpu", by the number of the space.
  llvm::SmallVector<std::string> spaces;

  exec::CommandOpInterface commandAt(rt::order::Place place) const;
};

/// Buffers of the arena are bytes of their device's where they have offsets, else each its own. Without `symbols`, the
/// lanes and events alone: the work touches nothing.
ProgramOrder orderOf(exec::ProgramOp program, mlir::SymbolTableCollection *symbols);

/// Checks that all commands that touch the same bytes, one of them writing, are ordered by lanes and events, and that
/// no lane waits forever; all collectives as well, whatever they touch. Reports the first two that are not; looks at
/// nothing in a program of one lane without events.
mlir::LogicalResult verifyOrder(exec::ProgramOp program, mlir::SymbolTableCollection &symbols);

/// For each command of `order`, which lists work of the schedule in an order in which it can run, those before it that
/// it must come after: they touch the same bytes, and one of the two writes. By places in `order`, without what follows
/// from others.
llvm::SmallVector<llvm::SmallVector<unsigned>> dependences(const rt::order::Schedule &schedule,
                                                           llvm::ArrayRef<uint32_t> order);

} // namespace sprig
