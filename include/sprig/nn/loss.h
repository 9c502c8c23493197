// Losses as modules, for programs that keep them beside the network; the functions stand in sprig/losses.h.
#pragma once
#include "sprig/losses.h"
#include "sprig/nn/module.h"

namespace sprig::nn {

struct CrossEntropyLoss : Module {
  explicit CrossEntropyLoss(const CrossEntropyOptions &options = {}) : options(options) {}
  Tensor operator()(const Operand &x, const Operand &target) const { return crossEntropy(x, target, options); }
  CrossEntropyOptions options;
};
struct NLLLoss : Module {
  explicit NLLLoss(const NllLossOptions &options = {}) : options(options) {}
  Tensor operator()(const Operand &x, const Operand &target) const { return nllLoss(x, target, options); }
  NllLossOptions options;
};
struct BCELoss : Module {
  explicit BCELoss(const BceOptions &options = {}) : options(options) {}
  Tensor operator()(const Operand &x, const Operand &target) const { return bceLoss(x, target, options); }
  BceOptions options;
};
struct BCEWithLogitsLoss : Module {
  explicit BCEWithLogitsLoss(const BceWithLogitsOptions &options = {}) : options(options) {}
  Tensor operator()(const Operand &x, const Operand &target) const { return bceWithLogitsLoss(x, target, options); }
  BceWithLogitsOptions options;
};
/// Of log-probabilities [steps, batch, classes], targets, and how many steps and labels count: ctcLoss.
struct CTCLoss : Module {
  explicit CTCLoss(const CtcOptions &options = {}) : options(options) {}
  Tensor operator()(const Operand &logProbs, const Operand &targets, const Operand &inputLengths,
                    const Operand &targetLengths) const {
    return ctcLoss(logProbs, targets, inputLengths, targetLengths, options);
  }
  CtcOptions options;
};
struct MSELoss : Module {
  explicit MSELoss(Reduction reduction = Reduction::mean) : reduction(reduction) {}
  Tensor operator()(const Operand &x, const Operand &target) const { return mseLoss(x, target, reduction); }
  Reduction reduction;
};
struct L1Loss : Module {
  explicit L1Loss(Reduction reduction = Reduction::mean) : reduction(reduction) {}
  Tensor operator()(const Operand &x, const Operand &target) const { return l1Loss(x, target, reduction); }
  Reduction reduction;
};
struct SmoothL1Loss : Module {
  explicit SmoothL1Loss(Reduction reduction = Reduction::mean, double beta = 1) : reduction(reduction), beta(beta) {}
  Tensor operator()(const Operand &x, const Operand &target) const { return smoothL1Loss(x, target, reduction, beta); }
  Reduction reduction;
  double beta;
};
struct HuberLoss : Module {
  explicit HuberLoss(Reduction reduction = Reduction::mean, double delta = 1) : reduction(reduction), delta(delta) {}
  Tensor operator()(const Operand &x, const Operand &target) const { return huberLoss(x, target, reduction, delta); }
  Reduction reduction;
  double delta;
};
struct KLDivLoss : Module {
  explicit KLDivLoss(Reduction reduction = Reduction::mean, bool logTarget = false)
      : reduction(reduction), logTarget(logTarget) {}
  Tensor operator()(const Operand &x, const Operand &target) const {
    return klDivLoss(x, target, reduction, logTarget);
  }
  Reduction reduction;
  bool logTarget;
};

} // namespace sprig::nn
