// Which operand a kernel's result may take the place of in memory.
// For the scheduler, which tells the memory planner. An emitter that is not known here writes over nothing.
#pragma once
#include "dialects/NN/NN.h"

namespace sprig {

/// Whether the kernel of a dispatch may write its only result into the buffer of an operand: each element of the
/// operand is read only for the same element of the result (or, in a row that is reduced, before any of the row is
/// written).
bool mayOverwrite(nn::DispatchOp dispatch, unsigned operand);

/// The operands for which that holds.
llvm::SmallVector<int64_t> overwritableOperands(nn::DispatchOp dispatch);

} // namespace sprig
