// Loops of a known number of steps as nn.scan, where their step is one that becomes a kernel.
// For the rows of Scan and Loop, which unroll what this refuses. The body is imported once, on arguments in place of
// what changes from step to step; what then depends on none of them moves in front of the loop.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

/// What one step makes of its slices and of what is carried: the next carried values, then its outputs. Nothing where
/// the loop cannot be rolled.
using LoopStep = llvm::function_ref<std::optional<Values>(ValueRange slices, ValueRange carried)>;

/// The last carried values and the outputs of all steps, stacked along a new first dimension. `sequences` have `steps`
/// elements along their first dimension. Imports nothing where it gives nothing. With `counter` the first sequence is
/// the number of the step.
std::optional<Values> rollLoop(Node &n, int64_t steps, ValueRange sequences, ValueRange initial, bool counter,
                               LoopStep step);

} // namespace sprig::onnximport
