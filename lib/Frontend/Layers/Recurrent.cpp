#include "sprig/nn/recurrent.h"
#include "lib/Frontend/Layers/LayerText.h"
#include "sprig/ops.h"
#include <cmath>

namespace sprig::nn {

namespace {
constexpr const char *kCellNames[] = {"RNN", "GRU", "LSTM"};
constexpr int64_t kGates[] = {1, 3, 4};

Initializer startOf(int64_t hidden) {
  return [bound = 1 / std::sqrt(double(hidden))](const TensorType &type) {
    return init::uniform(type, -bound, bound, Source());
  };
}
} // namespace

Recurrent::Recurrent(Kind kind, int64_t features, int64_t hidden, const RecurrentOptions &options, Source at)
    : kind(kind), features(features), hidden(hidden), options(options) {
  const char *layer = kCellNames[int(kind)];
  needPositive(features, layer, "the number of features", at);
  needPositive(hidden, layer, "the size of the state", at);
  needPositive(options.layers, layer, "the number of layers", at);
  if (!(options.dropout >= 0 && options.dropout <= 1))
    frontend::fail(at, layer, "the dropout is " + realText(options.dropout) + ", outside of [0, 1]");
  int64_t directions = options.bidirectional ? 2 : 1, rows = kGates[int(kind)] * hidden;
  Initializer start = startOf(hidden);
  for (int64_t i = 0; i < options.layers; ++i)
    for (int64_t d = 0; d < directions; ++d) {
      std::string suffix = "_l" + std::to_string(i) + (d ? "_reverse" : "");
      Weights w;
      w.inputs = addParameter("weight_ih" + suffix, {rows, i == 0 ? features : hidden * directions}, start, at);
      w.states = addParameter("weight_hh" + suffix, {rows, hidden}, start, at);
      w.inputBias = addOptional(*this, options.bias, "bias_ih" + suffix, {rows}, start, at);
      w.stateBias = addOptional(*this, options.bias, "bias_hh" + suffix, {rows}, start, at);
      weights.push_back(std::move(w));
    }
}

RNN::RNN(int64_t features, int64_t hidden, const RecurrentOptions &options, RnnActivation activation, Source at)
    : Recurrent(Kind::rnn, features, hidden, options, at) {
  this->activation = activation;
}

RecurrentOutput Recurrent::run(const Operand &given, const Operand &h0, const Operand &c0,
                               const Operand &lengths) const {
  InLayer in(scope());
  if (weights.empty()) frontend::fail(given.at, typeName(), "the layer was made without sizes");
  frontend::requireDefined(given.tensor, typeName().c_str(), "the input", given.at);
  auto as = [&](const Tensor &tensor) { return with(tensor, given); };
  const TensorType &type = given.tensor.type();
  bool batched = type.shape.rank() == 3;
  if ((!batched && type.shape.rank() != 2) || type.shape.back() != features)
    frontend::fail(given.at, typeName(),
                   "the input needs 3 dimensions (or 2 without a batch), the last of size " + std::to_string(features) +
                       ", it is " + describe(type));
  Tensor x = !batched ? unsqueeze(given, 1) : options.batchFirst ? transpose(given, 0, 1) : given.tensor;
  int64_t batch = x.shape()[1], directions = options.bidirectional ? 2 : 1;
  Shape stateShape = {options.layers * directions, batch, hidden};
  auto initial = [&](const Operand &state, const char *what) {
    if (isNone(state, given, typeName(), what)) return std::vector<Tensor>();
    Tensor all = batched ? state.tensor : unsqueeze(as(state.tensor), 1);
    if (all.shape() != stateShape)
      frontend::fail(given.at, typeName(),
                     std::string("the initial ") + what + " needs the shape " +
                         describe(batched ? stateShape : Shape{stateShape[0], hidden}) + ", it is " +
                         describe(state.tensor.type()));
    return unbind(as(all), 0);
  };
  std::vector<Tensor> hs = initial(h0, "h"), cs = initial(c0, "c"), lastH, lastC;
  DeviceScope there(frontend::deviceFor(given.tensor), given.at);
  Tensor zero = zeros({batch, hidden}, type.dtype, given.at);
  for (int64_t i = 0; i < options.layers; ++i) {
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      size_t index = size_t(i * directions + d);
      const Weights &w = weights[index];
      Operand h = as(hs.empty() ? zero : hs[index]), c = as(cs.empty() ? zero : cs[index]);
      Operand wi = with(w.inputs, given), wh = with(w.states, given);
      Operand bi = with(w.inputBias, given), bh = with(w.stateBias, given);
      if (kind == Kind::lstm) {
        LstmOutput out = lstm(as(x), h, c, wi, wh, bi, bh, d == 1, lengths);
        outputs.push_back(out.output);
        lastH.push_back(out.h);
        lastC.push_back(out.c);
      } else {
        RnnOutput out = kind == Kind::gru ? gru(as(x), h, wi, wh, bi, bh, d == 1, lengths)
                                          : rnn(as(x), h, wi, wh, bi, bh, activation, d == 1, lengths);
        outputs.push_back(out.output);
        lastH.push_back(out.h);
      }
    }
    x = directions == 2 ? cat(Operands(outputs, given.at), 2) : outputs[0];
    if (i + 1 < options.layers && options.dropout > 0) x = dropout(as(x), options.dropout, isTraining());
  }
  auto stacked = [&](const std::vector<Tensor> &each) {
    if (each.empty()) return Tensor();
    Tensor all = stack(Operands(each, given.at), 0);
    return batched ? all : squeeze(as(all), 1);
  };
  RecurrentOutput result{x, stacked(lastH), stacked(lastC)};
  if (!batched)
    result.output = squeeze(as(x), 1);
  else if (options.batchFirst)
    result.output = transpose(as(x), 0, 1);
  return result;
}

