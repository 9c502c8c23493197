// Control flow that depends on values: it stays in the compiled program, where a C++ branch would be taken once, while
// recording.
// For programs. The functions given here are recorded, not run: they may use tensors of outside, but set no parameter
// and read no value. All of it works the same way imperatively and in compile().
#pragma once
#include "sprig/tensor.h"
#include <functional>
#include <tuple>

namespace sprig {

using TensorList = std::vector<Tensor>;

/// What `yes` gives where the boolean scalar is true, else what `no` gives: as many tensors, of the same types. Only
/// one of them is computed. Differentiable.
SPRIG_API TensorList condAll(const Operand &predicate, const std::function<TensorList()> &yes,
                             const std::function<TensorList()> &no);
/// y = cond(sum(x) > 0, [&] { return x * 2; }, [&] { return -x; })
template <typename Yes, typename No> Tensor cond(const Operand &predicate, Yes yes, No no) {
  return condAll(predicate, [&] { return TensorList{yes()}; }, [&] { return TensorList{no()}; })[0];
}

struct WhileOptions {
  int64_t maxSteps = 0; ///< ends after this many steps, too; 0: no limit
};
/// Carries tensors from step to step as long as the condition, a boolean scalar, holds before a step. Without a
/// gradient in reverse mode, since the number of steps is known only when it runs; scan has one.
SPRIG_API TensorList whileLoopAll(const std::function<Tensor(std::span<const Tensor>)> &condition,
                                  const std::function<TensorList(std::span<const Tensor>)> &body,
                                  std::span<const Tensor> initial, const WhileOptions &options = {},
                                  Source at = Source::here());
/// x = whileLoop([](Tensor x) { return sum(x) < 100; }, [](Tensor x) { return x * 2; }, x)
template <typename Condition, typename Body>
Tensor whileLoop(Condition condition, Body body, const Tensor &initial, const WhileOptions &options = {},
                 Source at = Source::here()) {
  return whileLoopAll([&](std::span<const Tensor> v) -> Tensor { return condition(v[0]); },
                      [&](std::span<const Tensor> v) { return TensorList{body(v[0])}; }, {&initial, 1}, options, at)[0];
}
/// The same with two tensors: [x, n] = whileLoop([](Tensor x, Tensor n) {...}, [](Tensor x, Tensor n) { return
/// std::pair(x * 2, n + 1); }, std::pair(x, n))
template <typename Condition, typename Body>
std::pair<Tensor, Tensor> whileLoop(Condition condition, Body body, const std::pair<Tensor, Tensor> &initial,
                                    const WhileOptions &options = {}, Source at = Source::here()) {
  TensorList start{initial.first, initial.second};
  TensorList last = whileLoopAll([&](std::span<const Tensor> v) -> Tensor { return condition(v[0], v[1]); },
                                 [&](std::span<const Tensor> v) {
                                   std::pair<Tensor, Tensor> next = body(v[0], v[1]);
                                   return TensorList{next.first, next.second};
                                 },
                                 start, options, at);
  return {last[0], last[1]};
}

struct ScanOptions {
  bool reverse = false; ///< from the last slice to the first; results keep their places
};
struct ScanResult {
  TensorList carry;   ///< after the last step
  TensorList outputs; ///< of all steps, stacked along a new first axis
};
/// Runs `step` once for each slice of `inputs` along their first axis, which is the same for all. It gets the carried
/// tensors and the slices, and gives the next carried tensors and its outputs. Without slices the carried tensors stay
/// as they are, and no outputs are stacked; `step` says their types. Differentiable.
SPRIG_API ScanResult
scanAll(const std::function<std::pair<TensorList, TensorList>(std::span<const Tensor>, std::span<const Tensor>)> &step,
        std::span<const Tensor> carry, std::span<const Tensor> inputs, const ScanOptions &options = {},
        Source at = Source::here());
/// [last, all] = scan([&](Tensor h, Tensor x) { Tensor next = tanh(x + matmul(h, w)); return std::pair(next, next); },
/// h0, xs)
template <typename Step>
std::pair<Tensor, Tensor> scan(Step step, const Tensor &carry, const Tensor &inputs, const ScanOptions &options = {},
                               Source at = Source::here()) {
  ScanResult result = scanAll(
      [&](std::span<const Tensor> h, std::span<const Tensor> x) {
        std::pair<Tensor, Tensor> next = step(h[0], x[0]);
        return std::pair(TensorList{next.first}, TensorList{next.second});
      },
      {&carry, 1}, {&inputs, 1}, options, at);
  return {result.carry[0], result.outputs[0]};
}

} // namespace sprig
