#include "lib/Target/Math/ExpandMath.h"
#include "lib/Target/Math/Functions.h"

using namespace mlir;
using namespace sprig;

/// Scalars and 1-d vectors of f32.
static bool expands(Operation *op) {
  Type type = op->getResult(0).getType();
  auto vector = dyn_cast<VectorType>(type);
  return getElementTypeOrSelf(type).isF32() && (!vector || vector.getRank() == 1);
}

namespace {
template <typename OpT, Value (*function)(ScalarBuilder &, Value)> struct ExpandUnary : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (!expands(op)) return failure();
    ScalarBuilder s(rewriter, op.getLoc());
    rewriter.replaceOp(op, function(s, op.getOperand()));
    return success();
  }
};

struct ExpandPow : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    if (!expands(op)) return failure();
    ScalarBuilder s(rewriter, op.getLoc());
    rewriter.replaceOp(op, expand::pow(s, op.getLhs(), op.getRhs()));
    return success();
  }
};
} // namespace

static Value rsqrt(ScalarBuilder &s, Value x) { return s.div(s.f(x, 1), s.sqrt(x)); }

void sprig::populateSprigMathPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandUnary<math::ExpOp, expand::exp>, ExpandUnary<math::LogOp, expand::log>,
               ExpandUnary<math::TanhOp, expand::tanh>, ExpandUnary<math::ErfOp, expand::erf>,
               ExpandUnary<math::ExpM1Op, expand::expm1>, ExpandUnary<math::Log1pOp, expand::log1p>,
               ExpandUnary<math::SinhOp, expand::sinh>, ExpandUnary<math::CoshOp, expand::cosh>,
               ExpandUnary<math::AsinhOp, expand::asinh>, ExpandUnary<math::AcoshOp, expand::acosh>,
               ExpandUnary<math::AtanhOp, expand::atanh>, ExpandUnary<math::SinOp, expand::sin>,
               ExpandUnary<math::CosOp, expand::cos>, ExpandUnary<math::TanOp, expand::tan>,
               ExpandUnary<math::AsinOp, expand::asin>, ExpandUnary<math::AcosOp, expand::acos>,
               ExpandUnary<math::AtanOp, expand::atan>, ExpandUnary<math::RsqrtOp, rsqrt>, ExpandPow>(
      patterns.getContext());
}
