// RNN, GRU and LSTM: one composite for each direction.
#include "lib/Import/ONNX/CheckOperands.h"
#include "dialects/NN/NNRecurrent.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"

namespace sprig::onnximport {

namespace {

/// A function that recurrent layers may name, and the defaults of the parameters that it has.
struct Function {
  llvm::StringLiteral onnx, name;
  std::optional<double> alpha, beta;
};
constexpr Function kFunctions[] = {{"Sigmoid", "sigmoid", {}, {}},
                                   {"Tanh", "tanh", {}, {}},
                                   {"Relu", "relu", {}, {}},
                                   {"Affine", "affine", 1.0, 0.0},
                                   {"LeakyRelu", "leaky_relu", 0.01, {}},
                                   {"Elu", "elu", 1.0, {}},
                                   {"HardSigmoid", "hard_sigmoid", 0.2, 0.5},
                                   {"ScaledTanh", "scaled_tanh", 1.0, 1.0},
                                   {"Softsign", "softsign", {}, {}},
                                   {"Softplus", "softplus", {}, {}},
                                   {"ThresholdedRelu", "thresholded_relu", 1.0, {}}};

/// How the weights of a layer lie: as ONNX has them, [directions, gates * hidden, inputs], or turned and in bytes,
/// whose scales and zero points are inputs 8 to 11 (com.microsoft DynamicQuantizeLSTM).
enum class Weights { floats, bytes };

class Layer {
public:
  Layer(Node &n, int64_t gates, size_t functions, unsigned states, Weights weights = Weights::floats)
      : n(n), functions(functions), states(states), weights(weights) {
    bool areBytes = weights == Weights::bytes;
    x = n.in(0);
    batchFirst = !areBytes && n.opset >= 14 && n.intAttr("layout", 0) != 0;
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
    n.require(Emit::rank(r) == 3,
              "has a recurrence " + typeText(r) + "; expected directions, " +
                  (areBytes ? "hidden units, and gates times hidden units" : "gates and hidden units"));
    hidden = Emit::shape(r)[areBytes ? 1 : 2];
    n.require(!n.attribute("hidden_size") || n.intAttr("hidden_size", 0) == hidden,
              "has hidden_size " + std::to_string(n.intAttr("hidden_size", 0)) + ", but a recurrence of " +
                  std::to_string(hidden));
    if (areBytes) {
      expect(w, {directions, Emit::shape(x)[2], gates * hidden}, "weight");
      expect(r, {directions, hidden, gates * hidden}, "recurrence");
      for (unsigned i = 8; i < 12; ++i) expectSpread(i, gates * hidden);
    } else {
      expect(w, {directions, gates * hidden, Emit::shape(x)[2]}, "weight");
      expect(r, {directions, gates * hidden, hidden}, "recurrence");
    }
    if (n.has(3)) expect(n.in(3), {directions, 2 * gates * hidden}, "bias");
    if (n.has(4)) {
      lengths = n.in(4);
      expect(lengths, {batch}, "sequence_lens");
      checkLengths(n, lengths, steps);
    }
    readActivations();
  }

  /// Runs every direction as an OpT and gives Y, Y_h (and Y_c) in the model's layout.
  template <typename OpT> void run(llvm::ArrayRef<NamedAttribute> extra = {}) {
    if (steps == 0) n.require(!n.wants(0), "runs over no steps");
    Values outputs;
    std::vector<Values> last(states);
    for (int64_t d = 0; d < directions; ++d) {
      Values results = steps ? n.results<OpT>(operands(d), attributes(d, extra)) : Values{Value()};
      if (results.size() == 1)
        for (unsigned k = 0; k < states; ++k) results.push_back(initial(k, d));
      else
        outputs.push_back(n.reshape(results[0], {steps, 1, batch, hidden}));
      for (unsigned k = 0; k < states; ++k) last[k].push_back(n.reshape(results[k + 1], {1, batch, hidden}));
    }
    if (n.wants(0)) {
      Value y = n.concat(outputs, 1);
      n.out(batchFirst ? n.transpose(y, {2, 0, 1, 3}) : y, 0);
    }
    for (unsigned k = 0; k < states; ++k) {
      if (!n.wants(k + 1)) continue;
      Value state = n.concat(last[k], 0);
      n.out(batchFirst ? n.transpose(state, {1, 0, 2}) : state, k + 1);
    }
  }

private:
  void expect(Value v, IntsRef shape, const char *what) {
    n.require(Emit::shape(v) == shape,
              std::string("has a ") + what + " " + typeText(v) + "; expected shape " + shapeText(shape));
  }

  /// A scale or zero point of bytes: one for each direction, or one for each of its columns.
  void expectSpread(unsigned i, int64_t columns) {
    IntsRef shape = Emit::shape(n.in(i));
    n.require(shape == IntsRef{directions} || shape == IntsRef{directions, columns},
              std::string("has a ") + (i % 2 ? "zero point " : "scale ") + typeText(n.in(i)) + " of its " +
                  (i < 10 ? "weight " : "recurrence ") + typeText(n.in(i < 10 ? 1 : 2)) + "; expected shape " +
                  shapeText(IntsRef{directions}) + " or " + shapeText(IntsRef{directions, columns}));
  }

