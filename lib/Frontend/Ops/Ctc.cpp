// Connectionist temporal classification (Graves et al., ICML 2006): a sum over all alignments, as one scan over steps.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/control.h"
#include "sprig/losses.h"
#include <cmath>

namespace sprig {

using frontend::Attr;
using frontend::Emitter;

namespace {

/// The logarithm of nothing: finite, so that differences and their gradients stay numbers.
constexpr double kNothing = -1e30;

class Ctc {
public:
  Ctc(const Emitter &r, const TensorType &type, const Tensor &targets, int64_t blank)
      : r(r), dtype(type.dtype), steps(type.shape[0]), batch(type.shape[1]),
        states(2 * targets.type(r.at).shape[1] + 1) {
    int64_t labels = (states - 1) / 2;
    Tensor blanks = frontend::splat(double(blank), {DType::i64, {batch, labels + 1}}, r.at);
    if (labels == 0) {
      symbols = blanks;
    } else { // blank, label, blank, ..., blank
      const Tensor pair[] = {r.unsqueeze(r.part(blanks, 1, 0, labels), 2), r.unsqueeze(targets, 2)};
      const Tensor parts[] = {r.reshape(r.concat(pair, 2), {batch, 2 * labels}), r.part(blanks, 1, labels, 1)};
      symbols = r.concat(parts, 1);
    }
    state = r.iota({DType::i64, {1, states}}, 1);
    // A label may follow another one at once, without a blank between them.
    Tensor two = frontend::scalarInteger(2, DType::i64, r.at), one = frontend::scalarInteger(1, DType::i64, r.at);
    Tensor isLabel = r.compare("predicate eq", r.binary(SPRIG_OP("mod"), state, two), one);
    skips = r.binary(SPRIG_OP("and"), isLabel, r.compare("predicate ne", symbols, shifted(symbols, 2, double(blank))));
  }

  /// The logarithm of the probability of all alignments: [batch].
  Tensor run(const Tensor &logProbs, const Tensor &inputLengths, const Tensor &targetLengths) const {
    Shape each{steps, batch, states};
    Tensor emitted = r.gatherElements(logProbs, r.broadcastTo(r.unsqueeze(symbols, 0), each), 2);
    Tensor zero = frontend::scalarInteger(0, DType::i64, r.at);
    Tensor isStart = r.compare("predicate eq", state, zero);
    Tensor before = r.broadcastTo(r.select(isStart, number(0), number(kNothing)), {batch, states});
    Tensor ends = r.unsqueeze(inputLengths, 1);
    const Tensor inputs[] = {emitted, r.iota({DType::i64, {steps}}, 0)};
    auto result = scanAll(
        [&](std::span<const Tensor> carry, std::span<const Tensor> v) {
          // Before the first step there is one state, from which the first blank or the first label comes.
          Tensor isFirst = r.compare("predicate eq", v[1], zero);
          Tensor mayStart = r.binary(SPRIG_OP("or"), r.compare("predicate gt", v[1], zero), isStart);
          Tensor stay = r.select(mayStart, carry[0], number(kNothing));
          Tensor skip = r.select(r.binary(SPRIG_OP("and"), skips, r.unary(SPRIG_OP("not"), isFirst)),
                                 shifted(carry[0], 2, kNothing), number(kNothing));
          Tensor next = r.add(logSum({stay, shifted(carry[0], 1, kNothing), skip}), v[0]);
          Tensor goesOn = r.compare("predicate lt", v[1], ends);
          return std::pair(TensorList{r.select(goesOn, r.max(next, number(kNothing)), carry[0])}, TensorList{});
        },
        {&before, 1}, inputs, {}, r.at);
    // The last label, or the blank behind it.
    Tensor last = r.mul(r.unsqueeze(targetLengths, 1), frontend::scalarInteger(2, DType::i64, r.at));
    Tensor label = r.max(r.sub(last, frontend::scalarInteger(1, DType::i64, r.at)), zero);
    Tensor atBlank = r.gatherElements(result.carry[0], last, 1), atLabel = r.gatherElements(result.carry[0], label, 1);
    atLabel = r.select(r.compare("predicate gt", last, zero), atLabel, number(kNothing));
    return r.reshape(logSum({atBlank, atLabel}), {batch});
  }

private:
  Tensor number(double value) const { return frontend::scalar(value, dtype, r.at); }
  /// Element i - by at place i; `fill` at the first ones.
  Tensor shifted(const Tensor &x, int64_t by, double fill) const {
    if (states < by) return frontend::splat(fill, x.type(r.at), r.at);
    return r.part(r.pad("pad_mode constant", x, fill, {0, by}, {0, 0}), 1, 0, states);
  }
  Tensor logSum(std::initializer_list<Tensor> parts) const {
    Tensor top, sum;
    for (const Tensor &part : parts) top = top.defined() ? r.max(top, part) : part;
    top = top.detach(r.at); // cancels out, so its gradient does too
    for (const Tensor &part : parts) {
      Tensor e = r.exp(r.sub(part, top));
      sum = sum.defined() ? r.add(sum, e) : e;
    }
    return r.add(r.log(sum), top);
  }

