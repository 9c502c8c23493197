// What becomes of collectives when a function becomes a program.
// For schedule.
#pragma once
#include "dialects/Dist/Dist.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sprig {

/// Whether the operation is one that ranks do together, of whatever kind.
bool isCollective(mlir::Operation *op);

/// The same of a command.
bool isCollectiveCommand(mlir::Operation *command);

/// Fails where a program has no command for the collective, by name: all-reduces of all ranks of a mesh have one.
mlir::LogicalResult checkCollective(mlir::Operation *op);

/// States on a program what the function says of ranks, and how many there are.
void stateRanks(exec::ProgramOp program, mlir::func::FuncOp function);

/// The command for an all-reduce of these buffers, in place.
void addCommand(mlir::OpBuilder &b, ir::dist::AllReduceOp op, llvm::ArrayRef<mlir::Value> buffers);

/// Fails where a collective is of another number of ranks than the program, of which its first one says it.
mlir::LogicalResult checkRanks(mlir::Operation *op, exec::ProgramOp program);

} // namespace sprig
