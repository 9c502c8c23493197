#include "lib/Target/Math/ExpandMath.h"
#include "lib/Target/Math/Functions.h"

using namespace mlir;
using namespace sprig;

/// Scalars and 1-d vectors of f32 or f64.
static bool expands(Operation *op, unsigned bits) {
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  auto vector = dyn_cast<VectorType>(type);
  return (bits == 32 ? element.isF32() : element.isF64()) && (!vector || vector.getRank() == 1);
}

namespace {
template <typename OpT, Value (*function)(ScalarBuilder &, Value), unsigned bits = 32>
struct ExpandUnary : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (!expands(op, bits)) return failure();
    ScalarBuilder s(rewriter, op.getLoc());
    rewriter.replaceOp(op, function(s, op.getOperand()));
    return success();
  }
};

struct ExpandExp : OpRewritePattern<math::ExpOp> {
  ExpandExp(MLIRContext *context, TimesPower timesPower)
      : OpRewritePattern(context), timesPower(std::move(timesPower)) {}
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!expands(op, 32)) return failure();
    ScalarBuilder s(rewriter, op.getLoc());
    rewriter.replaceOp(op, expand::exp(s, op.getOperand(), timesPower));
    return success();
  }
  TimesPower timesPower;
};

template <Value (*function)(ScalarBuilder &, Value, Value), unsigned bits>
struct ExpandPow : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern<math::PowFOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    if (!expands(op, bits)) return failure();
    ScalarBuilder s(rewriter, op.getLoc());
    rewriter.replaceOp(op, function(s, op.getLhs(), op.getRhs()));
    return success();
  }
};

struct ExpandRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern<arith::RemFOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    if (!expands(op, 32) && !expands(op, 64)) return failure();
    ScalarBuilder s(rewriter, op.getLoc());
    rewriter.replaceOp(op, expand::remainder(s, op.getLhs(), op.getRhs()));
    return success();
  }
};
} // namespace

static Value rsqrt(ScalarBuilder &s, Value x) { return s.div(s.f(x, 1), s.sqrt(x)); }

void sprig::populateSprigMathPatterns(RewritePatternSet &patterns, TimesPower timesPower) {
  patterns.add<ExpandExp>(patterns.getContext(), std::move(timesPower));
  patterns.add<ExpandUnary<math::LogOp, expand::log>, ExpandUnary<math::TanhOp, expand::tanh>,
               ExpandUnary<math::ErfOp, expand::erf>, ExpandUnary<math::ExpM1Op, expand::expm1>,
               ExpandUnary<math::Log1pOp, expand::log1p>, ExpandUnary<math::SinhOp, expand::sinh>,
               ExpandUnary<math::CoshOp, expand::cosh>, ExpandUnary<math::AsinhOp, expand::asinh>,
               ExpandUnary<math::AcoshOp, expand::acosh>, ExpandUnary<math::AtanhOp, expand::atanh>,
               ExpandUnary<math::SinOp, expand::sin>, ExpandUnary<math::CosOp, expand::cos>,
               ExpandUnary<math::TanOp, expand::tan>, ExpandUnary<math::AsinOp, expand::asin>,
               ExpandUnary<math::AcosOp, expand::acos>, ExpandUnary<math::AtanOp, expand::atan>,
               ExpandUnary<math::RsqrtOp, rsqrt>, ExpandPow<expand::pow, 32>>(patterns.getContext());
}

void sprig::populateSprigLibraryMathPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandUnary<math::ExpOp, expand::expDouble, 64>, ExpandUnary<math::LogOp, expand::logDouble, 64>,
               ExpandUnary<math::ExpM1Op, expand::expm1Double, 64>, ExpandUnary<math::Log1pOp, expand::log1pDouble, 64>,
               ExpandUnary<math::SinhOp, expand::sinhDouble, 64>, ExpandUnary<math::CoshOp, expand::coshDouble, 64>,
               ExpandUnary<math::TanhOp, expand::tanhDouble, 64>, ExpandUnary<math::AsinhOp, expand::asinhDouble, 64>,
               ExpandUnary<math::AcoshOp, expand::acoshDouble, 64>, ExpandUnary<math::AtanhOp, expand::atanhDouble, 64>,
               ExpandUnary<math::ErfOp, expand::erfDouble, 64>, ExpandUnary<math::SinOp, expand::sinDouble, 64>,
               ExpandUnary<math::CosOp, expand::cosDouble, 64>, ExpandUnary<math::TanOp, expand::tanDouble, 64>,
               ExpandUnary<math::AsinOp, expand::asinDouble, 64>, ExpandUnary<math::AcosOp, expand::acosDouble, 64>,
               ExpandUnary<math::AtanOp, expand::atanDouble, 64>, ExpandUnary<math::RsqrtOp, rsqrt, 64>,
               ExpandPow<expand::powDouble, 64>, ExpandRemainder>(patterns.getContext());
}
