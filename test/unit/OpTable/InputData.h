// Input values of the op table: ordinary ones, the special values of a type, and indices.
// Deterministic: the same type, pattern and seed give the same bytes.
#pragma once
#include "lib/Interpreter/Tensor.h"

namespace sprig::optable {

enum class Fill {
  Plain,    ///< spread over [-3, 3]; integers over [-9, 9] or [0, 18]
  Special,  ///< NaN, infinities, signed zeros, denormals, extremes; then values of every size
  Positive, ///< above zero
  Unit,     ///< [-1, 1]
  NonZero,  ///< Plain without zeros
  Index,    ///< [-limit, limit)
  Distinct, ///< a permutation, so that no order depends on ties
};

struct Pattern {
  Fill fill = Fill::Plain;
  int64_t limit = 1; ///< of Index
};

interp::Tensor makeInput(mlir::RankedTensorType type, Pattern pattern, uint64_t seed);

} // namespace sprig::optable
