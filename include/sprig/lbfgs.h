// L-BFGS for loops of programs: steps that evaluate the loss several times.
// `sprig train` has no such optimizer, as its steps are one evaluation each. Formulas, defaults and ends are PyTorch's.
//
//     optim::Lbfgs optimizer(net, {.lineSearch = optim::LineSearchRule::strongWolfe});
//     auto loss = compile([&](const Tensor &x, const Tensor &y) { return mseLoss(net(x), y); });
//     for (int i = 0; i < 10; ++i) optimizer.step([&] { return loss(x, y); });
#pragma once
#include "sprig/optim.h"
#include <functional>

namespace sprig::optim {

enum class LineSearchRule {
  none,       ///< each step is as long as lr says
  strongWolfe ///< as long as the strong Wolfe conditions want it
};
struct LbfgsOptions {
  double lr = 1;
  int64_t maxIterations = 20;
  std::optional<int64_t> maxEvaluations = {}; ///< of the loss in a step; none: 5/4 of maxIterations
  double toleranceGrad = 1e-7;                ///< ends where no element of the gradient is larger,
  double toleranceChange = 1e-9;              ///< or no element of a step, or the change of the loss
  int64_t history = 100;                      ///< steps that curvature is taken from
  LineSearchRule lineSearch = LineSearchRule::none;
};
/// Liu and Nocedal, On the limited memory BFGS method, 1989. Parameters are of one float type, without groups. A
/// handle: copies share state, of which 2 `history` vectors are as long as all parameters together.
class SPRIG_API Lbfgs {
public:
  explicit Lbfgs(const Parameters &parameters, const LbfgsOptions &options = {}, Source at = Source::here());
  /// Goes on until one of the options ends it; gives the loss that it began with. `loss` computes it from what the
  /// parameters hold then, of the same samples each time; its gradients are taken here. Waits. Not within a compiled
  /// function; `loss` may be one. Throws Error (usage) where a parameter is frozen. Where something is thrown, by
  /// `loss` too, parameters and state are as they were before.
  double step(const std::function<Tensor()> &loss, Source at = Source::here()) const;

  const std::vector<Parameter> &parameters() const;
  /// Of all steps. Wait.
  int64_t iterations(Source at = Source::here()) const;
  int64_t evaluations(Source at = Source::here()) const;

  /// What steps go on from: "optimizer/lbfgs/numbers" and so on. Parts of checkpoints (sprig/checkpoint.h).
  nn::StateDict stateDict() const;
  void loadStateDict(const nn::StateDict &state, Source at = Source::here()) const;
  std::vector<std::pair<std::string, Parameter>> namedState() const;

private:
  struct State;
  std::shared_ptr<State> state;
};

} // namespace sprig::optim