std::string Recurrent::extra() const {
  std::string text = std::to_string(features) + ", " + std::to_string(hidden);
  if (options.layers != 1) text += ", num_layers=" + std::to_string(options.layers);
  if (!options.bias) text += ", bias=False";
  if (options.batchFirst) text += ", batch_first=True";
  if (options.dropout != 0) text += ", dropout=" + realText(options.dropout);
  if (options.bidirectional) text += ", bidirectional=True";
  return text;
}

RecurrentCell::RecurrentCell(int64_t gates, int64_t features, int64_t hidden, const CellOptions &options, Source at)
    : features(features), hidden(hidden) {
  needPositive(features, "RecurrentCell", "the number of features", at);
  needPositive(hidden, "RecurrentCell", "the size of the state", at);
  Initializer start = startOf(hidden);
  weightIh = addParameter("weight_ih", {gates * hidden, features}, start, at);
  weightHh = addParameter("weight_hh", {gates * hidden, hidden}, start, at);
  biasIh = addOptional(*this, options.bias, "bias_ih", {gates * hidden}, start, at);
  biasHh = addOptional(*this, options.bias, "bias_hh", {gates * hidden}, start, at);
}

Tensor RecurrentCell::zerosFor(const Operand &x) const {
  frontend::requireDefined(x.tensor, typeName().c_str(), "the input", x.at);
  if (x.tensor.rank() != 2)
    frontend::fail(x.at, typeName(), "the input needs 2 dimensions, it is " + describe(x.tensor.type()));
  DeviceScope there(frontend::deviceFor(x.tensor), x.at);
  return zeros({x.tensor.shape()[0], hidden}, x.tensor.dtype(), x.at);
}

Operand RecurrentCell::stateOr(const Operand &state, const Operand &x, const char *what) const {
  return isNone(state, x, typeName(), what) ? with(zerosFor(x), x) : state;
}

std::string RecurrentCell::extra() const {
  return std::to_string(features) + ", " + std::to_string(hidden) + (biasIh.defined() ? "" : ", bias=False");
}

Tensor RNNCell::operator()(const Operand &x, const Operand &h) const {
  InLayer in(scope());
  return rnnCell(x, stateOr(h, x, "h"), need(weightIh, *this, x), with(weightHh, x), with(biasIh, x), with(biasHh, x),
                 activation);
}

Tensor GRUCell::operator()(const Operand &x, const Operand &h) const {
  InLayer in(scope());
  return gruCell(x, stateOr(h, x, "h"), need(weightIh, *this, x), with(weightHh, x), with(biasIh, x), with(biasHh, x));
}

LstmState LSTMCell::operator()(const Operand &x, const Operand &h, const Operand &c) const {
  InLayer in(scope());
  return lstmCell(x, stateOr(h, x, "h"), stateOr(c, x, "c"), need(weightIh, *this, x), with(weightHh, x),
                  with(biasIh, x), with(biasHh, x));
}

} // namespace sprig::nn
