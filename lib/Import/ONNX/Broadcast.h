// The operands of a binary operator, under the broadcast rules of the node's opset.
// For arithmetic, comparisons and logic.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

std::pair<Value, Value> binaryOperands(Node &n);
/// The row of an operator that is one operation of nn on both.
template <typename OpT> void binary(Node &n) {
  auto [a, b] = binaryOperands(n);
  n.out(n.op<OpT>({a, b}));
}

} // namespace sprig::onnximport
