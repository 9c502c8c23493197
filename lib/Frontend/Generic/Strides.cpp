#include "lib/Frontend/Generic/Strides.h"
#include <algorithm>
#include <cstring>

namespace sprig::frontend::generic {

namespace {

/// Calls f with the type of an element of 1, 2, 4 or 8 bytes.
template <typename F> void withElement(int64_t bytes, F f) {
  switch (bytes) {
  case 1: return f(uint8_t());
  case 2: return f(uint16_t());
  case 4: return f(uint32_t());
  default: return f(uint64_t());
  }
}

template <typename T> void fillTyped(T *to, T element, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = element;
}

/// One row: `count` elements with their strides.
template <typename T> void copyRow(T *to, int64_t toStride, const T *from, int64_t fromStride, int64_t count) {
  if (toStride == 1 && fromStride == 1) {
    std::memcpy(to, from, count * sizeof(T));
  } else if (toStride == 1 && fromStride == 0) {
    fillTyped(to, *from, count);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * toStride] = from[i * fromStride];
  }
}

/// Two dimensions of which the target runs along the inner, the source along the outer one: in squares, so that lines
/// of both stay in the cache while they are used.
template <typename T>
void transposeBlocks(T *to, int64_t toStride, const T *from, int64_t fromStride, int64_t rows, int64_t columns) {
  constexpr int64_t kSquare = 16;
  for (int64_t row = 0; row < rows; row += kSquare)
    for (int64_t column = 0; column < columns; column += kSquare) {
      int64_t rowEnd = std::min(rows, row + kSquare), columnEnd = std::min(columns, column + kSquare);
      for (int64_t i = row; i < rowEnd; ++i)
        for (int64_t j = column; j < columnEnd; ++j) to[i * toStride + j] = from[j * fromStride + i];
    }
}

struct Dim {
  int64_t size, to, from;
};

template <typename T> void copyDims(T *to, const T *from, const Dim *dims, int rank) {
  if (rank == 0) {
    *to = *from;
  } else if (rank == 1) {
    copyRow(to, dims[0].to, from, dims[0].from, dims[0].size);
  } else if (rank == 2 && dims[1].to == 1 && dims[0].from == 1) {
    transposeBlocks(to, dims[0].to, from, dims[1].from, dims[0].size, dims[1].size);
  } else {
    for (int64_t i = 0; i < dims[0].size; ++i)
      copyDims(to + i * dims[0].to, from + i * dims[0].from, dims + 1, rank - 1);
  }
}
} // namespace

void Strided::add(int64_t size, int64_t stride) {
  if (size == 1) return;
  if (rank && strides[rank - 1] == stride * size) {
    sizes[rank - 1] *= size;
    strides[rank - 1] = stride;
    return;
  }
  sizes[rank] = size;
  strides[rank++] = stride;
}

Shape rowMajor(const Shape &shape) {
  Shape strides = shape;
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

Strided broadcastStrides(const Shape &shape, const Shape &result) {
  Strided view;
  Shape own = rowMajor(shape);
  int missing = result.rank() - shape.rank();
  for (int d = 0; d < result.rank(); ++d) {
    bool repeats = d < missing || shape[d - missing] == 1;
    view.add(result[d], repeats ? 0 : own[d - missing]);
  }
  return view;
}

void fill(void *to, const void *element, int64_t bytes, int64_t count) {
  withElement(bytes, [&](auto kind) {
    using T = decltype(kind);
    T value;
    std::memcpy(&value, element, sizeof value);
    fillTyped(static_cast<T *>(to), value, count);
  });
}

void copyStrided(void *to, const void *from, int64_t bytes, const Strided &view, int64_t start, int64_t count) {
  withElement(bytes, [&](auto kind) {
    using T = decltype(kind);
    T *target = static_cast<T *>(to);
    const T *source = static_cast<const T *>(from);
    if (view.rank == 0) return fillTyped(target, *source, count);
    int64_t index[Shape::kMaxRank], offset = 0, last = view.rank - 1;
    for (int d = int(last); d >= 0; --d) {
      index[d] = start % view.sizes[d];
      start /= view.sizes[d];
      offset += index[d] * view.strides[d];
    }
    while (count > 0) {
      int64_t run = std::min(view.sizes[last] - index[last], count);
      copyRow(target, 1, source + offset, view.strides[last], run);
      target += run;
      count -= run;
      offset += run * view.strides[last];
      index[last] += run;
      for (int64_t d = last; d > 0 && index[d] == view.sizes[d]; --d) {
        offset += view.strides[d - 1] - index[d] * view.strides[d];
        index[d] = 0;
        ++index[d - 1];
      }
    }
  });
}

void copyBetween(void *to, const Shape &toStrides, const void *from, const Shape &fromStrides, const Shape &sizes,
                 int64_t bytes) {
  Dim dims[Shape::kMaxRank];
  int rank = 0;
  for (int d = 0; d < sizes.rank(); ++d) {
    if (sizes[d] == 0) return;
    if (sizes[d] == 1) continue;
    if (rank && dims[rank - 1].to == toStrides[d] * sizes[d] && dims[rank - 1].from == fromStrides[d] * sizes[d])
      dims[rank - 1] = {dims[rank - 1].size * sizes[d], toStrides[d], fromStrides[d]};
    else
      dims[rank++] = {sizes[d], toStrides[d], fromStrides[d]};
  }
  // Where the source runs along an outer dimension, that comes next to the innermost one.
  for (int d = 0; d + 2 < rank; ++d)
    if (dims[d].from == 1 && dims[rank - 1].from != 1 && dims[rank - 1].to == 1) {
      std::rotate(dims + d, dims + d + 1, dims + rank - 1);
      break;
    }
  withElement(bytes, [&](auto kind) {
    using T = decltype(kind);
    copyDims(static_cast<T *>(to), static_cast<const T *>(from), dims, rank);
  });
}

} // namespace sprig::frontend::generic
