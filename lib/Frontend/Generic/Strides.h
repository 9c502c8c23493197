// Arrays seen through sizes and strides: broadcasting, transposing, slicing and padding are copies between such views.
// For the operations that move elements, and for broadcast operands. Strides count elements.
#pragma once
#include "sprig/dtype.h"

namespace sprig::frontend::generic {

struct Strided {
  int rank = 0;
  int64_t sizes[Shape::kMaxRank] = {}, strides[Shape::kMaxRank] = {};
  /// Appends a dimension, outermost first; one of size 1 is left out, neighbours that make one are merged.
  void add(int64_t size, int64_t stride);
};

/// The row-major strides of a shape.
Shape rowMajor(const Shape &shape);

/// An array that broadcasts to `result` by NumPy's rules.
Strided broadcastStrides(const Shape &shape, const Shape &result);

/// Writes an element `count` times.
void fill(void *to, const void *element, int64_t bytes, int64_t count);

/// The elements [start, start + count) of a view in row-major order, one after the other.
void copyStrided(void *to, const void *from, int64_t bytes, const Strided &view, int64_t start, int64_t count);

/// All elements, where the target has strides of its own: `sizes` are those of both.
void copyBetween(void *to, const Shape &toStrides, const void *from, const Shape &fromStrides, const Shape &sizes,
                 int64_t bytes);

} // namespace sprig::frontend::generic
