// Outputs and states that are written where they are in the first place, rather than copied there.
// For plan-memory, and for repeat-programs, where the repetition behind reads them. Buffers have no places yet.
#pragma once
#include "dialects/Exec/Exec.h"

namespace sprig {

/// Makes outputs of arena buffers that are copied to whole ones; says how many.
unsigned writeOutputsInPlace(exec::ProgramOp program);

/// Makes states of arena buffers that are copied to whole ones, where the old value is not wanted any more when they
/// are written; says how many.
unsigned writeStatesInPlace(exec::ProgramOp program);

} // namespace sprig
