// Rows of the operator table that are one operation of nn on one operand or on two, which broadcast by the rules of
// the node's opset. For activations, arithmetic, comparisons and logic.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

std::pair<Value, Value> binaryOperands(Node &n);
template <typename OpT> void unary(Node &n) { n.out(n.op<OpT>({n.in(0)})); }
template <typename OpT> void binary(Node &n) {
  auto [a, b] = binaryOperands(n);
  n.out(n.op<OpT>({a, b}));
}

} // namespace sprig::onnximport
