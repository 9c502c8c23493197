// RNN, GRU and LSTM: unrolled over time into matrix products and elementwise operations.
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"

namespace sprig::onnximport {

namespace {

struct Activation {
  std::string name;
  double alpha = 0, beta = 0;
};

Value activate(Node &n, const Activation &a, Value v) {
  if (a.name == "Sigmoid") return n.op<nn::SigmoidOp>({v});
  if (a.name == "Tanh") return n.op<nn::TanhOp>({v});
  if (a.name == "Relu") return n.op<nn::ReluOp>({v});
  if (a.name == "Affine") return n.add(n.mul(v, a.alpha), a.beta);
  if (a.name == "LeakyRelu") return n.op<nn::LeakyReluOp>({v}, {n.real("alpha", a.alpha)});
  if (a.name == "Elu") return n.op<nn::EluOp>({v}, {n.real("alpha", a.alpha)});
  if (a.name == "HardSigmoid") return n.op<nn::HardSigmoidOp>({v}, {n.real("alpha", a.alpha), n.real("beta", a.beta)});
  if (a.name == "ScaledTanh") return n.mul(n.op<nn::TanhOp>({n.mul(v, a.beta)}), a.alpha);
  if (a.name == "Softsign") return n.op<nn::SoftsignOp>({v});
  if (a.name == "Softplus") return n.op<nn::SoftplusOp>({v});
  if (a.name == "ThresholdedRelu") {
    Value above = n.compare(nn::ComparePredicate::gt, v, n.scalar(a.alpha, Emit::elem(v)));
    return n.select(above, v, n.scalar(0, Emit::elem(v)));
  }
  n.bad("has the activation '" + a.name + "', which is not known");
}

/// Alphas and betas go, in order, to the activations that have them.
std::vector<Activation> readActivations(Node &n, std::vector<std::string> names) {
  std::vector<double> alphas = n.realsAttr("activation_alpha"), betas = n.realsAttr("activation_beta");
  static const std::map<std::string, std::pair<std::optional<double>, std::optional<double>>> defaults = {
      {"Affine", {1.0, 0.0}},     {"LeakyRelu", {0.01, {}}},   {"ThresholdedRelu", {1.0, {}}},
      {"ScaledTanh", {1.0, 1.0}}, {"HardSigmoid", {0.2, 0.5}}, {"Elu", {1.0, {}}}};
  size_t nextAlpha = 0, nextBeta = 0;
  std::vector<Activation> result;
  for (const std::string &name : names) {
    Activation a{name};
    if (auto found = defaults.find(name); found != defaults.end()) {
      auto [alpha, beta] = found->second;
      if (alpha) a.alpha = nextAlpha < alphas.size() ? alphas[nextAlpha++] : *alpha;
      if (beta) a.beta = nextBeta < betas.size() ? betas[nextBeta++] : *beta;
    }
    result.push_back(a);
  }
  return result;
}

/// One direction of one layer, with its operands cut out.
struct Direction {
  Value weight, recurrence;    ///< [gates*H, I], [gates*H, H]
  Value inputBias, hiddenBias; ///< [gates*H], null when there is none
  Value peephole;              ///< [3*H], LSTM
  llvm::ArrayRef<Activation> activations;
};

class Layer {
public:
  Layer(Node &n, int64_t gates, std::vector<std::string> defaults) : n(n), gates(gates) {
    x = n.in(0);
    batchFirst = n.opset >= 14 && n.intAttr("layout", 0) != 0;
    n.require(Emit::rank(x) == 3, "has an input " + typeText(x) + "; expected time, batch and features");
    if (batchFirst) x = n.transpose(x, {1, 0, 2});
    type = Emit::elem(x);
    steps = Emit::shape(x)[0];
    batch = Emit::shape(x)[1];
    std::string direction = n.stringAttr("direction", "forward");
    n.require(direction == "forward" || direction == "reverse" || direction == "bidirectional",
              "has direction '" + direction + "'; known are forward, reverse and bidirectional");
    directions = direction == "bidirectional" ? 2 : 1;
    startsReversed = direction == "reverse";
    Value w = n.in(1), r = n.in(2);
    n.require(Emit::rank(r) == 3, "has a recurrence " + typeText(r) + "; expected directions, gates and hidden units");
    hidden = Emit::shape(r)[2];
    n.require(!n.attribute("hidden_size") || n.intAttr("hidden_size", 0) == hidden,
              "has hidden_size " + std::to_string(n.intAttr("hidden_size", 0)) + ", but a recurrence of " +
                  std::to_string(hidden));
    expect(w, {directions, gates * hidden, Emit::shape(x)[2]}, "weight");
    expect(r, {directions, gates * hidden, hidden}, "recurrence");
    if (n.has(3)) expect(n.in(3), {directions, 2 * gates * hidden}, "bias");
    if (steps > n.state.limits.loopIterations)
      n.unsupported("runs over " + std::to_string(steps) + " steps; loops are unrolled up to " +
                    std::to_string(n.state.limits.loopIterations));
    std::vector<std::string> names = n.stringsAttr("activations");
    if (names.empty())
      for (int64_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
    n.require(names.size() == defaults.size() * size_t(directions),
              "has " + std::to_string(names.size()) + " activations; expected " +
                  std::to_string(defaults.size() * size_t(directions)));
    activations = readActivations(n, names);
    perDirection = defaults.size();
    clip = n.realAttr("clip", 0);
    if (n.has(4)) {
      expect(n.in(4), {batch}, "sequence_lens");
      lengths = n.reshape(n.in(4), {batch, 1});
    }
  }

  void expect(Value v, IntsRef shape, const char *what) {
    n.require(Emit::shape(v) == shape,
              std::string("has a ") + what + " " + typeText(v) + "; expected shape " + shapeText(shape));
  }

  /// Initial state d of input i, [B, H].
  Value initial(unsigned i, int64_t d) {
    if (!n.has(i)) return n.splat(0, {batch, hidden}, type);
    Value v = n.in(i);
    expect(v, batchFirst ? IntsRef{batch, directions, hidden} : IntsRef{directions, batch, hidden}, "initial state");
    return n.reshape(n.sliceAxis(v, batchFirst ? 1 : 0, d, 1), {batch, hidden});
  }

  Direction direction(int64_t d) {
    auto row = [&](Value v) { return n.squeeze(n.sliceAxis(v, 0, d, 1), 0); };
    Direction result{
        row(n.in(1)), row(n.in(2)),
        {},           {},
        {},           llvm::ArrayRef<Activation>(activations).slice(size_t(d) * perDirection, perDirection)};
    if (n.has(3)) {
      Value bias = row(n.in(3));
      result.inputBias = n.sliceAxis(bias, 0, 0, gates * hidden);
      result.hiddenBias = n.sliceAxis(bias, 0, gates * hidden, gates * hidden);
    }
    return result;
  }

  /// x times the transposed weight, plus bias, for all steps at once: [T, B, gates*H].
  Value inputProducts(const Direction &d) {
    Value flat = n.reshape(x, {steps * batch, Emit::shape(x)[2]});
    Value product = n.matmul(flat, d.weight, false, true);
    if (d.inputBias) product = n.add(product, d.inputBias);
    return n.reshape(product, {steps, batch, gates * hidden});
  }
  Value step(Value products, int64_t t) { return n.reshape(n.sliceAxis(products, 0, t, 1), {batch, gates * hidden}); }
  Value gate(Value v, int64_t g) { return n.sliceAxis(v, Emit::rank(v) - 1, g * hidden, hidden); }
  Value clipped(Value v) { return clip > 0 ? n.min(n.max(v, n.scalar(-clip, type)), n.scalar(clip, type)) : v; }

  /// Runs `advance(t, state)` over time; keeps the state of sequences that have ended, whose outputs are zero.
  template <typename Advance> void run(int64_t d, Values &state, std::vector<Value> &outputs, const Advance &advance) {
    outputs.resize(size_t(steps));
    bool reversed = d == 1 || startsReversed;
    for (int64_t i = 0; i < steps; ++i) {
      int64_t t = reversed ? steps - 1 - i : i;
      Values next = advance(t, state);
      Value shown = next[0];
      if (lengths) {
        Value alive = n.compare(nn::ComparePredicate::lt, n.cast(n.ints({t}, {}), Emit::elem(lengths)), lengths);
        for (size_t k = 0; k < state.size(); ++k) next[k] = n.select(alive, next[k], state[k]);
        shown = n.select(alive, shown, n.scalar(0, type));
      }
      state = next;
      outputs[size_t(t)] = shown;
    }
  }

  /// Gives Y, Y_h (and Y_c) in the model's layout.
  void finish(const std::vector<std::vector<Value>> &outputs, const std::vector<Values> &states) {
    if (n.wants(0)) {
      n.require(steps > 0, "runs over no steps");
      Values perStep;
      for (int64_t t = 0; t < steps; ++t) {
        Values both;
        for (int64_t d = 0; d < directions; ++d)
          both.push_back(n.reshape(outputs[size_t(d)][size_t(t)], {1, 1, batch, hidden}));
        perStep.push_back(n.concat(both, 1));
      }
      Value y = n.concat(perStep, 0);
      n.out(batchFirst ? n.transpose(y, {2, 0, 1, 3}) : y, 0);
    }
    for (unsigned k = 0; k < states[0].size(); ++k) {
      if (!n.wants(k + 1)) continue;
      Values both;
      for (int64_t d = 0; d < directions; ++d) both.push_back(n.reshape(states[size_t(d)][k], {1, batch, hidden}));
      Value last = n.concat(both, 0);
      n.out(batchFirst ? n.transpose(last, {1, 0, 2}) : last, k + 1);
    }
  }

  Node &n;
  int64_t gates, steps = 0, batch = 0, hidden = 0, directions = 1;
  bool batchFirst = false, startsReversed = false;
  double clip = 0;
  size_t perDirection = 1;
  Value x, lengths;
  Type type;
  std::vector<Activation> activations;
};

/// Runs every direction with `cell`, which makes the step function of one.
template <typename Cell>
void runLayer(Node &n, Layer &layer, unsigned firstState, unsigned stateCount, const Cell &cell) {
  std::vector<std::vector<Value>> outputs(size_t(layer.directions));
  std::vector<Values> states;
  for (int64_t d = 0; d < layer.directions; ++d) {
    Values state;
    for (unsigned k = 0; k < stateCount; ++k) state.push_back(layer.initial(firstState + k, d));
    Direction direction = layer.direction(d);
    if (n.has(7) && stateCount == 2) {
      layer.expect(n.in(7), {layer.directions, 3 * layer.hidden}, "peephole");
      direction.peephole = n.squeeze(n.sliceAxis(n.in(7), 0, d, 1), 0);
    }
    Value products = layer.inputProducts(direction);
    layer.run(d, state, outputs[size_t(d)],
              [&](int64_t t, const Values &before) { return cell(direction, layer.step(products, t), before); });
    states.push_back(state);
  }
  layer.finish(outputs, states);
}

Value plus(Node &n, Value v, Value bias) { return bias ? n.add(v, bias) : v; }

void rnn(Node &n) {
  Layer layer(n, 1, {"Tanh"});
  runLayer(n, layer, 5, 1, [&](const Direction &d, Value input, const Values &state) {
    Value sum = n.add(input, plus(n, n.matmul(state[0], d.recurrence, false, true), d.hiddenBias));
    return Values{activate(n, d.activations[0], layer.clipped(sum))};
  });
}

void gru(Node &n) {
  Layer layer(n, 3, {"Sigmoid", "Tanh"});
  bool linearFirst = n.intAttr("linear_before_reset", 0) != 0;
  int64_t h = layer.hidden;
  runLayer(n, layer, 5, 1, [&](const Direction &d, Value input, const Values &state) {
    // Gates stand in the order update, reset, candidate.
    Value gatesR = n.sliceAxis(d.recurrence, 0, 0, 2 * h), candidateR = n.sliceAxis(d.recurrence, 0, 2 * h, h);
    Value gatesB = d.hiddenBias ? n.sliceAxis(d.hiddenBias, 0, 0, 2 * h) : Value();
    Value candidateB = d.hiddenBias ? n.sliceAxis(d.hiddenBias, 0, 2 * h, h) : Value();
    Value sums = n.add(n.sliceAxis(input, 1, 0, 2 * h), plus(n, n.matmul(state[0], gatesR, false, true), gatesB));
    Value update = activate(n, d.activations[0], layer.clipped(layer.gate(sums, 0)));
    Value reset = activate(n, d.activations[0], layer.clipped(layer.gate(sums, 1)));
    Value hidden = linearFirst ? n.mul(reset, plus(n, n.matmul(state[0], candidateR, false, true), candidateB))
                               : plus(n, n.matmul(n.mul(reset, state[0]), candidateR, false, true), candidateB);
    Value candidate = activate(n, d.activations[1], layer.clipped(n.add(layer.gate(input, 2), hidden)));
    return Values{n.add(n.mul(n.sub(1, update), candidate), n.mul(update, state[0]))};
  });
}

void lstm(Node &n) {
  Layer layer(n, 4, {"Sigmoid", "Tanh", "Tanh"});
  bool coupled = n.intAttr("input_forget", 0) != 0;
  runLayer(n, layer, 5, 2, [&](const Direction &d, Value input, const Values &state) {
    // Gates stand in the order input, output, forget, cell; peepholes in the order input, output, forget.
    Value sums = n.add(input, plus(n, n.matmul(state[0], d.recurrence, false, true), d.hiddenBias));
    auto gate = [&](int64_t g, Value cell) {
      Value sum = layer.gate(sums, g);
      if (d.peephole && cell) sum = n.add(sum, n.mul(layer.gate(d.peephole, g), cell));
      return layer.clipped(sum);
    };
    Value in = activate(n, d.activations[0], gate(0, state[1]));
    Value forget = coupled ? n.sub(1, in) : activate(n, d.activations[0], gate(2, state[1]));
    Value candidate = activate(n, d.activations[1], gate(3, {}));
    Value cell = n.add(n.mul(forget, state[1]), n.mul(in, candidate));
    Value out = activate(n, d.activations[0], gate(1, cell));
    return Values{n.mul(out, activate(n, d.activations[2], cell)), cell};
  });
}

} // namespace

void addRecurrent(Table &t) {
  t.add("RNN", {1, 7, 14, 22}, rnn);
  t.add("GRU", {1, 3, 7, 14, 22}, gru);
  t.add("LSTM", {1, 7, 14, 22}, lstm);
}

} // namespace sprig::onnximport
