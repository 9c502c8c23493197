// Sums, extrema and products of matrices in f32 and f64, written by hand in the order that docs/numerics.md gives: one
// implementation (VectorKernels.inc), built for each instruction set.
// For the reductions and matrix products. Nothing here allocates or throws.
#pragma once
#include "dialects/NN/SumOrder.h"

namespace sprig::frontend::generic {

/// In the order of the dialect's reduce_kind.
enum class Reduction { sum, prod, max, min };

template <typename T> struct Reducer {
  /// partials[i mod 16] takes row[i] in.
  void (*row)(T *partials, const T *row, int64_t count);
  /// sums[i] takes row[i] in.
  void (*columns)(T *sums, const T *row, int64_t count);
  /// The fixed tree over the partial accumulators.
  T (*tree)(const T *partials);
  T identity;
};

/// The left side of a product, element (i, k) at i * rowStride + k * step, times a panel: kPanelWidth columns for each
/// k.
template <typename T> struct PanelProduct {
  const T *left;
  int64_t rowStride, step;
  const T *panel;
  T *result; // element (i, j) at i * resultStride + j
  int64_t resultStride;
  int64_t rows, depth;
  int64_t columns; // at most kPanelWidth; the panel's others are there, but count nothing
  bool adds;       // to what the result holds
};

template <typename T> struct TypedKernels {
  Reducer<T> reducers[4];
  void (*multiply)(const PanelProduct<T> &product);
};

struct VectorKernels {
  TypedKernels<float> f32;
  TypedKernels<double> f64;
  template <typename T> const TypedKernels<T> &of() const {
    if constexpr (sizeof(T) == 4)
      return f32;
    else
      return f64;
  }
};

extern const VectorKernels kVectorKernelsV2, kVectorKernelsV3, kVectorKernelsV4;

/// Those of isaLevel().
const VectorKernels &vectorKernels();

} // namespace sprig::frontend::generic
