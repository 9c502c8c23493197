// Losses of elements against targets of the same shape.
#include "lib/Frontend/Ops/Reduce.h"
#include <numbers>

namespace sprig {

using frontend::Attr;
using frontend::AttrList;
using frontend::Emitter;

namespace frontend {

Tensor reduceLosses(const Emitter &r, const Tensor &losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  Shape axes = r.axesOf({}, losses.type(r.at));
  return reduction == Reduction::sum ? r.sum(losses, axes, false) : r.mean(losses, axes, false);
}

Attr reductionAttr(const Emitter &r, Reduction reduction) {
  if (reduction == Reduction::batchMean) r.fail("has no reduction batchMean; klDivLoss does");
  static constexpr const char *kWords[] = {"loss_reduction none", "loss_reduction mean", "loss_reduction sum"};
  return Attr::word("reduction", kWords[int(reduction)]);
}

Tensor targetLike(const Emitter &r, const Tensor &x, const Operand &target) {
  const TensorType &type = x.type(r.at);
  if (target.kind != Operand::Kind::tensor) return splat(target.real, type, r.at, r.op);
  const TensorType &own = r.typeOf(target.tensor, "target");
  if (own.shape != type.shape || (isFloat(own.dtype) && own.dtype != type.dtype))
    r.fail("has target " + describe(own) + " for input " + describe(type) +
           (own.shape != type.shape ? "; their shapes must be equal" : "; convert one of them with to()"));
  return r.cast(target.tensor, type.dtype);
}

} // namespace frontend

namespace {
TensorType resultOf(const TensorType &type, Reduction reduction) {
  return {type.dtype, reduction == Reduction::none ? type.shape : Shape()};
}

Tensor elementLoss(const Emitter &r, const frontend::OpName &op, const Operand &x, const Operand &target,
                   Reduction reduction, AttrList attrs = {}) {
  Tensor input = r.requireFloat(x, "input");
  attrs.push_back(frontend::reductionAttr(r, reduction));
  return r.emit(op, {input, frontend::targetLike(r, input, target)}, std::move(attrs),
                resultOf(input.type(r.at), reduction));
}

/// Losses times weights that broadcast to them, then reduced.
Tensor weighted(const Emitter &r, const Tensor &losses, const Tensor &weight, Reduction reduction) {
  if (!weight.defined()) return frontend::reduceLosses(r, losses, reduction);
  const TensorType &type = losses.type(r.at), &own = weight.type(r.at);
  Shape common;
  if (own.dtype != type.dtype || !frontend::broadcastShapes(type.shape, own.shape, common) || common != type.shape)
    r.fail("has weights " + describe(own) + " for losses " + describe(type));
  return frontend::reduceLosses(r, r.mul(losses, weight), reduction);
}

Tensor atLeastZero(const Emitter &r, const Tensor &x) { return r.atLeast(x, r.number(0, x)); }
} // namespace

Tensor mseLoss(const Operand &x, const Operand &target, Reduction reduction) {
  return elementLoss(Emitter("mseLoss", x.at), SPRIG_OP("mse_loss"), x, target, reduction);
}
Tensor l1Loss(const Operand &x, const Operand &target, Reduction reduction) {
  return elementLoss(Emitter("l1Loss", x.at), SPRIG_OP("l1_loss"), x, target, reduction);
}

Tensor huberLoss(const Operand &x, const Operand &target, Reduction reduction, double delta) {
  Emitter r("huberLoss", x.at);
  if (!(delta > 0)) r.fail("has delta " + frontend::realText(delta) + "; expected a positive number");
  return elementLoss(r, SPRIG_OP("huber_loss"), x, target, reduction, {Attr::of("delta", delta)});
}

Tensor smoothL1Loss(const Operand &x, const Operand &target, Reduction reduction, double beta) {
  Emitter r("smoothL1Loss", x.at);
  if (!(beta >= 0)) r.fail("has beta " + frontend::realText(beta) + "; expected a number that is not negative");
  if (beta == 0) return elementLoss(r, SPRIG_OP("l1_loss"), x, target, reduction);
  // Huber's loss with delta = beta, over beta.
  Tensor loss = elementLoss(r, SPRIG_OP("huber_loss"), x, target, reduction, {Attr::of("delta", beta)});
  return beta == 1 ? loss : r.div(loss, r.number(beta, loss));
}

Tensor bceLoss(const Operand &x, const Operand &target, const BceOptions &options) {
  Emitter r("bceLoss", x.at);
  if (!options.weight.defined()) return elementLoss(r, SPRIG_OP("bce_loss"), x, target, options.reduction);
  (void)frontend::reductionAttr(r, options.reduction);
  Tensor losses = elementLoss(r, SPRIG_OP("bce_loss"), x, target, Reduction::none);
  return weighted(r, losses, options.weight, options.reduction);
}

Tensor bceWithLogitsLoss(const Operand &x, const Operand &target, const BceWithLogitsOptions &options) {
  Emitter r("bceWithLogitsLoss", x.at);
  (void)frontend::reductionAttr(r, options.reduction);
  if (!options.positiveWeight.defined()) {
    if (!options.weight.defined())
      return elementLoss(r, SPRIG_OP("bce_with_logits_loss"), x, target, options.reduction);
    Tensor losses = elementLoss(r, SPRIG_OP("bce_with_logits_loss"), x, target, Reduction::none);
    return weighted(r, losses, options.weight, options.reduction);
  }
  // (1 - t) x + (1 + (p - 1) t) log(1 + exp(-x)), p the weight of positive targets.
  Tensor input = r.requireFloat(x, "input"), t = frontend::targetLike(r, input, target);
  const TensorType &type = input.type(r.at), &own = options.positiveWeight.type(r.at);
  Shape common;
  if (own.dtype != type.dtype || !frontend::broadcastShapes(type.shape, own.shape, common) || common != type.shape)
    r.fail("has positive weights " + describe(own) + " for input " + describe(type));
  Tensor one = r.number(1, input);
  Tensor factor = r.add(r.mul(r.sub(options.positiveWeight, one), t), one);
  Tensor tail = r.unary(SPRIG_OP("softplus"), r.neg(input));
  Tensor losses = r.add(r.mul(r.sub(one, t), input), r.mul(factor, tail));
  return weighted(r, losses, options.weight, options.reduction);
}

Tensor klDivLoss(const Operand &x, const Operand &target, Reduction reduction, bool logTarget) {
  Emitter r("klDivLoss", x.at);
  AttrList attrs;
  if (logTarget) attrs.push_back(Attr::unit("log_target"));
  bool perBatch = reduction == Reduction::batchMean;
  Tensor loss =
      elementLoss(r, SPRIG_OP("kl_div_loss"), x, target, perBatch ? Reduction::sum : reduction, std::move(attrs));
  if (!perBatch) return loss;
  const TensorType &type = r.requireFloat(x).type(r.at);
  if (type.shape.empty()) r.fail("divides by the size of axis 0, which " + describe(type) + " has not");
  return r.div(loss, r.number(double(type.shape[0]), loss));
}

Tensor poissonNllLoss(const Operand &x, const Operand &target, Reduction reduction, bool logInput, double epsilon) {
  Emitter r("poissonNllLoss", x.at);
  (void)frontend::reductionAttr(r, reduction);
  Tensor input = r.requireFloat(x, "input"), t = frontend::targetLike(r, input, target);
  if (logInput) return frontend::reduceLosses(r, r.sub(r.exp(input), r.mul(t, input)), reduction);
  Tensor rate = r.withRange(input);
  Tensor losses = r.sub(rate, r.mul(r.withRange(t), r.log(r.add(rate, r.number(epsilon, rate)))));
  return r.cast(frontend::reduceLosses(r, losses, reduction), input.type(r.at).dtype);
}

Tensor gaussianNllLoss(const Operand &x, const Operand &target, const Operand &variance, Reduction reduction,
                       double epsilon) {
  Emitter r("gaussianNllLoss", x.at);
  (void)frontend::reductionAttr(r, reduction);
  Tensor input = r.requireFloat(x, "input"), t = frontend::targetLike(r, input, target);
  Tensor given = r.withRange(r.inRange(frontend::targetLike(r, input, variance), 0));
  // Epsilon is the least value of a variance; the gradient passes below it, too.
  Tensor floor = r.add(r.sub(given, given.detach(r.at)), r.number(epsilon, given));
  Tensor spread = r.select(r.compare("predicate lt", given, r.number(epsilon, given)), floor, given);
  Tensor away = r.withRange(r.sub(input, t));
  Tensor losses = r.add(r.log(spread), r.div(r.mul(away, away), spread));
  return r.cast(frontend::reduceLosses(r, r.mul(losses, r.number(0.5, losses)), reduction), input.type(r.at).dtype);
}

Tensor softMarginLoss(const Operand &x, const Operand &target, Reduction reduction) {
  Emitter r("softMarginLoss", x.at);
  (void)frontend::reductionAttr(r, reduction);
  Tensor input = r.requireFloat(x, "input"), t = frontend::targetLike(r, input, target);
  return frontend::reduceLosses(r, r.unary(SPRIG_OP("softplus"), r.neg(r.mul(t, input))), reduction);
}

Tensor marginRankingLoss(const Operand &a, const Operand &b, const Operand &target, double margin,
                         Reduction reduction) {
  Emitter r("marginRankingLoss", a.at);
  (void)frontend::reductionAttr(r, reduction);
  Tensor x = r.requireFloat(a, "input"), y = frontend::targetLike(r, x, b), t = frontend::targetLike(r, x, target);
  Tensor losses = r.sub(r.number(margin, x), r.mul(t, r.sub(x, y)));
  return frontend::reduceLosses(r, atLeastZero(r, losses), reduction);
}

Tensor hingeEmbeddingLoss(const Operand &x, const Operand &target, double margin, Reduction reduction) {
  Emitter r("hingeEmbeddingLoss", x.at);
  (void)frontend::reductionAttr(r, reduction);
  Tensor input = r.requireFloat(x, "input"), t = frontend::targetLike(r, input, target);
  Tensor isAlike = r.compare("predicate gt", t, r.number(0, t));
  return frontend::reduceLosses(r, r.select(isAlike, input, atLeastZero(r, r.sub(r.number(margin, input), input))),
                                reduction);
}

Tensor cosineEmbeddingLoss(const Operand &a, const Operand &b, const Operand &target, double margin,
                           Reduction reduction) {
  Emitter r("cosineEmbeddingLoss", a.at);
  (void)frontend::reductionAttr(r, reduction);
  Tensor x = r.requireFloat(a, "input"), y = frontend::targetLike(r, x, b);
  int rank = x.type(r.at).shape.rank();
  if (rank != 1 && rank != 2) r.fail("takes [N, D] or [D], got " + describe(x.type(r.at)));
  Shape axis{rank - 1};
  const DType type = x.type(r.at).dtype;
  x = r.withRange(x);
  y = r.withRange(y);
  auto square = [&](const Tensor &v) {
    Tensor total = r.sum(r.mul(v, v), axis, false);
    return r.add(total, r.number(1e-12, total)); // no division by zero
  };
  Tensor cosine = r.div(r.sum(r.mul(x, y), axis, false), r.sqrt(r.mul(square(x), square(y))));
  Tensor t = r.withRange(frontend::targetLike(r, r.cast(cosine, type), target));
  Tensor isAlike = r.compare("predicate gt", t, r.number(0, t));
  Tensor losses =
      r.select(isAlike, r.sub(r.number(1, cosine), cosine), atLeastZero(r, r.sub(cosine, r.number(margin, cosine))));
  return r.cast(frontend::reduceLosses(r, losses, reduction), type);
}

Tensor tripletMarginLoss(const Operand &anchor, const Operand &positive, const Operand &negative, double margin,
                         Reduction reduction) {
  Emitter r("tripletMarginLoss", anchor.at);
  (void)frontend::reductionAttr(r, reduction);
  Tensor a = r.requireFloat(anchor, "anchor"), p = frontend::targetLike(r, a, positive),
         n = frontend::targetLike(r, a, negative);
  const TensorType &type = a.type(r.at);
  if (type.shape.empty()) r.fail("takes [..., D], got " + describe(type));
  auto distance = [&](const Tensor &other) {
    // PyTorch's pairwise_distance adds 1e-6 to each difference.
    Tensor away = r.withRange(r.sub(a, other));
    away = r.add(away, r.number(1e-6, away));
    return r.sqrt(r.sum(r.mul(away, away), {type.shape.rank() - 1}, false));
  };
  Tensor gap = r.sub(distance(p), distance(n));
  return r.cast(frontend::reduceLosses(r, atLeastZero(r, r.add(gap, r.number(margin, gap))), reduction), type.dtype);
}

} // namespace sprig
