// Functions of one sample as functions of many; Jacobians and Hessians, which are made of them.
// For programs. What a function records for one slice is recorded once for all of them; both work in compile(), and
// have gradients.
#pragma once
#include "sprig/grad.h"

namespace sprig {

/// f for each slice of the inputs along their first axis, which is the same for all; results are stacked along a new
/// first axis. Operations become ones over all slices (of convolutions by filters of slices: by groups), and what does
/// not depend on a slice is computed once; branches, loops and gathers of slices by slices run slice by slice within
/// one program (nn.scan), with the same results. What f captures is the same for all slices. f may take gradients (of
/// each sample: vmap(grad(f))), but sets no parameter, reads no value and draws no random number: those are errors
/// (usage).
SPRIG_API std::vector<Tensor> vmapAll(const TensorFunction &f, std::span<const Tensor> inputs,
                                      Source at = Source::here());
/// vmap(f)(xs, ys), for a function of tensors to a tensor.
template <typename F> auto vmap(F f, Source at = Source::here()) {
  return [f = std::make_shared<F>(std::move(f)), at](const auto &...inputs) {
    std::vector<Tensor> list{Tensor(inputs)...};
    return vmapAll(frontend::ofList<sizeof...(inputs)>(*f), list, at)[0];
  };
}

/// How each element of f(x) changes with each element of x: [axes of f(x)..., axes of x...]. One pass backwards for all
/// elements together. Floats only; an f(x) that does not depend on x is an error (usage).
SPRIG_API Tensor jacobian(const std::function<Tensor(Tensor)> &f, const Tensor &x, Source at = Source::here());
/// The second derivatives of a scalar function: [axes of x..., axes of x...].
SPRIG_API Tensor hessian(const std::function<Tensor(Tensor)> &f, const Tensor &x, Source at = Source::here());

} // namespace sprig
