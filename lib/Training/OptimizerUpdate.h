// One step of an optimizer for one parameter, as elementwise expressions: they fuse with what computes the gradient.
// For the step builder. Formulas: docs/training.md, those of PyTorch.
#pragma once
#include "lib/Training/StateAccess.h"
#include "lib/Training/TrainConfig.h"

namespace sprig::training {

/// What the parameters of a step share: scalars of f64 that are computed once.
struct StepScalars {
  mlir::Value lr;    ///< tensor<f64>: this step's rate
  mlir::Value count; ///< tensor<f64>: steps done before this one, t - 1
};

/// The new value of a parameter, or of a part of it; sets the optimizer's tensors for it in `state`, which have its
/// type or are scalars of f64, under its name. The gradient has the parameter's type.
mlir::Value updatedParameter(ir::Expression &e, StateAccess &state, const OptimizerConfig &optimizer,
                             const StepScalars &step, double lrScale, double weightDecay, const std::string &name,
                             mlir::Value parameter, mlir::Value gradient);

} // namespace sprig::training
