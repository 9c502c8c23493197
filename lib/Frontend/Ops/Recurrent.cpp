// Recurrent layers of one direction, and their single steps. Weights come in PyTorch's order of gates, and stay in it:
// the dialect is told which block is which of its gates.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/functional.h"

namespace sprig {

using frontend::Attr;
using frontend::AttrList;
using frontend::Emitter;

namespace {
/// What all kinds have in common.
class Layer {
public:
  Layer(const Emitter &r, const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
        const Operand &biasIh, const Operand &biasHh, const Shape &blocks)
      : r(r), gates(int64_t(blocks.size())), blocks(blocks) {
    input = r.requireFloat(x, "input");
    type = input.type(r.at);
    if (type.shape.rank() != 3 || type.shape[0] < 1)
      r.fail("takes input [steps, batch, features], got " + describe(type));
    Tensor recurrence = r.requireFloat(weightHh, "weightHh");
    const TensorType &own = recurrence.type(r.at);
    if (own.shape.rank() != 2 || own.shape[0] != gates * own.shape[1])
      r.fail("takes weightHh [" + std::string(gates > 1 ? std::to_string(gates) + " " : "") + "H, H], got " +
             describe(own));
    hidden = own.shape[1];
    weight = expect(weightIh, "weightIh", {gates * hidden, type.shape[2]});
    this->recurrence = expect(weightHh, "weightHh", {gates * hidden, hidden});
    initial = state(h, "h");
    Tensor first = r.optional(biasIh, type.dtype, "biasIh"), second = r.optional(biasHh, type.dtype, "biasHh");
    if (!first.defined() && !second.defined()) return;
    const TensorType each{type.dtype, {gates * hidden}};
    auto biasOf = [&](const Tensor &given, const char *what) {
      return given.defined() ? expect({given, r.at}, what, each.shape) : frontend::splat(0, each, r.at);
    };
    const Tensor both[] = {biasOf(first, "biasIh"), biasOf(second, "biasHh")};
    bias = r.concat(both, 0);
  }

  Tensor state(const Operand &x, const char *what) const { return expect(x, what, {type.shape[1], hidden}); }

  /// Lengths of sequences that there may be.
  void setLengths(const Operand &given) {
    if (given.kind == Operand::Kind::tensor && !given.tensor.defined()) return;
    lengths = r.indicesOf(given, "lengths");
    if (lengths.type(r.at).shape != Shape{type.shape[1]})
      r.fail("has lengths " + describe(lengths.type(r.at)) + " for input " + describe(type) +
             "; it takes one for each of " + std::to_string(type.shape[1]) + " sequences");
    lengths = r.fromStart(lengths, type.shape[0] + 1);
  }

  /// Outputs of all steps, then the last states. `hasPeephole`: whether the operation could take one, which is left
  /// out.
  std::vector<Tensor> run(const frontend::OpName &op, std::initializer_list<Tensor> states, AttrList attrs,
                          bool hasPeephole) const {
    std::vector<Tensor> operands{input, weight, recurrence};
    operands.insert(operands.end(), states.begin(), states.end());
    Shape segments;
    for (size_t i = 0; i < operands.size(); ++i) segments.push_back(1);
    if (bias.defined()) operands.push_back(bias);
    segments.push_back(bias.defined());
    if (hasPeephole) segments.push_back(0);
    if (lengths.defined()) operands.push_back(lengths);
    segments.push_back(lengths.defined());
    attrs.push_back(Attr::of("operandSegmentSizes", segments));
    if (gates > 1) attrs.push_back(Attr::of("gate_blocks", blocks));
    std::vector<TensorType> results{{type.dtype, {type.shape[0], type.shape[1], hidden}}};
    for (size_t i = 0; i < states.size(); ++i) results.push_back({type.dtype, {type.shape[1], hidden}});
    return frontend::recordAll(op, operands, std::move(attrs), results, r.at);
  }

  Tensor initial;

private:
  Tensor expect(const Operand &x, const char *what, const Shape &shape) const {
    Tensor value = r.requireFloat(x, what);
    if (value.type(r.at) != TensorType{type.dtype, shape})
      r.fail("has " + std::string(what) + " " + describe(value.type(r.at)) + "; with " + std::to_string(hidden) +
             " hidden units and input " + describe(type) + " it is " + describe(TensorType{type.dtype, shape}));
    return value;
  }