  const Emitter &r;
  DType dtype;
  int64_t steps, batch, states;
  Tensor symbols; ///< [batch, states]
  Tensor state;   ///< [1, states]
  Tensor skips;   ///< [batch, states]: whether the state before the last one may come before
};

Tensor lengthsOf(const Emitter &r, const Operand &x, const char *what, int64_t batch, int64_t most) {
  Tensor lengths = r.cast(r.indicesOf(x, what), DType::i64);
  if (lengths.type(r.at).shape != Shape{batch})
    r.fail("takes " + std::string(what) + " [" + std::to_string(batch) + "], got " + describe(lengths.type(r.at)));
  return r.fromStart(lengths, most + 1);
}

} // namespace

Tensor ctcLoss(const Operand &logProbs, const Operand &targets, const Operand &inputLengths,
               const Operand &targetLengths, const CtcOptions &options) {
  Emitter r("ctcLoss", logProbs.at.line ? logProbs.at : targets.at);
  Tensor x = r.requireFloat(logProbs, "log-probabilities"),
         labels = r.cast(r.indicesOf(targets, "targets"), DType::i64);
  const TensorType type = x.type(r.at), own = labels.type(r.at);
  if (type.shape.rank() != 3 || own.shape.rank() != 2 || type.shape[1] != own.shape[0] || type.elements() == 0)
    r.fail("takes log-probabilities [steps, batch, classes] and targets [batch, labels], got " + describe(type) +
           " and " + describe(own));
  int64_t steps = type.shape[0], batch = type.shape[1], classes = type.shape[2];
  if (options.blank < 0 || options.blank >= classes)
    r.fail("has the blank " + std::to_string(options.blank) + " of " + std::to_string(classes) + " classes");
  if (options.reduction == Reduction::batchMean) r.fail("has no reduction batchMean; it is of klDivLoss alone");
  labels = r.fromStart(labels, classes);
  Tensor ends = lengthsOf(r, inputLengths, "input lengths", batch, steps);
  Tensor counts = lengthsOf(r, targetLengths, "target lengths", batch, own.shape[1]);
  Tensor wide = size(type.dtype) < 4 ? r.cast(x, DType::f32) : x;
  Tensor loss = r.neg(Ctc(r, wide.type(r.at), labels, options.blank).run(wide, ends, counts));
  // Where no alignment is possible.
  Tensor isPossible = r.compare("predicate lt", loss, r.number(-kNothing / 2, loss));
  loss = r.select(isPossible, loss, r.number(options.zeroInfinity ? 0 : HUGE_VAL, loss));
  if (options.reduction == Reduction::sum) loss = r.sum(loss, {0}, false);
  if (options.reduction == Reduction::mean) {
    Tensor number = r.max(r.cast(counts, loss.type(r.at).dtype), r.number(1, loss));
    loss = r.mean(r.div(loss, number), {0}, false);
  }
  return r.cast(loss, type.dtype);
}

} // namespace sprig
