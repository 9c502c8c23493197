// Bounds on gradients, as `sprig train` computes them.
#include "lib/Frontend/Engine/GlobalStep.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "sprig/grad.h"
#include "lib/Frontend/Record.h"
#include "sprig/elementwise.h"
#include "sprig/reductions.h"

namespace sprig::optim {

/// The type that norms of these gradients together are computed in: f64 where one of them is, else f32.
static DType normType(std::span<const Tensor> gradients) {
  for (const Tensor &g : gradients)
    if (g.defined() && g.dtype() == DType::f64) return DType::f64;
  return DType::f32;
}

/// The sum of a gradient's squares, of this type.
static Tensor squaredNorm(const Tensor &gradient, DType type, Source where) {
  // Squares of half types would overflow.
  Tensor wide = size(gradient.dtype()) < 4 ? cast(Operand(gradient, where), type) : gradient;
  Tensor squares = mul(Operand(wide, where), Operand(wide, where));
  return cast(Operand(sum(Operand(squares, where)), where), type);
}

Tensor gradNorm(const std::vector<Tensor> &gradients, Source where) {
  NoGrad quiet;
  Tensor total;
  const DType type = normType(gradients);
  for (const Tensor &g : gradients) {
    if (!g.defined()) continue;
    Tensor square = squaredNorm(g, type, where);
    total = total.defined() ? add(Operand(total, where), Operand(square, where)) : square;
  }
  if (!total.defined()) frontend::fail(where, "gradNorm", "there is no gradient");
  return sqrt(Operand(frontend::markTotal(total, "grad_norm", where), where));
}

std::vector<Tensor> clipGradNorm(const std::vector<Tensor> &gradients, double most, Source where) {
  if (!(most > 0)) frontend::fail(where, "clipGradNorm", "the bound is " + frontend::realText(most) + ", not above 0");
  NoGrad quiet;
  Tensor norm = gradNorm(gradients, where);
  Tensor ratio = div(Operand(most, where), Operand(add(Operand(norm, where), 1e-6), where));
  Tensor factor = minimum(Operand(ratio, where), 1);
  std::vector<Tensor> result;
  for (const Tensor &g : gradients)
    result.push_back(g.defined() ? mul(Operand(g, where), Operand(cast(Operand(factor, where), g.dtype()), where))
                                 : Tensor());
  return result;
}

std::vector<Tensor> clipGradValue(const std::vector<Tensor> &gradients, double most, Source where) {
  if (!(most > 0)) frontend::fail(where, "clipGradValue", "the bound is " + frontend::realText(most) + ", not above 0");
  NoGrad quiet;
  std::vector<Tensor> result;
  for (const Tensor &g : gradients)
    result.push_back(g.defined() ? maximum(Operand(minimum(Operand(g, where), most), where), -most) : Tensor());
  return result;
}

} // namespace sprig::optim