  /// Alphas and betas go, in order, to the activations that have them.
  void readActivations() {
    std::vector<std::string> given = n.stringsAttr("activations");
    size_t wanted = functions * size_t(directions);
    n.require(given.empty() || given.size() == wanted,
              "has " + std::to_string(given.size()) + " activations; expected " + std::to_string(wanted));
    std::vector<double> givenAlphas = n.realsAttr("activation_alpha"), givenBetas = n.realsAttr("activation_beta");
    size_t nextAlpha = 0, nextBeta = 0;
    for (const std::string &name : given) {
      const Function *function = llvm::find_if(kFunctions, [&](const Function &f) { return f.onnx == name; });
      if (function == std::end(kFunctions)) n.bad("has the activation '" + name + "', which is not known");
      auto take = [](std::optional<double> otherwise, const std::vector<double> &from, size_t &next) {
        if (!otherwise) return 0.0;
        return next < from.size() ? from[next++] : *otherwise;
      };
      names.push_back(n.state.builder.getStringAttr(function->name));
      alphas.push_back(take(function->alpha, givenAlphas, nextAlpha));
      betas.push_back(take(function->beta, givenBetas, nextBeta));
    }
  }

  /// Initial state k of a direction, [B, H].
  Value initial(unsigned k, int64_t d) {
    if (!n.has(5 + k)) return n.splat(0, {batch, hidden}, type);
    Value v = n.in(5 + k);
    expect(v, batchFirst ? IntsRef{batch, directions, hidden} : IntsRef{directions, batch, hidden}, "initial state");
    return n.reshape(n.sliceAxis(v, batchFirst ? 1 : 0, d, 1), {batch, hidden});
  }

  Values operands(int64_t d) {
    auto row = [&](unsigned i) { return n.squeeze(n.sliceAxis(n.in(i), 0, d, 1), 0); };
    Values result{x, row(1), row(2)};
    segments = {1, 1, 1};
    if (weights == Weights::bytes)
      for (unsigned i = 8; i < 12; ++i) {
        result.push_back(row(i));
        segments.push_back(1);
      }
    auto optional = [&](bool has, llvm::function_ref<Value()> value) {
      if (has) result.push_back(value());
      segments.push_back(has);
    };
    for (unsigned k = 0; k < states; ++k) optional(true, [&] { return initial(k, d); });
    optional(n.has(3), [&] { return row(3); });
    if (states == 2) {
      if (n.has(7)) expect(n.in(7), {directions, 3 * hidden}, "peephole");
      optional(n.has(7), [&] { return row(7); });
    }
    optional(bool(lengths), [&] { return lengths; });
    return result;
  }

  llvm::SmallVector<NamedAttribute> attributes(int64_t d, llvm::ArrayRef<NamedAttribute> extra) {
    llvm::SmallVector<NamedAttribute> result(extra);
    mlir::OpBuilder &b = n.state.builder;
    result.push_back(n.attr("operandSegmentSizes", b.getDenseI32ArrayAttr(segments)));
    if (!names.empty()) {
      auto own = [&](auto &all) { return llvm::ArrayRef(all).slice(size_t(d) * functions, functions); };
      result.push_back(n.attr("activations", b.getArrayAttr(own(names))));
      result.push_back(n.attr("alphas", b.getDenseF64ArrayAttr(own(alphas))));
      result.push_back(n.attr("betas", b.getDenseF64ArrayAttr(own(betas))));
    }
    if (double clip = n.realAttr("clip", 0); clip > 0) result.push_back(n.real("clip", clip));
    if (d == 1 || startsReversed) result.push_back(n.unit("reverse"));
    return result;
  }

  Node &n;
  int64_t steps = 0, batch = 0, hidden = 0, directions = 1;
  size_t functions;
  unsigned states;
  Weights weights;
  bool batchFirst = false, startsReversed = false;
  Value x, lengths;
  Type type;
  llvm::SmallVector<Attribute> names;
  llvm::SmallVector<double> alphas, betas;
  llvm::SmallVector<int32_t> segments;
};

void rnn(Node &n) { Layer(n, 1, 1, 1).run<ir::RnnOp>(); }

void gru(Node &n) {
  llvm::SmallVector<NamedAttribute> extra;
  if (n.intAttr("linear_before_reset", 0) != 0) extra.push_back(n.unit("linear_before_reset"));
  Layer(n, 3, 2, 1).run<ir::GruOp>(extra);
}

void lstm(Node &n) {
  llvm::SmallVector<NamedAttribute> extra;
  if (n.intAttr("input_forget", 0) != 0) extra.push_back(n.unit("input_forget"));
  Layer(n, 4, 3, 2).run<ir::LstmOp>(extra);
}

} // namespace

void lstmOfBytes(Node &n) {
  llvm::SmallVector<NamedAttribute> extra;
  if (n.intAttr("input_forget", 0) != 0) extra.push_back(n.unit("input_forget"));
  Layer(n, 4, 3, 2, Weights::bytes).run<ir::LstmIntegerOp>(extra);
}

void addRecurrent(Table &t) {
  t.add("RNN", {1, 7, 14, 22}, rnn);
  t.add("GRU", {1, 3, 7, 14, 22}, gru);
  t.add("LSTM", {1, 7, 14, 22}, lstm);
}

} // namespace sprig::onnximport
