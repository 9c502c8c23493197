// Arithmetic and functions of single elements.
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

std::pair<Value, Value> binaryOperands(Node &n) {
  Value a = n.in(0), b = n.in(1);
  if (n.opset >= 7 || Emit::shape(a) == Emit::shape(b)) return {a, b};
  // Before opset 7 the second operand broadcasts only when told to, aligned at an axis.
  n.require(n.intAttr("broadcast", 0) != 0 || Emit::rank(b) == 0,
            "combines " + typeText(a) + " with " + typeText(b) + " without broadcast=1");
  int64_t rankA = Emit::rank(a), rankB = Emit::rank(b);
  int64_t axis = n.attribute("axis") ? n.axis(n.intAttr("axis", 0), rankA) : rankA - rankB;
  n.require(rankB <= rankA && axis + rankB <= rankA && axis >= 0,
            "cannot align " + typeText(b) + " at axis " + std::to_string(axis) + " of " + typeText(a));
  Ints shape(Emit::shape(b));
  shape.append(size_t(rankA - axis - rankB), 1);
  return {a, n.reshape(b, shape)};
}

namespace {

/// Max, Min, Sum: any number of operands.
template <typename OpT> void variadic(Node &n) {
  Values values = n.tensors();
  Value result = values[0];
  for (Value v : llvm::drop_begin(values)) result = n.op<OpT>({result, v});
  n.out(result);
}

void meanOfInputs(Node &n) {
  Values values = n.tensors();
  Value sum = values[0];
  for (Value v : llvm::drop_begin(values)) sum = n.add(sum, v);
  n.out(n.div(sum, n.scalar(double(values.size()), Emit::elem(sum))));
}

/// Powers with a constant exponent of 1 or 2 need no general power; the square is the correctly rounded one.
void pow(Node &n) {
  auto [a, b] = binaryOperands(n);
  if (Emit::isFloat(a) && Emit::isConstant(b) && Emit::count(b) == 1 && Emit::rank(b) <= Emit::rank(a)) {
    double exponent = realsOf(n.constantOf(b))[0];
    if (exponent == 2) return n.out(n.mul(a, a));
    if (exponent == 1) return n.out(a);
  }
  n.out(n.pow(a, b));
}

void mod(Node &n) {
  Value a = n.in(0), b = n.in(1);
  bool fmod = n.intAttr("fmod", 0) != 0;
  n.require(fmod || !Emit::isFloat(a), "takes the remainder of " + typeText(a) + " with fmod=0, which is for integers");
  n.out(fmod ? n.op<ir::RemOp>({a, b}) : n.op<ir::ModOp>({a, b}));
}

void clip(Node &n) {
  Value x = n.in(0);
  if (n.opset < 11) {
    // The attributes' defaults are the type's limits: no bound.
    if (n.attribute("min")) x = n.atLeast(x, n.scalar(n.realAttr("min", 0), Emit::elem(x)));
    if (n.attribute("max")) x = n.atMost(x, n.scalar(n.realAttr("max", 0), Emit::elem(x)));
    return n.out(x);
  }
  for (unsigned i : {1u, 2u}) {
    if (!n.has(i)) continue;
    Value bound = n.in(i);
    n.require(Emit::count(bound) == 1, "takes " + typeText(bound) + " as a bound; expected a scalar");
    bound = n.reshape(bound, {});
    x = i == 1 ? n.atLeast(x, bound) : n.atMost(x, bound);
  }
  n.out(x);
}

} // namespace

void addElementwise(Table &t) {
  t.add("Abs", {6, 13}, unary<ir::AbsOp>);
  t.add("Neg", {6, 13}, unary<ir::NegOp>);
  t.add("Sign", {9, 13}, unary<ir::SignOp>);
  t.add("Exp", {6, 13}, unary<ir::ExpOp>);
  t.add("Log", {6, 13}, unary<ir::LogOp>);
  t.add("Sqrt", {6, 13}, unary<ir::SqrtOp>);
  t.add("Reciprocal", {6, 13}, unary<ir::ReciprocalOp>);
  t.add("Floor", {6, 13}, unary<ir::FloorOp>);
  t.add("Ceil", {6, 13}, unary<ir::CeilOp>);
  t.add("Round", {11, 22}, unary<ir::RoundOp>);
  t.add("Sin", {7, 22}, unary<ir::SinOp>);
  t.add("Cos", {7, 22}, unary<ir::CosOp>);
  t.add("Tan", {7, 22}, unary<ir::TanOp>);
  t.add("Asin", {7, 22}, unary<ir::AsinOp>);
  t.add("Acos", {7, 22}, unary<ir::AcosOp>);
  t.add("Atan", {7, 22}, unary<ir::AtanOp>);
  t.add("Sinh", {9, 22}, unary<ir::SinhOp>);
  t.add("Cosh", {9, 22}, unary<ir::CoshOp>);
  t.add("Tanh", {6, 13}, unary<ir::TanhOp>);
  t.add("Asinh", {9, 22}, unary<ir::AsinhOp>);
  t.add("Acosh", {9, 22}, unary<ir::AcoshOp>);
  t.add("Atanh", {9, 22}, unary<ir::AtanhOp>);
  t.add("Erf", {9, 13}, unary<ir::ErfOp>);
  t.add("Add", {6, 7, 13, 14}, binary<ir::AddOp>);
  t.add("Sub", {6, 7, 13, 14}, binary<ir::SubOp>);
  t.add("Mul", {6, 7, 13, 14}, binary<ir::MulOp>);
  t.add("Div", {6, 7, 13, 14}, binary<ir::DivOp>);
  t.add("Pow", {1, 7, 12, 13, 15}, pow);
  t.add("Mod", {10, 13, 28}, mod);
  t.add("Max", {6, 8, 12, 13}, variadic<ir::MaxOp>);
  t.add("Min", {6, 8, 12, 13}, variadic<ir::MinOp>);
  t.add("Sum", {6, 8, 13}, variadic<ir::AddOp>);
  t.add("Mean", {6, 8, 13}, meanOfInputs);
  t.add("Clip", {6, 11, 12, 13}, clip);
}

} // namespace sprig::onnximport
