// A line search for a step length that satisfies the strong Wolfe conditions (Nocedal and Wright, Numerical
// Optimization, algorithms 3.5 and 3.6), with cubic interpolation; limits and safeguards are PyTorch's.
// For optim::Lbfgs.
#pragma once
#include "sprig/tensor.h"
#include <functional>

namespace sprig::optim {

/// What is known of a step length: the loss there, its slope along the direction, its gradient.
struct LinePoint {
  double t, loss, slope;
  Tensor gradient;
};

struct LineSearch {
  LinePoint found;
  int64_t evaluations; ///< of the loss
};

/// From `start` (t = 0), first at `t`. `longest`: the largest element of the direction; steps of which no element moves
/// by `tolerance` are not told apart.
LineSearch strongWolfe(const LinePoint &start, double t, double longest, double tolerance,
                       const std::function<LinePoint(double)> &evaluate);

} // namespace sprig::optim
