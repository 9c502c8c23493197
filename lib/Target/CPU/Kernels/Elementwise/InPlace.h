// Which operands a kernel's results may take the place of in memory.
// For the scheduler, which tells the memory planner. An emitter that is not known here writes over nothing.
#pragma once
#include "dialects/NN/NNStructure.h"

namespace sprig {

/// Whether the kernel of a dispatch may write a result into the buffer of an operand: each element of the operand is
/// read only for the same element of the dispatch's results, before any of those is written (or, in a row that is
/// reduced, before any of the row is written).
bool mayOverwrite(ir::DispatchOp dispatch, unsigned operand, unsigned result);

/// The operands and results for which that holds, as positions among the buffers of a command (operands, then results):
/// operand, result, operand, result, ... Any choice of them that names no operand and no result twice is allowed.
llvm::SmallVector<int64_t> overwritableOperands(ir::DispatchOp dispatch);

} // namespace sprig
