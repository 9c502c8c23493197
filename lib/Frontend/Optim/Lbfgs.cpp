#include "sprig/lbfgs.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Optim/StrongWolfe.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/StateNames.h"
#include "sprig/grad.h"
#include "sprig/ops.h"
#include <cmath>
#include <set>

namespace sprig::optim {

using frontend::fail;

namespace {
constexpr const char *kWhat = "optim::Lbfgs", *kStepWhat = "Lbfgs::step";
constexpr double kLeastCurvature = 1e-10; // below it a step teaches nothing
/// A line search ends where its bracket moves parameters by less (PyTorch's, whatever the tolerance of steps).
constexpr double kLeastBracket = 1e-9;

/// Of `numbers`, which are counts too.
enum Number : size_t { kIterations, kEvaluations, kPairs, kLength, kScale, kNumbers };
} // namespace

struct Lbfgs::State {
  std::vector<Parameter> parameters;
  LbfgsOptions options;
  int64_t maxEvaluations;
  Belonging belonging;
  TensorType flat; ///< all parameters, one behind the other
  // What steps go on from: counts, the last step's length and the scale of the first Hessian; the last direction and
  // gradient; differences of gradients and of parameters, the oldest first.
  Parameter numbers, direction, gradient, changes, moves;

  double step(const std::function<Tensor()> &loss, Source at);
  Tensor flatten(const std::vector<Tensor> &tensors, Source at) const {
    std::vector<Tensor> rows;
    for (const Tensor &each : tensors) rows.push_back(reshape({each, at}, {-1}));
    return rows.size() == 1 ? rows[0] : cat(Operands(rows, at), 0);
  }
  Tensor values(Source at) const {
    std::vector<Tensor> tensors;
    for (const Parameter &parameter : parameters) tensors.push_back(parameter.value(at).detach(at));
    return flatten(tensors, at);
  }
  void setValues(const Tensor &all, Source at) const {
    int64_t begin = 0;
    for (const Parameter &parameter : parameters) {
      int64_t count = parameter.numel();
      Tensor part = slice({all, at}, 0, begin, begin + count);
      parameter.set(reshape({part, at}, parameter.shape()), at);
      begin += count;
    }
    frontend::endLineage();
  }
};

namespace {

double numberOf(const Tensor &scalar, Source at) { return cast({scalar, at}, DType::f64).item<double>(at); }
double dotOf(const Tensor &a, const Tensor &b, Source at) { return numberOf(dot({a, at}, {b, at}), at); }
double largest(const Tensor &x, Source at) { return numberOf(max({abs({x, at}), at}), at); }
/// x + factor y
Tensor plus(const Tensor &x, const Tensor &y, double factor, Source at) {
  return add({x, at}, {mul({y, at}, factor), at});
}

/// Rows, the oldest first, of which `pairs` are there: with one more, and without the oldest where all are taken.
Tensor withRow(const Tensor &rows, int64_t pairs, const Tensor &row, Source at) {
  const int64_t most = rows.shape()[0];
  Tensor next = unsqueeze({row, at}, 0);
  std::vector<Tensor> parts;
  bool isFull = pairs == most;
  if (pairs - isFull > 0) parts.push_back(slice({rows, at}, 0, isFull, pairs));
  parts.push_back(next);
  if (int64_t rest = most - pairs - 1; rest > 0) parts.push_back(slice({rows, at}, 0, pairs + 1, most));
  return parts.size() == 1 ? next : cat(Operands(parts, at), 0);
}

} // namespace

Lbfgs::Lbfgs(const Parameters &given, const LbfgsOptions &options, Source at) : state(std::make_shared<State>()) {
  State &s = *state;
  auto refuse = [&](const char *what, double value, const char *expected) {
    fail(at, kWhat, std::string(what) + " is " + frontend::realText(value) + ", expected " + expected);
  };
  if (!(options.lr > 0 && std::isfinite(options.lr))) refuse("lr", options.lr, "a number above 0");
  if (options.maxIterations < 1) refuse("maxIterations", double(options.maxIterations), "at least 1");
  if (options.maxEvaluations.value_or(1) < 1) refuse("maxEvaluations", double(*options.maxEvaluations), "at least 1");
  if (options.history < 1) refuse("history", double(options.history), "at least 1");
  if (!(options.toleranceGrad >= 0)) refuse("toleranceGrad", options.toleranceGrad, "at least 0");
  if (!(options.toleranceChange >= 0)) refuse("toleranceChange", options.toleranceChange, "at least 0");
  if (given.groups.size() != 1 || given.groups[0].lr || given.groups[0].weightDecay)
    fail(at, kWhat, "it has one rate and no decay for all parameters, so no groups");
  int64_t count = 0;
  std::set<Parameter::Cell *> seen;
  for (const Parameter &parameter : given.groups[0].parameters) {
    requireTrained(parameter, seen, kWhat, at);
    if (!s.parameters.empty() && parameter.dtype() != s.parameters[0].dtype())
      fail(at, kWhat,
           "parameter '" + parameter.name() + "' is " + describe(parameter.type()) + ", '" + s.parameters[0].name() +
               "' " + describe(s.parameters[0].type()) + "; all have one type");
    s.parameters.push_back(parameter);
    count += parameter.numel();
  }
  if (count == 0) fail(at, kWhat, "there is no parameter");
  s.options = options;
  s.maxEvaluations = options.maxEvaluations.value_or(options.maxIterations * 5 / 4);
  s.belonging = given;
  s.flat = {s.parameters[0].dtype(), {count}};
  auto keep = [&](const char *name, const Tensor &start) {
    Parameter kept(start, /*trainable=*/false, at);
    kept.setName(std::string(training::kOptimizerPrefix) + "lbfgs/" + name);
    return kept;
  };
  DeviceScope there(s.parameters[0].device(at), at);
  s.numbers = keep("numbers", zeros({kNumbers}, DType::f64, at));
  s.direction = keep("direction", zeros(s.flat.shape, s.flat.dtype, at));
  s.gradient = keep("gradient", zeros(s.flat.shape, s.flat.dtype, at));
  s.changes = keep("changes", zeros({options.history, count}, s.flat.dtype, at));
  s.moves = keep("moves", zeros({options.history, count}, s.flat.dtype, at));
}

namespace {

/// The step that is under way.
class Run {
public:
  Run(const std::function<Tensor()> &loss, std::function<Tensor(const Tensor &)> gradientOf, Source at)
      : lossOf(loss), gradientOf(std::move(gradientOf)), at(at) {}
  std::pair<double, Tensor> evaluate() {
    ++evaluations;
    Tensor loss = lossOf();
    frontend::requireDefined(loss, kStepWhat, "the loss", at);
    Tensor gradient = gradientOf(loss);
    return {numberOf(loss.detach(at), at), gradient};
  }
  int64_t evaluations = 0;

private:
  const std::function<Tensor()> &lossOf;
  std::function<Tensor(const Tensor &)> gradientOf;
  Source at;
};

/// What a step changes, as it was before: a step that throws has changed nothing.
class Before {
public:
  Before(std::vector<Parameter> changed, Source at) : changed(std::move(changed)), at(at) {
    for (const Parameter &each : this->changed) values.push_back(each.value(at).detach(at));
  }
  void restore() const {
    for (size_t i = 0; i < changed.size(); ++i) changed[i].set(values[i], at);
    frontend::endLineage();
  }

private:
  std::vector<Parameter> changed;
  std::vector<Tensor> values;
  Source at;
};

/// The inverse Hessian that the pairs and `scale` stand for, times -gradient: the two-loop recursion.
Tensor descent(const Tensor &gradient, const Tensor &changes, const Tensor &moves, int64_t pairs, double scale,
               Source at) {
  auto row = [&](const Tensor &rows, int64_t i) { return select({rows, at}, 0, i); };
  Tensor q = neg({gradient, at});
  std::vector<Tensor> shares{size_t(pairs)}, inverses{size_t(pairs)};
  for (int64_t i = pairs - 1; i >= 0; --i) {
    Tensor y = row(changes, i), s = row(moves, i);
    Tensor &share = shares[size_t(i)], &inverse = inverses[size_t(i)];
    inverse = reciprocal({dot({y, at}, {s, at}), at});
    share = mul({dot({s, at}, {q, at}), at}, {inverse, at});
    q = sub({q, at}, {mul({y, at}, {share, at}), at});
  }
  Tensor r = mul({q, at}, scale);
  for (int64_t i = 0; i < pairs; ++i) {
    Tensor y = row(changes, i), s = row(moves, i);
    Tensor back = mul({dot({y, at}, {r, at}), at}, {inverses[size_t(i)], at});
    r = add({r, at}, {mul({s, at}, {sub({shares[size_t(i)], at}, {back, at}), at}), at});
  }
  return r;
}

} // namespace

double Lbfgs::step(const std::function<Tensor()> &loss, Source at) const {
  frontend::requireNotRecording(kStepWhat, at);
  State &s = *state;
  s.belonging.check(s.parameters, kStepWhat, at);
  for (const Parameter &parameter : s.parameters)
    if (!parameter.trainable()) fail(at, kStepWhat, "parameter '" + parameter.name() + "' is frozen");
  for (const Parameter *each : {&s.direction, &s.gradient, &s.changes, &s.moves})
    frontend::follow(*each, s.parameters[0], at);
  std::vector<Parameter> changed = s.parameters;
  for (const Parameter *each : {&s.direction, &s.gradient, &s.changes, &s.moves}) changed.push_back(*each);
  Before before(std::move(changed), at);
  try {
    double first = s.step(loss, at);
    s.belonging.reportUntrained(s.parameters, kStepWhat, at);
    return first;
  } catch (...) {
    before.restore();
    throw;
  }
}

double Lbfgs::State::step(const std::function<Tensor()> &loss, Source at) {
  State &s = *this;
  Run run(
      loss,
      [&](const Tensor &value) {
        std::vector<Tensor> gradients = grad(value, s.parameters, {}, at);
        return s.flatten(gradients, at);
      },
      at);
  auto [first, gradient] = run.evaluate();
  std::vector<double> n = s.numbers.value().toVector<double>(at);
  double now = first;
  bool isFlat = largest(gradient, at) <= s.options.toleranceGrad;
  for (int64_t i = 1; !isFlat && i <= s.options.maxIterations; ++i) {
    n[kIterations] += 1;
    bool isFirst = n[kIterations] == 1;
    if (isFirst) {
      n[kScale] = 1;
      s.direction.set(neg({gradient, at}), at);
    } else {
      Tensor change = sub({gradient, at}, {s.gradient.value(), at});
      Tensor move = mul({s.direction.value(), at}, n[kLength]);
      if (double curvature = dotOf(change, move, at); curvature > kLeastCurvature) {
        s.changes.set(withRow(s.changes.value(), int64_t(n[kPairs]), change, at), at);
        s.moves.set(withRow(s.moves.value(), int64_t(n[kPairs]), move, at), at);
        n[kPairs] = std::min(n[kPairs] + 1, double(s.options.history));
        n[kScale] = curvature / dotOf(change, change, at);
      }
      s.direction.set(descent(gradient, s.changes.value(), s.moves.value(), int64_t(n[kPairs]), n[kScale], at), at);
    }
    s.gradient.set(gradient, at);
    const double before = now;
    double &t = n[kLength];
    t = s.options.lr * (isFirst ? std::min(1.0, 1 / numberOf(sum({abs({gradient, at}), at}), at)) : 1);
    Tensor direction = s.direction.value(), from = s.values(at);
    double slope = dotOf(gradient, direction, at);
    if (slope > -s.options.toleranceChange) break;
    const bool isLast = i == s.options.maxIterations;
    if (s.options.lineSearch == LineSearchRule::strongWolfe) {
      LineSearch search =
          strongWolfe({0, now, slope, gradient}, t, largest(direction, at), kLeastBracket, [&](double length) {
            s.setValues(plus(from, direction, length, at), at);
            auto [value, there] = run.evaluate();
            return LinePoint{length, value, dotOf(there, direction, at), there};
          });
      t = search.found.t;
      now = search.found.loss;
      gradient = search.found.gradient;
      s.setValues(plus(from, direction, t, at), at);
    } else {
      s.setValues(plus(from, direction, t, at), at);
      // Behind the last step nobody looks at it.
      if (!isLast) std::tie(now, gradient) = run.evaluate();
    }
    isFlat = largest(gradient, at) <= s.options.toleranceGrad;
    if (run.evaluations >= s.maxEvaluations) break;
    if (std::fabs(t) * largest(direction, at) <= s.options.toleranceChange) break;
    if (std::fabs(now - before) < s.options.toleranceChange) break;
  }
  n[kEvaluations] += double(run.evaluations);
  s.numbers.set(Tensor(n), at);
  return first;
}

const std::vector<Parameter> &Lbfgs::parameters() const { return state->parameters; }
int64_t Lbfgs::iterations(Source at) const { return int64_t(state->numbers.value().toVector<double>(at)[kIterations]); }
int64_t Lbfgs::evaluations(Source at) const {
  return int64_t(state->numbers.value().toVector<double>(at)[kEvaluations]);
}

std::vector<std::pair<std::string, Parameter>> Lbfgs::namedState() const {
  std::vector<std::pair<std::string, Parameter>> result;
  for (const Parameter *each : {&state->numbers, &state->direction, &state->gradient, &state->changes, &state->moves})
    result.emplace_back(each->name(), *each);
  return result;
}

nn::StateDict Lbfgs::stateDict() const { return valuesOf(namedState()); }

void Lbfgs::loadStateDict(const nn::StateDict &given, Source at) const { loadNamed(namedState(), given, kWhat, at); }

} // namespace sprig::optim
