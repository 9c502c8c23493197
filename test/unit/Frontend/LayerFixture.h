// Numbers for tests of layers and optimizers, and comparisons with references that are plain loops in double precision.
#pragma once
#include "sprig/nn.h"
#include "sprig/tensor.h"
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace sprig::test {

using Numbers = std::vector<double>;

/// Numbers that look random, in [-1, 1], the same on every run.
inline std::vector<float> someNumbers(int64_t count, uint32_t seed) {
  std::vector<float> result;
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    result.push_back(float(state >> 8) / float(1 << 23) - 1);
  }
  return result;
}
inline Tensor someTensor(const Shape &shape, uint32_t seed) {
  return Tensor::from(someNumbers(shape.elements(), seed), shape);
}
inline Numbers numbersOf(const Tensor &tensor) {
  std::vector<float> values = tensor.toVector<float>();
  return Numbers(values.begin(), values.end());
}
inline Numbers numbersOf(const Parameter &parameter) { return numbersOf(parameter.value()); }

inline void expectNear(const Tensor &actual, const Numbers &expected, double tolerance = 1e-5) {
  Numbers values = numbersOf(actual);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
}

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// rows [n, k] times the transpose of weight [m, k], plus bias [m].
inline Numbers linear(const Numbers &x, const Numbers &weight, const Numbers &bias, size_t k) {
  size_t n = x.size() / k, m = weight.size() / k;
  Numbers y(n * m);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j) {
      double sum = bias.empty() ? 0 : bias[j];
      for (size_t p = 0; p < k; ++p) sum += x[i * k + p] * weight[j * k + p];
      y[i * m + j] = sum;
    }
  return y;
}

/// Whether a parameter itself, not a copy, is one of a module.
inline bool has(const nn::Module &module, const Parameter &parameter) {
  for (const Parameter &each : module.parameters())
    if (each.same(parameter)) return true;
  return false;
}

} // namespace sprig::test
