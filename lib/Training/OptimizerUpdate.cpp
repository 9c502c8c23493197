#include "lib/Training/OptimizerUpdate.h"
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
    bool decoupled = o.kind == OptimizerKind::adamw || o.kind == OptimizerKind::lion;
    if (weightDecay != 0 && !decoupled) g = e.add(g, scale(w, weightDecay));
    if (weightDecay != 0 && decoupled)
      w = e.mul(w, scalar(e.sub(e.splat(rate, 1), e.mul(rate, e.splat(rate, weightDecay)))));
    switch (o.kind) {
    case OptimizerKind::sgd: return sgd();
    case OptimizerKind::adam:
    case OptimizerKind::adamw: return adam();
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
    state.declare(slotName(slotKind, name), type, 0);
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

  // lr / (1 - beta1^t) and 1 / sqrt(1 - beta2^t) are scalars of the step.
  Value adam() {
    Value m = mix(slot("exp_avg"), g, o.beta1), v = mix(slot("exp_avg_sq"), e.mul(g, g), o.beta2);
    keep("exp_avg", m);
    keep("exp_avg_sq", v);
    Value t = e.add(step.count, e.splat(step.count, 1)), one = e.splat(t, 1);
    auto correction = [&](double beta) { return e.sub(one, e.binary<ir::PowOp>(e.splat(t, beta), t)); };
    Value rateOfStep = scalar(e.div(rate, correction(o.beta1)));
    Value deviation = scalar(e.unary<ir::RsqrtOp>(correction(o.beta2)));
    Value divisor = e.add(e.mul(e.unary<ir::SqrtOp>(v), deviation), e.splat(v, o.eps));
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
    auto deviation = [&](Value x) { return e.unary<ir::SqrtOp>(e.add(x, e.splat(x, o.eps))); };
    Value delta = e.mul(e.div(deviation(moved), deviation(v)), g);
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
