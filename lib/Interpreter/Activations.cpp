// Composite activations by their own formulas, so that their decompositions are tested against something else.
#include "lib/Interpreter/Elementwise.h"
#include "dialects/NN/NNComposite.h"
#include <numbers>

namespace sprig::interp {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return larger(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double clampToUnit(double x) { return larger(0, smaller(1, x)); }

// With the operation at hand for its attributes.
template <typename OpT, typename F> void addScaled(EvaluatorTable &table, F) {
  table.add<OpT>(+[](OpT op, Evaluation &e) { return e.give(mapFloats(e, [&](double x) { return F{}(op, x); })); });
}

double gelu(ir::GeluOp op, double x) {
  if (!op.getTanhApproximation()) return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

} // namespace

void addActivations(EvaluatorTable &table) {
  addFloat<ir::SiluOp>(table, [](double x) { return x * logistic(x); });
  addFloat<ir::MishOp>(table, [](double x) { return x * std::tanh(softplus(x)); });
  addFloat<ir::SoftplusOp>(table, [](double x) { return softplus(x); });
  addFloat<ir::SoftsignOp>(table, [](double x) { return x / (1 + std::fabs(x)); });
  addFloat<ir::HardSwishOp>(table, [](double x) { return x * clampToUnit(x / 6 + 0.5); });
  addScaled<ir::GeluOp>(table, [](ir::GeluOp op, double x) { return gelu(op, x); });
  addScaled<ir::EluOp>(
      table, [](ir::EluOp op, double x) { return x > 0 ? x : op.getAlpha().convertToDouble() * std::expm1(x); });
  addScaled<ir::CeluOp>(table, [](ir::CeluOp op, double x) {
    double alpha = op.getAlpha().convertToDouble();
    return larger(0, x) + smaller(0, alpha * std::expm1(x / alpha));
  });
  addScaled<ir::SeluOp>(table, [](ir::SeluOp op, double x) {
    double gamma = op.getGamma().convertToDouble();
    return x > 0 ? gamma * x : gamma * op.getAlpha().convertToDouble() * std::expm1(x);
  });
  addScaled<ir::LeakyReluOp>(
      table, [](ir::LeakyReluOp op, double x) { return x >= 0 ? x : op.getAlpha().convertToDouble() * x; });
  addScaled<ir::HardSigmoidOp>(table, [](ir::HardSigmoidOp op, double x) {
    return clampToUnit(op.getAlpha().convertToDouble() * x + op.getBeta().convertToDouble());
  });
}

} // namespace sprig::interp
