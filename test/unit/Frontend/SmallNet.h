// A network of two layers and numbers for it: for tests of gradients.
#pragma once
#include "sprig/function.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include <vector>

namespace sprig {

inline Tensor ramp(const Shape &shape, float scale = 0.1f) {
  std::vector<float> numbers(size_t(shape.elements()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = scale * float(int(i * 7 % 23) - 11);
  return Tensor::from(numbers, shape);
}

/// Of 4 features and 3 results.
struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(4, 6)), b = add("b", nn::Linear(6, 3));
  Tensor operator()(Tensor x) const { return b(tanh(a(x))); }
};

/// f as a compiled function, or as one that runs as it is written.
template <typename F> auto maybe(F f, bool compiled) {
  auto function = compile(std::move(f), {.report = [](const std::string &) {}});
  function.enable(compiled);
  return function;
}

} // namespace sprig
