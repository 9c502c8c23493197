// Losses against classes. PyTorch has the classes at axis 1, the dialect at the last axis.
#include "lib/Frontend/Ops/Reduce.h"

namespace sprig {

using frontend::Attr;
using frontend::AttrList;
using frontend::Emitter;

namespace {
int classAxis(const TensorType &type) { return type.shape.rank() == 1 ? 0 : 1; }

Tensor classesLast(const Emitter &r, const Tensor &x) {
  int rank = x.type(r.at).shape.rank();
  if (rank <= 2) return x;
  Shape order{0};
  for (int i = 2; i < rank; ++i) order.push_back(i);
  order.push_back(1);
  return r.transpose(x, order);
}

/// Logits or log-probabilities [C] or [N, C, ...].
Tensor scoresOf(const Emitter &r, const Operand &x) {
  Tensor scores = r.requireFloat(x, "input");
  if (scores.type(r.at).shape.empty()) r.fail("takes [N, C, ...] or [C], got " + describe(scores.type(r.at)));
  return scores;
}

Tensor classIndices(const Emitter &r, const TensorType &type, const Operand &target) {
  if (target.kind == Operand::Kind::tensor) {
    const TensorType &own = r.typeOf(target.tensor, "target");
    if (isFloat(own.dtype))
      r.fail("takes class indices as integers (i64 or i32), got target " + describe(own) + " for input " +
             describe(type) + "; convert it with to(DType::i64)");
  }
  Tensor indices = r.indicesOf(target, "target");
  Shape expected = frontend::reducedShape(type.shape, {classAxis(type)}, false);
  if (indices.type(r.at).shape != expected)
    r.fail("has target " + describe(indices.type(r.at)) + " for input " + describe(type) + "; it takes " +
           describe(TensorType{DType::i64, expected}) + ", one class for each row of scores along axis " +
           std::to_string(classAxis(type)));
  return indices;
}

Tensor classWeights(const Emitter &r, const TensorType &type, const Tensor &given) {
  if (!given.defined()) return given;
  TensorType expected{type.dtype, {type.shape[classAxis(type)]}};
  if (given.type(r.at) != expected)
    r.fail("has weights " + describe(given.type(r.at)) + " for input " + describe(type) + "; it takes " +
           describe(expected));
  return given;
}

Tensor againstIndices(const Emitter &r, const frontend::OpName &op, const Tensor &x, const Operand &target,
                      const Tensor &weight, int64_t ignoreIndex, Reduction reduction, AttrList attrs) {
  const TensorType type = x.type(r.at);
  Tensor indices = classIndices(r, type, target), weights = classWeights(r, type, weight);
  attrs.push_back(frontend::reductionAttr(r, reduction));
  attrs.push_back(Attr::of("ignore_index", ignoreIndex));
  TensorType result{type.dtype, reduction == Reduction::none ? indices.type(r.at).shape : Shape()};
  Tensor scores = classesLast(r, x);
  return weights.defined() ? r.emit(op, {scores, indices, weights}, std::move(attrs), result)
                           : r.emit(op, {scores, indices}, std::move(attrs), result);
}

/// -sum of t w log softmax(x) over the classes; the mean is over the rows, whatever the weights, as in PyTorch.
Tensor againstProbabilities(const Emitter &r, const Tensor &x, const Tensor &target,
                            const CrossEntropyOptions &options) {
  const TensorType type = x.type(r.at);
  Tensor weights = classWeights(r, type, options.weight);
  int axis = classAxis(type);
  double smoothing = options.labelSmoothing;
  Tensor t = target;
  if (smoothing != 0)
    t = r.add(r.mul(t, r.number(1 - smoothing, t)), r.number(smoothing / double(type.shape[axis]), t));
  Tensor terms = r.mul(t, r.softmax(SPRIG_OP("log_softmax"), x, axis));
  if (weights.defined()) {
    Shape perClass = type.shape;
    for (int i = 0; i < perClass.rank(); ++i)
      if (i != axis) perClass[i] = 1;
    terms = r.mul(terms, r.reshape(weights, perClass));
  }
  return frontend::reduceLosses(r, r.neg(r.sum(terms, {axis}, false)), options.reduction);
}
} // namespace

Tensor crossEntropy(const Operand &x, const Operand &target, const CrossEntropyOptions &options) {
  Emitter r("crossEntropy", x.at);
  Tensor scores = scoresOf(r, x);
  const TensorType &type = scores.type(r.at);
  double smoothing = options.labelSmoothing;
  if (!(smoothing >= 0 && smoothing <= 1))
    r.fail("has label smoothing " + frontend::realText(smoothing) + "; expected 0 to 1");
  if (target.kind == Operand::Kind::tensor && target.tensor.defined()) {
    const TensorType &own = target.tensor.type(r.at);
    if (isFloat(own.dtype) && own.shape == type.shape) {
      (void)frontend::reductionAttr(r, options.reduction);
      if (options.ignoreIndex >= 0)
        r.fail("ignores class " + std::to_string(options.ignoreIndex) + ", but has probabilities " + describe(own) +
               " as target, which are no class indices");
      return againstProbabilities(r, scores, r.cast(target.tensor, type.dtype), options);
    }
  }
  AttrList attrs;
  if (smoothing != 0) attrs.push_back(Attr::of("label_smoothing", smoothing));
  return againstIndices(r, SPRIG_OP("cross_entropy"), scores, target, options.weight, options.ignoreIndex,
                        options.reduction, std::move(attrs));
}

Tensor nllLoss(const Operand &x, const Operand &target, const NllLossOptions &options) {
  Emitter r("nllLoss", x.at);
  return againstIndices(r, SPRIG_OP("nll_loss"), scoresOf(r, x), target, options.weight, options.ignoreIndex,
                        options.reduction, {});
}

} // namespace sprig
