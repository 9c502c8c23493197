// Small linear algebra: systems of equations, inverses, determinants, Cholesky factors, with gradients.
// For programs. Matrices are the last two axes, all others are a batch. Elimination goes column by column within one
// program (nn.scan), n steps for n columns: meant for matrices of up to a few hundred rows. Half types are computed in
// f32. A matrix that is singular (or not positive definite) is an error when it runs.
#pragma once
#include "sprig/tensor.h"

namespace sprig {

/// x of a x = b, by Gauss and Jordan with partial pivoting: a [..., n, n]; b [..., n, k], or vectors [..., n] where it
/// has one axis less than a and its other sizes. Leading axes broadcast.
SPRIG_API Tensor solve(const Operand &a, const Operand &b);
/// [..., n, n].
SPRIG_API Tensor inverse(const Operand &a);
/// [..., n, n] to [...]; 0 of a singular matrix, whose gradient is an error when it runs.
SPRIG_API Tensor det(const Operand &a);
struct SignLogDet {
  Tensor sign;      ///< -1, 0 or 1
  Tensor logAbsDet; ///< -infinity where the sign is 0
};
SPRIG_API SignLogDet slogdet(const Operand &a);
/// The lower triangular L of a = L L^T, a symmetric and positive definite; only its lower triangle is read.
SPRIG_API Tensor cholesky(const Operand &a);
/// x of L L^T x = b, b [..., n, k], given L.
SPRIG_API Tensor choleskySolve(const Operand &b, const Operand &l);

} // namespace sprig
