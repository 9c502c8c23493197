// What a list of indices picks, in the terms of the dialect: a slice, a reshape, and at most one gather.
// For the operations that pick and that put into picked places.
#pragma once
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/shape_ops.h"

namespace sprig::frontend {

/// A range of positions that all exist: start, start + step, ..., count of them.
struct Range {
  int64_t start, count, step;
  static Range of(const Emitter &r, const Slice &slice, int64_t size);
};

/// A position from 0 on; refuses one that is not there.
int64_t positionOf(const Emitter &r, int64_t position, const TensorType &type, int axis);

struct Selection {
  Shape starts, sizes, steps; ///< of the slice, for each axis of the operand
  Shape shape;                ///< of the slice, without axes of positions and with new ones
  Tensor indices;             ///< undefined, or gathered along `indexAxis` of `shape`
  int indexAxis = 0;

  static Selection of(const Emitter &r, const TensorType &type, std::span<const Index> each);
  Tensor apply(const Emitter &r, const Tensor &x) const;
};

/// The row-major position (i64) of each element of a shape.
Tensor flatPositions(const Emitter &r, const Shape &shape);

} // namespace sprig::frontend
