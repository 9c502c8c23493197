#include "lib/Training/OptimizerUpdate.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Training/StateNames.h"

using namespace mlir;

namespace sprig::training {
namespace {

class Update {
public:
  Update(ir::Expression &e, StateAccess &state, const OptimizerConfig &optimizer, const StepScalars &step,
         double lrScale, double weightDecay, const std::string &name, Value parameter, Value gradient)
      : e(e), state(state), o(optimizer), step(step), weightDecay(weightDecay), name(name), w(parameter), g(gradient),
        type(ir::Expression::typeOf(w)) {
    rate = lrScale == 1 ? step.lr : e.mul(step.lr, e.splat(step.lr, lrScale));
    lr = scalar(rate);
  }

  /// The new value.
  Value run() {
    bool decoupled = o.decoupled || o.kind == OptimizerKind::adamw || o.kind == OptimizerKind::lion;
    if (weightDecay != 0 && !decoupled) g = e.add(g, scale(w, weightDecay));
    if (weightDecay != 0 && decoupled)
      w = e.mul(w, scalar(e.sub(e.splat(rate, 1), e.mul(rate, e.splat(rate, weightDecay)))));
    switch (o.kind) {
    case OptimizerKind::sgd: return sgd();
    case OptimizerKind::adam:
    case OptimizerKind::adamw: return adam();
    case OptimizerKind::nadam: return nadam();
    case OptimizerKind::radam: return radam();
    case OptimizerKind::rmsprop: return rmsprop();
    case OptimizerKind::adagrad: return adagrad();
    case OptimizerKind::adadelta: return adadelta();
    case OptimizerKind::lion: return lion();
    }
    return w;
  }

private:
  /// A scalar of f64 in the parameter's type.
  Value scalar(Value value) { return e.cast(value, type.getElementType()); }
  Value scale(Value x, double factor) { return e.mul(x, e.splat(x, factor)); }
  /// share * x + (1 - share) * y.
  Value mix(Value x, Value y, double share) { return e.add(scale(x, share), scale(y, 1 - share)); }
  Value slot(const char *slotKind) {
    Operation *declared = state.declare(slotName(slotKind, name), type, 0);
    declared->setAttr(ir::kOptimizerStateAttr, UnitAttr::get(declared->getContext()));
    return state.get(slotName(slotKind, name));
  }
  void keep(const char *slotKind, Value value) { state.set(slotName(slotKind, name), value); }
  /// w - lr * direction.
  Value descend(Value direction) { return e.sub(w, e.mul(direction, lr)); }

  Value sgd() {
    if (o.momentum == 0) return descend(g);
    Value share = g;
    if (o.dampening != 0) { // the first step takes the whole gradient
      Value isFirst = e.compare(ir::ComparePredicate::eq, step.count, e.splat(step.count, 0));
      Value factor = e.select(isFirst, e.splat(step.count, 1), e.splat(step.count, 1 - o.dampening));
      share = e.mul(g, scalar(factor));
    }
    Value v = e.add(scale(slot("momentum"), o.momentum), share);
    keep("momentum", v);
    return descend(o.nesterov ? e.add(g, scale(v, o.momentum)) : v);
  }

  /// The averages of the gradient and of its square.
  std::pair<Value, Value> moments() {
    Value m = mix(slot("exp_avg"), g, o.beta1), v = mix(slot("exp_avg_sq"), e.mul(g, g), o.beta2);
    keep("exp_avg", m);
    keep("exp_avg_sq", v);
    return {m, v};
  }
  /// t, of f64.
  Value time() { return e.add(step.count, e.splat(step.count, 1)); }
  Value power(double base, Value exponent) { return e.binary<ir::PowOp>(e.splat(exponent, base), exponent); }
  /// 1 - beta^t.
  Value correction(double beta) { return e.sub(e.splat(rate, 1), power(beta, time())); }
  /// sqrt(v / (1 - beta2^t)) + eps.
  Value deviation(Value v) {
    Value share = scalar(e.unary<ir::RsqrtOp>(correction(o.beta2)));
    return e.add(e.mul(e.unary<ir::SqrtOp>(v), share), e.splat(v, o.eps));
  }

  // lr / (1 - beta1^t) and 1 / sqrt(1 - beta2^t) are scalars of the step.
  Value adam() {
    auto [m, v] = moments();
    Value rateOfStep = scalar(e.div(rate, correction(o.beta1)));
    return e.sub(w, e.div(e.mul(m, rateOfStep), deviation(v)));
  }

