// What becomes of collectives when a function becomes a program.
// For schedule.
#pragma once
#include "dialects/Dist/Dist.h"
#include "dialects/Exec/Exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sprig {

/// Whether the operation is one that ranks do together, of whatever kind.
bool isCollective(mlir::Operation *op);

/// Whether a command waits for other ranks.
bool isCollectiveCommand(mlir::Operation *command);

/// Fails where a program has no command for the collective: one rank has nobody to meet.
mlir::LogicalResult checkCollective(mlir::Operation *op);

/// What its command does with an operand's buffer.
struct CollectiveShape {
  bool changesOperand; ///< works on it in place
  bool isInPlace;      ///< and leaves the result there
  bool isWholeResult;  ///< makes up a whole of what is a part
};
CollectiveShape shapeOf(mlir::Operation *op);

/// Whether a collective moves no byte of the operand on any rank, so its command is not about it.
bool isEmpty(mlir::Operation *op, unsigned operand);

/// States on a program what the function says of ranks, and how many there are.
void stateRanks(exec::ProgramOp program, mlir::func::FuncOp function);

/// The command for a collective of these buffers, and of as many that it writes where it is not in place.
void addCommand(mlir::OpBuilder &b, mlir::Operation *op, llvm::ArrayRef<mlir::Value> buffers,
                llvm::ArrayRef<mlir::Value> targets);

/// Fails where a collective is of another number of ranks than the program, or of a part of another mesh: the first one
/// says what the program's are.
mlir::LogicalResult checkRanks(mlir::Operation *op, exec::ProgramOp program);

} // namespace sprig
