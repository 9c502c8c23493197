// What operations should give, in double precision and by plain loops.
// For the tests of the front-end's operations; nothing here looks at the code that it judges.
#pragma once
#include "sprig/tensor.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace sprig::test {

using Position = std::vector<int64_t>;
using Values = std::vector<double>;

inline double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
inline double softplusOf(double x) { return std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0); }

struct Array {
  Shape shape;
  std::vector<double> values; ///< row-major
};

/// Numbers between low and high that look random; the same for a seed. Rounded to f32.
Array numbers(const Shape &shape, unsigned seed = 1, double low = -2, double high = 2);
/// 0, 1, 2, ...
Array counting(const Shape &shape);
/// As a tensor of this type.
Tensor tensorOf(const Array &array, DType type = DType::f32);
/// The values of any tensor.
Array arrayOf(const Tensor &tensor);

/// The row-major position of indices; the inverse.
int64_t positionOf(const Shape &shape, const std::vector<int64_t> &index);
std::vector<int64_t> indexOf(const Shape &shape, int64_t position);
/// Element of each position by its indices.
Array generate(const Shape &shape, const std::function<double(const std::vector<int64_t> &)> &f);
double at(const Array &a, const std::vector<int64_t> &index);

Array map(const Array &a, const std::function<double(double)> &f);
/// Elements at the same position of the broadcast shape.
Array zip(const Array &a, const Array &b, const std::function<double(double, double)> &f);
/// The elements over `axes` (ascending) of each result, folded by f.
Array reduce(const Array &a, const std::vector<int> &axes, bool keepDims,
             const std::function<double(const std::vector<double> &)> &f);
Array permuted(const Array &a, const std::vector<int> &order);

struct ConvShape {
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups = 1;
};
/// [N, C, spatial...] with [O, C/groups, window...].
Array convolution(const Array &x, const Array &w, const ConvShape &c);
/// Each element of x spread over its window; w [C, O/groups, window...].
Array transposedConvolution(const Array &x, const Array &w, const ConvShape &c,
                            const std::vector<int64_t> &outputPadding);
/// Windows over [N, C, spatial...]: f of the elements that lie in the input, and of how many positions lie in input or
/// padding.
Array pool(const Array &x, const std::vector<int64_t> &window, const ConvShape &c, const std::vector<int64_t> &outputs,
           const std::function<double(const std::vector<double> &, int64_t)> &f);

} // namespace sprig::test
