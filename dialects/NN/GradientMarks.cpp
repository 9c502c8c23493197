#include "dialects/NN/GradientMarks.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNYield.h"

using namespace mlir;

namespace sprig::ir {

Value MarkedExpression::cut(Value condition, Value x) {
  return isMarked ? select(condition, unary<StopGradientOp>(x), x) : x;
}

static void fillRegion(OpBuilder &b, Location loc, Region &region, ArrayRef<Type> arguments,
                       llvm::function_ref<Value(Expression &, ValueRange)> body) {
  OpBuilder::InsertionGuard guard(b);
  Block &block = region.emplaceBlock();
  block.addArguments(arguments, SmallVector<Location>(arguments.size(), loc));
  b.setInsertionPointToStart(&block);
  Expression e(b, loc);
  YieldOp::create(b, loc, body(e, block.getArguments()));
}

Value MarkedExpression::negatedMagnitude(Value x, double slopeAtZero) {
  auto negated = [](Expression &e, Value v) { return e.unary<NegOp>(e.unary<AbsOp>(v)); };
  if (!isMarked) return negated(*this, x);
  Type type = x.getType();
  auto op = CustomGradientOp::create(b, loc, TypeRange(type), ValueRange(x));
  fillRegion(b, loc, op.getForward(), type, [&](Expression &e, ValueRange v) { return negated(e, v[0]); });
  fillRegion(b, loc, op.getBackward(), {type, type, type}, [&](Expression &e, ValueRange v) { // x, the result, g
    auto falls = slopeAtZero < 0 ? ComparePredicate::ge : ComparePredicate::gt;
    return e.select(e.compare(falls, v[0], e.splat(v[0], 0)), e.unary<NegOp>(v[2]), v[2]);
  });
  return op.getResult(0);
}

Value MarkedExpression::exponentialBelow(Value x) {
  if (!isMarked) return unary<Expm1Op>(x);
  Type type = x.getType();
  auto op = CustomGradientOp::create(b, loc, TypeRange(type), ValueRange(x));
  fillRegion(b, loc, op.getForward(), type, [](Expression &e, ValueRange v) { return e.unary<Expm1Op>(v[0]); });
  fillRegion(b, loc, op.getBackward(), {type, type, type}, [](Expression &e, ValueRange v) { // x, the result, g
    Value slope = e.add(v[1], e.splat(v[1], 1));
    return e.mul(v[2], e.select(e.compare(ComparePredicate::eq, v[0], e.splat(v[0], 0)), e.splat(slope, 1), slope));
  });
  return op.getResult(0);
}

} // namespace sprig::ir
