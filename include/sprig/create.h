// New tensors that follow from a shape alone. For programs. The element type is PyTorch's unless given.
#pragma once
#include "sprig/tensor.h"

namespace sprig {

SPRIG_API Tensor zeros(const Shape &shape, DType type = DType::f32, Source at = Source::here());
SPRIG_API Tensor ones(const Shape &shape, DType type = DType::f32, Source at = Source::here());
/// Every element is `value`, converted to the type.
SPRIG_API Tensor full(const Shape &shape, double value, DType type = DType::f32, Source at = Source::here());
SPRIG_API Tensor zerosLike(const Operand &x);
SPRIG_API Tensor onesLike(const Operand &x);
SPRIG_API Tensor fullLike(const Operand &x, double value);

/// 0, 1, ... below end, i64. A negative end is an error.
SPRIG_API Tensor arange(int64_t end, Source at = Source::here());
/// begin, begin + step, ... up to, but without, end. Computed in i64 (f64 by the other overload), then converted.
SPRIG_API Tensor arange(int64_t begin, int64_t end, int64_t step = 1, DType type = DType::i64,
                        Source at = Source::here());
SPRIG_API Tensor arangeReal(double begin, double end, double step = 1, DType type = DType::f32,
                            Source at = Source::here());
/// `count` numbers at equal distances, both ends among them; computed in f64.
SPRIG_API Tensor linspace(double begin, double end, int64_t count, DType type = DType::f32, Source at = Source::here());
/// Ones on the diagonal of rows x columns (columns = rows when negative), zeros elsewhere.
SPRIG_API Tensor eye(int64_t rows, int64_t columns = -1, DType type = DType::f32, Source at = Source::here());

} // namespace sprig
