// Recurrent layers: one direction, whose dimension ONNX's operators have in front.
#include "lib/Export/ONNX/Exporter.h"
#include <array>

namespace sprig::onnxexport {

namespace {

struct Function {
  const char *nn, *onnx;
  bool hasAlpha, hasBeta;
};
constexpr Function kFunctions[] = {{"sigmoid", "Sigmoid", false, false},
                                   {"tanh", "Tanh", false, false},
                                   {"relu", "Relu", false, false},
                                   {"affine", "Affine", true, true},
                                   {"leaky_relu", "LeakyRelu", true, false},
                                   {"elu", "Elu", true, false},
                                   {"hard_sigmoid", "HardSigmoid", true, true},
                                   {"scaled_tanh", "ScaledTanh", true, true},
                                   {"softsign", "Softsign", false, false},
                                   {"softplus", "Softplus", false, false},
                                   {"thresholded_relu", "ThresholdedRelu", true, false}};

/// ONNX lists parameters of those functions alone that have them.
void addActivations(Site &n, Attributes &attributes) {
  std::vector<std::string> names = n.words("activations"), onnx;
  if (names.empty()) return;
  std::vector<double> givenAlphas = n.reals("alphas"), givenBetas = n.reals("betas"), alphas, betas;
  for (size_t i = 0; i < names.size(); ++i) {
    const Function *function = nullptr;
    for (const Function &each : kFunctions)
      if (names[i] == each.nn) function = &each;
    if (!function) n.refuse("has the activation '" + names[i] + "', which ONNX has not");
    onnx.push_back(function->onnx);
    if (function->hasAlpha && i < givenAlphas.size()) alphas.push_back(givenAlphas[i]);
    if (function->hasBeta && i < givenBetas.size()) betas.push_back(givenBetas[i]);
  }
  attributes.push_back(stringsAttr("activations", onnx));
  if (!alphas.empty()) attributes.push_back(realsAttr("activation_alpha", alphas));
  if (!betas.empty()) attributes.push_back(realsAttr("activation_beta", betas));
}

/// Blocks of rows in ONNX's order of gates, each `times` as often as there are gates.
Ref inOrder(Site &n, const Ref &value, int64_t hidden, int64_t times) {
  Ints blocks = n.integers("gate_blocks");
  if (blocks.empty()) return value;
  Refs parts;
  for (int64_t half = 0; half < times; ++half)
    for (int64_t block : blocks) {
      int64_t start = (half * int64_t(blocks.size()) + block) * hidden;
      parts.push_back(n.emit("Slice", {value, n.ints({start}), n.ints({start + hidden}), n.ints({0})}));
    }
  return n.emit("Concat", parts, {attr("axis", int64_t(0))});
}

/// `places[i]` is the operand of ONNX's operator that the i-th (optional) operand here becomes.
template <size_t count> bool layer(Site &n, const char *op, const std::array<size_t, count> &places, size_t states) {
  if (!n.can(op, n.type(0).dtype)) return false;
  Ints segments = n.integers("operandSegmentSizes");
  if (segments.size() != count) n.refuse("does not say which of its operands are there");
  Refs operands(8);
  size_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!segments[i]) continue;
    Ref value = n.in(next++);
    size_t place = places[i];
    if (place >= 1 && place <= 3) value = inOrder(n, value, n.resultType(1).shape[1], place == 3 ? 2 : 1);
    // Weights, biases and states have a dimension of directions; input and lengths have none.
    operands[place] = place == 0 ? value : place == 4 ? n.cast(value, DType::i32) : n.unsqueeze(value, 0);
  }
  Attributes attributes{attr("hidden_size", n.resultType(1).shape[1])};
  if (n.flag("reverse")) attributes.push_back(attr("direction", std::string("reverse")));
  if (n.flag("linear_before_reset")) attributes.push_back(attr("linear_before_reset", int64_t(1)));
  if (n.flag("input_forget")) attributes.push_back(attr("input_forget", int64_t(1)));
  if (double clip = n.real("clip"); clip > 0) attributes.push_back(realAttr("clip", clip));
  addActivations(n, attributes);
  Refs results = n.emitAll(op, operands, std::move(attributes), std::vector<DType>(states + 1, n.type(0).dtype));
  n.out(n.squeeze(results[0], 1), 0);
  for (size_t k = 1; k <= states; ++k) n.out(n.squeeze(results[k], 0), k);
  return true;
}

// Operands in the dialect's order: input, weight, recurrence, initial states, bias, (peephole,) lengths.
bool rnn(Site &n) { return layer<6>(n, "RNN", {0, 1, 2, 5, 3, 4}, 1); }
bool gru(Site &n) { return layer<6>(n, "GRU", {0, 1, 2, 5, 3, 4}, 1); }
bool lstm(Site &n) { return layer<8>(n, "LSTM", {0, 1, 2, 5, 6, 3, 7, 4}, 2); }
bool lstmOfBytes(Site &n) { n.refuse("multiplies bytes, for which ONNX has no recurrent operator"); }

} // namespace

void addRecurrent(Table &t) {
  t.add("nn.rnn", rnn);
  t.add("nn.gru", gru);
  t.add("nn.lstm", lstm);
  t.add("nn.lstm_integer", lstmOfBytes);
}

} // namespace sprig::onnxexport
