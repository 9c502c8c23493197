// The operands of a binary operator, under the broadcast rules of the node's opset.
// For arithmetic, comparisons and logic.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

std::pair<Value, Value> binaryOperands(Node &n);

} // namespace sprig::onnximport
