// Logic, comparisons, bits and selection.
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

namespace {

template <ir::ComparePredicate predicate> void compare(Node &n) {
  auto [a, b] = binaryOperands(n);
  n.out(n.compare(predicate, a, b));
}

void logicalNot(Node &n) { n.out(n.logicalNot(n.in(0))); }
void isNan(Node &n) { n.out(n.op<ir::IsNanOp>({n.in(0)})); }

void isInf(Node &n) {
  auto flag = [&](const char *name) { return n.attr(name, n.state.builder.getBoolAttr(n.intAttr(name, 1) != 0)); };
  n.out(n.op<ir::IsInfOp>({n.in(0)}, {flag("detect_negative"), flag("detect_positive")}));
}

void bitShift(Node &n) {
  std::string direction = n.stringAttr("direction", "");
  n.require(direction == "LEFT" || direction == "RIGHT", "has direction '" + direction + "'; known are LEFT and RIGHT");
  n.out(direction == "LEFT" ? n.op<ir::ShlOp>({n.in(0), n.in(1)}) : n.op<ir::ShrOp>({n.in(0), n.in(1)}));
}

/// The softmax whose rows of NaN a choice makes zeros, or null.
ir::SoftmaxOp softmaxWithoutNan(Value condition, Value otherwise) {
  auto isNan = condition.getDefiningOp<ir::IsNanOp>();
  return isNan && isNan.getOperand() == otherwise ? otherwise.getDefiningOp<ir::SoftmaxOp>() : ir::SoftmaxOp();
}

void where(Node &n) {
  Value condition = n.in(0), onTrue = n.in(1), onFalse = n.in(2);
  // Queries that see no key, as exporters write them. The softmax has the zeros itself, and its gradient no NaN.
  if (auto softmax = softmaxWithoutNan(condition, onFalse)) {
    onFalse =
        n.op<ir::SoftmaxOp>({softmax.getOperand()}, {n.attr("axis", int64_t(softmax.getAxis())), n.unit("masked")});
    condition = n.op<ir::IsNanOp>({onFalse});
  }
  n.out(n.select(condition, onTrue, onFalse));
}

} // namespace

void addLogic(Table &t) {
  t.add("And", {1, 7}, binary<ir::AndOp>);
  t.add("Or", {1, 7}, binary<ir::OrOp>);
  t.add("Xor", {1, 7}, binary<ir::XorOp>);
  t.add("Not", {1}, logicalNot);
  t.add("Equal", {1, 7, 11, 13, 19}, compare<ir::ComparePredicate::eq>);
  t.add("Less", {1, 7, 9, 13}, compare<ir::ComparePredicate::lt>);
  t.add("LessOrEqual", {12, 16}, compare<ir::ComparePredicate::le>);
  t.add("Greater", {1, 7, 9, 13}, compare<ir::ComparePredicate::gt>);
  t.add("GreaterOrEqual", {12, 16}, compare<ir::ComparePredicate::ge>);
  t.add("IsNaN", {9, 13, 20}, isNan);
  t.add("IsInf", {10, 20}, isInf);
  t.add("BitShift", {11, 28}, bitShift);
  t.add("BitwiseAnd", {18}, binary<ir::AndOp>);
  t.add("BitwiseOr", {18}, binary<ir::OrOp>);
  t.add("BitwiseXor", {18}, binary<ir::XorOp>);
  t.add("BitwiseNot", {18}, logicalNot);
  t.add("Where", {9, 16}, where);
}

} // namespace sprig::onnximport
