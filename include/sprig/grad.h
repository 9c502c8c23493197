// Gradients of recorded values and of functions.
// For programs. What is computed from a trainable Parameter, or from Tensor::requireGrad(), remembers how, until an
// optimizer has used its gradients. Gradients are recorded like everything else: they run asynchronously, compile, and
// can be differentiated again with `createGraph`. Calls of compiled functions are differentiated by compiled programs;
// through one that sets state, a gradient is refused by name.
#pragma once
#include "sprig/tensor.h"
#include <functional>
#include <memory>
#include <tuple>

namespace sprig {

struct GradOptions {
  /// Whether the gradients remember how they came about, so that gradients of them may be asked for.
  bool createGraph = false;
  /// Cotangents of the outputs, of their types; none where there is one output, a scalar.
  std::vector<Tensor> seeds = {};
};

/// Gradients of the sum of outputs times seeds, one for each of `wrt`, of its type; zeros for one that the outputs do
/// not depend on, which an optimizer's update takes as a gradient: weight decay and momentum go on there, where PyTorch
/// has no gradient and leaves the parameter. backward() and step() leave it here, too. Throws Error (usage) when they
/// depend on none, or on a version of a parameter of `wrt` that it no longer holds.
SPRIG_API std::vector<Tensor> grad(std::span<const Tensor> outputs, std::span<const Tensor> wrt,
                                   const GradOptions &options = {}, Source at = Source::here());
SPRIG_API std::vector<Tensor> grad(const Tensor &output, std::span<const Parameter> wrt,
                                   const GradOptions &options = {}, Source at = Source::here());
inline std::vector<Tensor> grad(const Tensor &output, const std::vector<Parameter> &wrt,
                                const GradOptions &options = {}, Source at = Source::here()) {
  return grad(output, std::span<const Parameter>(wrt), options, at);
}
/// With respect to one value: dy = grad(y, x).
inline Tensor grad(const Tensor &output, const Tensor &wrt, const GradOptions &options = {},
                   Source at = Source::here()) {
  return grad(std::span(&output, 1), std::span(&wrt, 1), options, at)[0];
}
inline std::vector<Tensor> grad(const Tensor &output, std::initializer_list<Tensor> wrt,
                                const GradOptions &options = {}, Source at = Source::here()) {
  return grad(std::span(&output, 1), std::span(wrt.begin(), wrt.size()), options, at);
}

/// How outputs change along `tangents` of `wrt` (forward mode).
SPRIG_API std::vector<Tensor> derivativeAlong(std::span<const Tensor> outputs, std::span<const Tensor> wrt,
                                              std::span<const Tensor> tangents, Source at = Source::here());

/// While it lives, this thread records nothing for gradients.
class SPRIG_API NoGrad {
public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad &) = delete;
  NoGrad &operator=(const NoGrad &) = delete;

private:
  bool outer;
};
template <typename F> auto noGrad(F &&f) {
  NoGrad scope;
  return f();
}

/// x -> (f(x), df/dx) for a function of a tensor, and possibly more, to a scalar; with respect to the first.
template <typename F> auto valueAndGrad(F f, Source at = Source::here()) {
  // f may change itself (a mutable lambda), the function that is given back does not.
  return [f = std::make_shared<F>(std::move(f)), at](const Tensor &x, const auto &...more) {
    Tensor root = x.requireGrad(at);
    Tensor value = (*f)(root, more...);
    return std::pair<Tensor, Tensor>(value, grad(value, root, {.createGraph = true}, at));
  };
}
/// x -> df/dx, likewise. grad(grad(f)) is the second derivative of a function of a scalar.
template <typename F>
  requires(!std::is_convertible_v<F, Tensor>)
auto grad(F f, Source at = Source::here()) {
  return
      [both = valueAndGrad(std::move(f), at)](const Tensor &x, const auto &...more) { return both(x, more...).second; };
}
/// (f(x), the function from a cotangent of f(x) to that of x).
template <typename F> auto vjp(F f, const Tensor &x, Source at = Source::here()) {
  Tensor root = x.requireGrad(at);
  Tensor value = f(root);
  auto pullback = [value, root, at](const Tensor &seed) {
    return grad(value, root, {.createGraph = true, .seeds = {seed}}, at);
  };
  return std::pair(value, std::function<Tensor(const Tensor &)>(pullback));
}
/// (f(x), how f(x) changes along v).
template <typename F> std::pair<Tensor, Tensor> jvp(F f, const Tensor &x, const Tensor &v, Source at = Source::here()) {
  Tensor root = x.requireGrad(at);
  Tensor value = f(root);
  return {value, derivativeAlong({&value, 1}, {&root, 1}, {&v, 1}, at)[0]};
}

using TensorFunction = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// f's results; of the values in between only the inputs are kept for the gradient, which computes them again
/// (arXiv:1604.06174). Parameters that f sets, as batch norms set their running statistics, are set once; dropout
/// drops the same again.
SPRIG_API std::vector<Tensor> checkpointAll(const TensorFunction &f, std::span<const Tensor> inputs,
                                            Source at = Source::here());
namespace frontend {
/// A function of `Count` tensors to a tensor as one of a list to a list. `f` has to live as long.
template <size_t Count, typename F> auto ofList(F &f) {
  return [&f](std::span<const Tensor> given) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::vector<Tensor>{f(given[I]...)};
    }(std::make_index_sequence<Count>());
  };
}
} // namespace frontend

/// checkpoint(block)(x) is block(x) with less memory: for functions of tensors to a tensor.
template <typename F> auto checkpoint(F f, Source at = Source::here()) {
  return [f = std::make_shared<F>(std::move(f)), at](const auto &...inputs) {
    std::vector<Tensor> list{Tensor(inputs)...};
    return checkpointAll(frontend::ofList<sizeof...(inputs)>(*f), list, at)[0];
  };
}

/// forward(inputs) with a gradient of its own: backward gets the inputs, the results and the results' cotangents, one
/// after the other, and gives a cotangent for each input.
SPRIG_API std::vector<Tensor> customGradient(const TensorFunction &forward, const TensorFunction &backward,
                                             std::span<const Tensor> inputs, Source at = Source::here());
inline Tensor customGradient(const std::function<Tensor(Tensor)> &forward,
                             const std::function<Tensor(Tensor x, Tensor y, Tensor g)> &backward, const Tensor &x,
                             Source at = Source::here()) {
  return customGradient([&](std::span<const Tensor> v) { return std::vector<Tensor>{forward(v[0])}; },
                        [&](std::span<const Tensor> v) { return std::vector<Tensor>{backward(v[0], v[1], v[2])}; },
                        {&x, 1}, at)[0];
}

} // namespace sprig
