// New tensors that follow from a shape alone. For programs. The element type is PyTorch's unless given.
#pragma once
#include "sprig/tensor.h"
#include <type_traits>

namespace sprig {

SPRIG_API Tensor zeros(const Shape &shape, DType type = DType::f32, Source at = Source::here());
SPRIG_API Tensor ones(const Shape &shape, DType type = DType::f32, Source at = Source::here());
/// Every element is `value`, converted to the type.
SPRIG_API Tensor full(const Shape &shape, double value, DType type = DType::f32, Source at = Source::here());
SPRIG_API Tensor zerosLike(const Operand &x);
SPRIG_API Tensor onesLike(const Operand &x);
SPRIG_API Tensor fullLike(const Operand &x, double value);

/// begin, begin + step, ... up to, but without, end: ceil((end - begin) / step) numbers, as in NumPy and PyTorch; none
/// where begin is end. A step of 0, or one that leads away from the end, is an error. Element i is begin + i * step,
/// computed in i64, then converted; f32 where a number is real, see below.
SPRIG_API Tensor arangeInteger(int64_t begin, int64_t end, int64_t step = 1, DType type = DType::i64,
                               Source at = Source::here());
/// The same computed in f64, then converted.
SPRIG_API Tensor arangeReal(double begin, double end, double step = 1, DType type = DType::f32,
                            Source at = Source::here());
/// arangeReal where one of the numbers is real, else arangeInteger: arange(0, 1, 0.1) is 10xf32, arange(2, 5) is 3xi64.
template <typename Begin, typename End, typename Step = int>
  requires std::is_arithmetic_v<Begin> && std::is_arithmetic_v<End> && std::is_arithmetic_v<Step>
Tensor arange(Begin begin, End end, Step step, DType type, Source at = Source::here()) {
  if constexpr (std::is_floating_point_v<Begin> || std::is_floating_point_v<End> || std::is_floating_point_v<Step>)
    return arangeReal(double(begin), double(end), double(step), type, at);
  else
    return arangeInteger(int64_t(begin), int64_t(end), int64_t(step), type, at);
}
template <typename Begin, typename End, typename Step = int>
  requires std::is_arithmetic_v<Begin> && std::is_arithmetic_v<End> && std::is_arithmetic_v<Step>
Tensor arange(Begin begin, End end, Step step = 1, Source at = Source::here()) {
  constexpr bool isReal =
      std::is_floating_point_v<Begin> || std::is_floating_point_v<End> || std::is_floating_point_v<Step>;
  return arange(begin, end, step, isReal ? DType::f32 : DType::i64, at);
}
template <typename Begin, typename End>
  requires std::is_arithmetic_v<Begin> && std::is_arithmetic_v<End>
Tensor arange(Begin begin, End end, DType type, Source at = Source::here()) {
  return arange(begin, end, 1, type, at);
}
/// 0, 1, ... below end: i64, or f32 where the end is real.
template <typename End>
  requires std::is_arithmetic_v<End>
Tensor arange(End end, Source at = Source::here()) {
  return arange(End(0), end, 1, at);
}
template <typename End>
  requires std::is_arithmetic_v<End>
Tensor arange(End end, DType type, Source at = Source::here()) {
  return arange(End(0), end, 1, type, at);
}
/// `count` numbers at equal distances, both ends among them, exactly; computed in f64, then converted. One number is
/// begin, none is an empty tensor.
SPRIG_API Tensor linspace(double begin, double end, int64_t count, DType type = DType::f32, Source at = Source::here());
/// Ones on the diagonal of rows x columns (columns = rows when negative), zeros elsewhere.
SPRIG_API Tensor eye(int64_t rows, int64_t columns = -1, DType type = DType::f32, Source at = Source::here());

} // namespace sprig
