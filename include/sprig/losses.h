// Losses, with PyTorch's names, options and defaults. For programs.
// Targets of another shape than the input are an error (PyTorch warns and broadcasts).
#pragma once
#include "sprig/tensor.h"

namespace sprig {

/// How the losses of elements become one: not at all, their mean, their sum; batchMean: the sum divided by the size of
/// axis 0 (of klDivLoss alone).
enum class Reduction { none, mean, sum, batchMean };

struct CrossEntropyOptions {
  Tensor weight = {}; ///< of each class [C]
  int64_t ignoreIndex = -100;
  Reduction reduction = Reduction::mean; ///< mean: divided by the sum of the targets' weights
  double labelSmoothing = 0;             ///< arXiv:1512.00567
};
/// -log softmax(x)[target]. Logits x [N, C, ...] or [C] against class indices [N, ...] (i64 or i32; one out of range is
/// an error when it runs), or against probabilities of x's shape and type.
SPRIG_API Tensor crossEntropy(const Operand &x, const Operand &target, const CrossEntropyOptions &options = {});

struct NllLossOptions {
  Tensor weight = {};
  int64_t ignoreIndex = -100;
  Reduction reduction = Reduction::mean;
};
/// -x[target], of log-probabilities x [N, C, ...] or [C] and class indices.
SPRIG_API Tensor nllLoss(const Operand &x, const Operand &target, const NllLossOptions &options = {});

struct CtcOptions {
  int64_t blank = 0;
  Reduction reduction =
      Reduction::mean;       ///< mean: each divided by its number of labels (at least 1), then over the batch
  bool zeroInfinity = false; ///< 0 where no alignment is possible, and no gradient, in place of infinity
};
/// -log of the probability of all alignments of labels with steps (connectionist temporal classification): of
/// log-probabilities [steps, batch, classes], targets [batch, labels], and how many steps and labels count, [batch]
/// each, all integers. A label or length out of range is an error when it runs. The gradient is that of the
/// log-probabilities as they are given.
SPRIG_API Tensor ctcLoss(const Operand &logProbs, const Operand &targets, const Operand &inputLengths,
                         const Operand &targetLengths, const CtcOptions &options = {});

/// (x - target)^2
SPRIG_API Tensor mseLoss(const Operand &x, const Operand &target, Reduction reduction = Reduction::mean);
/// |x - target|
SPRIG_API Tensor l1Loss(const Operand &x, const Operand &target, Reduction reduction = Reduction::mean);
/// d^2 / (2 beta) where d = |x - target| is below beta, else d - beta / 2.
SPRIG_API Tensor smoothL1Loss(const Operand &x, const Operand &target, Reduction reduction = Reduction::mean,
                              double beta = 1);
/// d^2 / 2 where d is at most delta, else delta (d - delta / 2).
SPRIG_API Tensor huberLoss(const Operand &x, const Operand &target, Reduction reduction = Reduction::mean,
                           double delta = 1);

struct BceOptions {
  Tensor weight = {}; ///< of each element; broadcasts
  Reduction reduction = Reduction::mean;
};
/// -(t log x + (1 - t) log(1 - x)) of probabilities x; each logarithm is at least -100. A value outside [0, 1] is an
/// error when it runs.
SPRIG_API Tensor bceLoss(const Operand &x, const Operand &target, const BceOptions &options = {});
struct BceWithLogitsOptions {
  Tensor weight = {};
  Tensor positiveWeight = {}; ///< of positive targets; broadcasts (PyTorch's pos_weight)
  Reduction reduction = Reduction::mean;
};
/// bceLoss of sigmoid(x), without overflow.
SPRIG_API Tensor bceWithLogitsLoss(const Operand &x, const Operand &target, const BceWithLogitsOptions &options = {});
/// t (log t - x) of log-probabilities x, zero where t is zero; with logTarget t is given as its logarithm. The default,
/// as PyTorch's, divides by the number of elements; batchMean is the divergence itself.
SPRIG_API Tensor klDivLoss(const Operand &x, const Operand &target, Reduction reduction = Reduction::mean,
                           bool logTarget = false);

/// exp(x) - t x (with logInput, the default), or x - t log(x + epsilon).
SPRIG_API Tensor poissonNllLoss(const Operand &x, const Operand &target, Reduction reduction = Reduction::mean,
                                bool logInput = true, double epsilon = 1e-8);
/// (log var + (x - t)^2 / var) / 2, var at least epsilon; a negative variance is an error when it runs.
SPRIG_API Tensor gaussianNllLoss(const Operand &x, const Operand &target, const Operand &variance,
                                 Reduction reduction = Reduction::mean, double epsilon = 1e-6);
/// log(1 + exp(-t x)), t being 1 or -1.
SPRIG_API Tensor softMarginLoss(const Operand &x, const Operand &target, Reduction reduction = Reduction::mean);
/// max(0, -t (a - b) + margin), t being 1 or -1.
SPRIG_API Tensor marginRankingLoss(const Operand &a, const Operand &b, const Operand &target, double margin = 0,
                                   Reduction reduction = Reduction::mean);
/// x where t is 1, max(0, margin - x) where it is -1.
SPRIG_API Tensor hingeEmbeddingLoss(const Operand &x, const Operand &target, double margin = 1,
                                    Reduction reduction = Reduction::mean);
/// 1 - cos(a, b) where t is 1, max(0, cos - margin) where it is -1; a, b [N, D], t [N].
SPRIG_API Tensor cosineEmbeddingLoss(const Operand &a, const Operand &b, const Operand &target, double margin = 0,
                                     Reduction reduction = Reduction::mean);
/// max(0, |a - p| - |a - n| + margin) by the 2-norm over the last axis.
SPRIG_API Tensor tripletMarginLoss(const Operand &anchor, const Operand &positive, const Operand &negative,
                                   double margin = 1, Reduction reduction = Reduction::mean);

} // namespace sprig
