// Elimination in batches of matrices, recorded as one scan over columns. Without gradients of its own.
// For lib/Frontend/Ops/LinearAlgebra.cpp, which knows their gradients as formulas.
#pragma once
#include "lib/Frontend/Ops/Emitter.h"

namespace sprig::frontend {

struct Elimination {
  Tensor matrix; ///< [B, n, n + k] with the unit matrix in front
  Tensor pivots; ///< [n, B]
  Tensor swaps;  ///< [n, B], i1: whether the column's row was exchanged for another
};
/// Gauss and Jordan with partial pivoting of [B, n, n + k], f32 or f64, n at least 1. `refusesSingular`: a pivot below
/// the smallest normal number is an error when it runs; else its column is left.
Elimination eliminate(const Emitter &r, const Tensor &matrix, bool refusesSingular);

/// L of [B, n, n]; a pivot that is not positive is an error when it runs.
Tensor choleskyFactor(const Emitter &r, const Tensor &matrix);

} // namespace sprig::frontend