  // The decay of the first moment comes up with the steps; what all steps' decays multiply to has no closed form.
  Value nadam() {
    auto decayAt = [&](Value t) {
      Value rise = power(0.96, e.mul(t, e.splat(t, o.momentumDecay)));
      return e.mul(e.sub(e.splat(t, 1), e.mul(rise, e.splat(t, 0.5))), e.splat(t, o.beta1));
    };
    auto [m, v] = moments();
    Value t = time(), one = e.splat(t, 1), now = decayAt(t), next = decayAt(e.add(t, one));
    const std::string productName = slotName("mu_product", name);
    state.declare(productName, ir::Expression::typeOf(t), 1);
    Value product = e.mul(state.get(productName), now);
    state.set(productName, product);
    auto rateOf = [&](Value share, Value all) { return scalar(e.div(e.mul(rate, share), e.sub(one, all))); };
    Value moved = e.add(e.mul(g, rateOf(e.sub(one, now), product)), e.mul(m, rateOf(next, e.mul(product, next))));
    return e.sub(w, e.div(moved, deviation(v)));
  }

  // rho is how many gradients the second moment knows: up to 5 the step goes by the first moment alone.
  Value radam() {
    constexpr double kLeast = 5;
    auto [m, v] = moments();
    Value plain = e.div(rate, correction(o.beta1));
    const double most = 2 / (1 - o.beta2) - 1;
    if (most <= kLeast) return e.sub(w, e.mul(m, scalar(plain)));
    Value t = time(), left = power(o.beta2, t), known = e.sub(e.splat(t, 1), left);
    Value rho = e.sub(e.splat(t, most), e.div(e.mul(e.mul(t, left), e.splat(t, 2)), known));
    Value isKnown = e.compare(ir::ComparePredicate::gt, rho, e.splat(t, kLeast));
    auto less = [&](double by) { return e.sub(rho, e.splat(t, by)); };
    Value square = e.div(e.mul(e.mul(less(4), less(2)), e.splat(t, most / ((most - 4) * (most - 2)))), rho);
    // No root of a negative number, nor a division by 0, where the result is not taken.
    Value share = e.unary<ir::SqrtOp>(e.mul(e.select(isKnown, square, e.splat(t, 0)), known));
    Value rateOfStep = scalar(e.select(isKnown, e.mul(plain, share), plain));
    Value divisor = e.select(isKnown, e.add(e.unary<ir::SqrtOp>(v), e.splat(v, o.eps)), e.splat(v, 1));
    return e.sub(w, e.div(e.mul(m, rateOfStep), divisor));
  }

  Value rmsprop() {
    Value v = mix(slot("square_avg"), e.mul(g, g), o.alpha);
    keep("square_avg", v);
    Value u = e.div(g, e.add(e.unary<ir::SqrtOp>(v), e.splat(v, o.eps)));
    if (o.momentum != 0) {
      u = e.add(scale(slot("momentum"), o.momentum), u);
      keep("momentum", u);
    }
    return descend(u);
  }

  Value adagrad() {
    Value s = e.add(slot("sum"), e.mul(g, g));
    keep("sum", s);
    if (o.lrDecay != 0) {
      Value slower = e.add(e.mul(step.count, e.splat(step.count, o.lrDecay)), e.splat(step.count, 1));
      lr = scalar(e.div(rate, slower));
    }
    return descend(e.div(g, e.add(e.unary<ir::SqrtOp>(s), e.splat(s, o.eps))));
  }

  Value adadelta() {
    Value v = mix(slot("square_avg"), e.mul(g, g), o.rho), moved = slot("acc_delta");
    auto root = [&](Value x) { return e.unary<ir::SqrtOp>(e.add(x, e.splat(x, o.eps))); };
    Value delta = e.mul(e.div(root(moved), root(v)), g);
    keep("square_avg", v);
    keep("acc_delta", mix(moved, e.mul(delta, delta), o.rho));
    return descend(delta);
  }

  Value lion() {
    Value m = slot("exp_avg");
    Value direction = e.unary<ir::SignOp>(mix(m, g, o.beta1));
    keep("exp_avg", mix(m, g, o.beta2));
    return descend(direction);
  }

  ir::Expression &e;
  StateAccess &state;
  const OptimizerConfig &o;
  const StepScalars &step;
  double weightDecay;
  const std::string &name;
  Value w, g;
  RankedTensorType type;
  Value rate, lr; // of f64; in the parameter's type
};

} // namespace

Value updatedParameter(ir::Expression &e, StateAccess &state, const OptimizerConfig &optimizer, const StepScalars &step,
                       double lrScale, double weightDecay, const std::string &name, Value parameter, Value gradient) {
  return Update(e, state, optimizer, step, lrScale, weightDecay, name, parameter, gradient).run();
}

} // namespace sprig::training
