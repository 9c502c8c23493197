// Steps of optimizers, as plain arithmetic (domain ai.onnx.preview.training).
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNUnary.h"

namespace sprig::onnximport {

namespace {

/// Inputs: rate, step count, then `kinds` groups of tensors; outputs: the groups but the gradients.
struct Step {
  Value rate, count;
  unsigned tensors;
};
Step readStep(Node &n, unsigned kinds) {
  n.require(n.inputs() > 2 && (n.inputs() - 2) % kinds == 0,
            "has " + std::to_string(n.inputs() - 2) + " tensors in " + std::to_string(kinds) + " groups");
  return {n.reshape(n.in(0), {}), n.reshape(n.in(1), {}), (n.inputs() - 2) / kinds};
}

Value rateAt(Node &n, const Step &s, Value like) {
  double decay = n.realAttr("decay_factor", 0);
  Value rate = n.cast(s.rate, Emit::elem(like));
  if (decay == 0) return rate;
  return n.div(rate, n.add(n.mul(n.cast(s.count, Emit::elem(like)), decay), 1));
}

Value regularized(Node &n, Value gradient, Value x) {
  double norm = n.realAttr("norm_coefficient", 0);
  return norm == 0 ? gradient : n.add(gradient, n.mul(x, norm));
}

void adagrad(Node &n) {
  Step s = readStep(n, 3);
  for (unsigned i = 0; i < s.tensors; ++i) {
    Value x = n.in(2 + i), gradient = n.in(2 + s.tensors + i), squares = n.in(2 + 2 * s.tensors + i);
    gradient = regularized(n, gradient, x);
    squares = n.add(squares, n.mul(gradient, gradient));
    Value divisor = n.add(n.op<ir::SqrtOp>({squares}), n.realAttr("epsilon", 0));
    n.out(n.sub(x, n.div(n.mul(rateAt(n, s, x), gradient), divisor)), i);
    n.out(squares, s.tensors + i);
  }
}

void adam(Node &n) {
  Step s = readStep(n, 4);
  double alpha = n.realAttr("alpha", 0.9f), beta = n.realAttr("beta", 0.999f),
         after = n.realAttr("norm_coefficient_post", 0);
  for (unsigned i = 0; i < s.tensors; ++i) {
    Value x = n.in(2 + i), gradient = n.in(2 + s.tensors + i), v = n.in(2 + 2 * s.tensors + i),
          h = n.in(2 + 3 * s.tensors + i);
    gradient = regularized(n, gradient, x);
    v = n.add(n.mul(v, alpha), n.mul(gradient, 1 - alpha));
    h = n.add(n.mul(h, beta), n.mul(n.mul(gradient, gradient), 1 - beta));
    Value divisor = n.add(n.op<ir::SqrtOp>({h}), n.realAttr("epsilon", 0));
    // The first step has no bias to correct.
    Type type = Emit::elem(x);
    Value steps = n.cast(s.count, type), rate = n.cast(s.rate, type);
    Value one = n.scalar(1, type);
    Value unbiased = n.div(n.op<ir::SqrtOp>({n.sub(one, n.pow(n.scalar(beta, type), steps))}),
                           n.sub(one, n.pow(n.scalar(alpha, type), steps)));
    Value started = n.compare(ir::ComparePredicate::gt, s.count, n.scalar(0, Emit::elem(s.count)));
    rate = n.select(started, n.mul(rate, unbiased), rate);
    Value moved = n.sub(x, n.div(n.mul(rate, v), divisor));
    n.out(after == 0 ? moved : n.mul(moved, 1 - after), i);
    n.out(v, s.tensors + i);
    n.out(h, 2 * s.tensors + i);
  }
}

void momentum(Node &n) {
  Step s = readStep(n, 3);
  std::string mode = n.stringAttr("mode", "");
  n.require(mode == "standard" || mode == "nesterov", "has mode '" + mode + "'; known are standard and nesterov");
  double alpha = n.realAttr("alpha", 0), beta = n.realAttr("beta", 0);
  for (unsigned i = 0; i < s.tensors; ++i) {
    Value x = n.in(2 + i), gradient = n.in(2 + s.tensors + i), v = n.in(2 + 2 * s.tensors + i);
    gradient = regularized(n, gradient, x);
    // The first step takes the whole gradient.
    Type type = Emit::elem(x);
    Value started = n.compare(ir::ComparePredicate::gt, s.count, n.scalar(0, Emit::elem(s.count)));
    Value share = n.select(started, n.scalar(beta, type), n.scalar(1, type));
    v = n.add(n.mul(v, alpha), n.mul(gradient, share));
    Value direction = mode == "standard" ? v : n.add(gradient, n.mul(v, alpha));
    n.out(n.sub(x, n.mul(direction, n.cast(s.rate, type))), i);
    n.out(v, s.tensors + i);
  }
}

} // namespace

void addTraining(Table &t) {
  t.add("Adagrad", {1}, adagrad, "ai.onnx.preview.training");
  t.add("Adam", {1}, adam, "ai.onnx.preview.training");
  t.add("Momentum", {1}, momentum, "ai.onnx.preview.training");
}

} // namespace sprig::onnximport
