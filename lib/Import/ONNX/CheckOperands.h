// Checks of operands that neither an operator's schema nor an operation's verifier makes.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

/// Shapes of the operands of an operator that its function body would broadcast; fails with both facts. Of other
/// operators nothing.
void checkOperands(const Node &node);

/// Lengths of sequences in [0, steps]: constants now, others when they run.
void checkLengths(Node &node, Value &lengths, int64_t steps);

} // namespace sprig::onnximport