  const Emitter &r;
  int64_t gates;
  Shape blocks; ///< of the dialect's gates, among PyTorch's
  int64_t hidden = 0;
  TensorType type; ///< of the input
  Tensor input, weight, recurrence, bias, lengths;
};

AttrList direction(bool reverse) {
  AttrList attrs;
  if (reverse) attrs.push_back(Attr::unit("reverse"));
  return attrs;
}

RnnOutput runRnn(const Emitter &r, const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
                 const Operand &biasIh, const Operand &biasHh, RnnActivation activation, bool reverse,
                 const Operand &lengths) {
  Layer layer(r, x, h, weightIh, weightHh, biasIh, biasHh, {0});
  layer.setLengths(lengths);
  AttrList attrs = direction(reverse);
  if (activation == RnnActivation::relu) attrs.push_back(Attr::other("activations", "[\"relu\"]"));
  auto found = layer.run(SPRIG_OP("rnn"), {layer.initial}, std::move(attrs), false);
  return {found[0], found[1]};
}

RnnOutput runGru(const Emitter &r, const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
                 const Operand &biasIh, const Operand &biasHh, bool reverse, const Operand &lengths) {
  // z, r, n of r, z, n.
  Layer layer(r, x, h, weightIh, weightHh, biasIh, biasHh, {1, 0, 2});
  layer.setLengths(lengths);
  AttrList attrs = direction(reverse);
  attrs.push_back(Attr::unit("linear_before_reset"));
  auto found = layer.run(SPRIG_OP("gru"), {layer.initial}, std::move(attrs), false);
  return {found[0], found[1]};
}

LstmOutput runLstm(const Emitter &r, const Operand &x, const Operand &h, const Operand &c, const Operand &weightIh,
                   const Operand &weightHh, const Operand &biasIh, const Operand &biasHh, bool reverse,
                   const Operand &lengths) {
  // i, o, f, g of i, f, g, o.
  Layer layer(r, x, h, weightIh, weightHh, biasIh, biasHh, {0, 3, 1, 2});
  layer.setLengths(lengths);
  auto found = layer.run(SPRIG_OP("lstm"), {layer.initial, layer.state(c, "c")}, direction(reverse), true);
  return {found[0], found[1], found[2]};
}

/// One step as a sequence of one.
Tensor asSequence(const Emitter &r, const Operand &x) {
  Tensor input = r.requireFloat(x, "input");
  if (input.type(r.at).shape.rank() != 2) r.fail("takes input [batch, features], got " + describe(input.type(r.at)));
  return r.unsqueeze(input, 0);
}
} // namespace

RnnOutput rnn(const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
              const Operand &biasIh, const Operand &biasHh, RnnActivation activation, bool reverse,
              const Operand &lengths) {
  return runRnn(Emitter("rnn", x.at), x, h, weightIh, weightHh, biasIh, biasHh, activation, reverse, lengths);
}
RnnOutput gru(const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
              const Operand &biasIh, const Operand &biasHh, bool reverse, const Operand &lengths) {
  return runGru(Emitter("gru", x.at), x, h, weightIh, weightHh, biasIh, biasHh, reverse, lengths);
}
LstmOutput lstm(const Operand &x, const Operand &h, const Operand &c, const Operand &weightIh, const Operand &weightHh,
                const Operand &biasIh, const Operand &biasHh, bool reverse, const Operand &lengths) {
  return runLstm(Emitter("lstm", x.at), x, h, c, weightIh, weightHh, biasIh, biasHh, reverse, lengths);
}

Tensor rnnCell(const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
               const Operand &biasIh, const Operand &biasHh, RnnActivation activation) {
  Emitter r("rnnCell", x.at);
  return runRnn(r, {asSequence(r, x), r.at}, h, weightIh, weightHh, biasIh, biasHh, activation, false, {}).h;
}
Tensor gruCell(const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
               const Operand &biasIh, const Operand &biasHh) {
  Emitter r("gruCell", x.at);
  return runGru(r, {asSequence(r, x), r.at}, h, weightIh, weightHh, biasIh, biasHh, false, {}).h;
}
LstmState lstmCell(const Operand &x, const Operand &h, const Operand &c, const Operand &weightIh,
                   const Operand &weightHh, const Operand &biasIh, const Operand &biasHh) {
  Emitter r("lstmCell", x.at);
  LstmOutput result = runLstm(r, {asSequence(r, x), r.at}, h, c, weightIh, weightHh, biasIh, biasHh, false, {});
  return {result.h, result.c};
}

} // namespace sprig
