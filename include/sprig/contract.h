// Matrix products and convolutions. For programs.
// Each result is one chain of fused multiply-adds in a fixed order (docs/numerics.md).
#pragma once
#include "sprig/shape_ops.h"
#include <string>

namespace sprig {

/// PyTorch's rules: vectors are taken as row (left) or column (right) and lose that axis again; leading axes broadcast.
SPRIG_API Tensor matmul(const Operand &a, const Operand &b);
/// [M, K] x [K, N].
SPRIG_API Tensor mm(const Operand &a, const Operand &b);
/// [B, M, K] x [B, K, N].
SPRIG_API Tensor bmm(const Operand &a, const Operand &b);
/// Matrix [M, K] times vector [K].
SPRIG_API Tensor mv(const Operand &a, const Operand &b);
/// Two vectors to a scalar.
SPRIG_API Tensor dot(const Operand &a, const Operand &b);
/// Two vectors to a matrix.
SPRIG_API Tensor outer(const Operand &a, const Operand &b);
/// beta * c + alpha * (a x b).
SPRIG_API Tensor addmm(const Operand &c, const Operand &a, const Operand &b, double beta = 1, double alpha = 1);

/// Einstein's sums: einsum("bij,bjk->bik", {a, b}). Labels are letters; "..." stands for axes that broadcast; a label
/// twice in a term takes the diagonal; without "->" the result has "..." and then the labels that occur once, in
/// alphabetical order. Products go from the left to the right, each as one matrix product or one product of elements.
/// Element types are promoted. Wrong equations, and sizes of a label that differ, are errors.
SPRIG_API Tensor einsum(const std::string &equation, const Operands &operands);
/// The p-norm of the difference of each row of a [..., P, M] from each row of b [..., R, M]: [..., P, R]; leading axes
/// broadcast, p >= 0 may be infinity, 0 counts what differs. Floats of one type. Gradients are 0 where rows are equal.
SPRIG_API Tensor cdist(const Operand &a, const Operand &b, double p = 2);

/// x [..., K] times the transpose of weight [N, K], plus bias [N]: [..., N]. Without a bias pass {}.
SPRIG_API Tensor linear(const Operand &x, const Operand &weight, const Operand &bias = {});
/// x1 [..., I], weight [O, I, J], x2 [..., J], bias [O]: [..., O].
SPRIG_API Tensor bilinear(const Operand &x1, const Operand &x2, const Operand &weight, const Operand &bias = {});

/// One number for all spatial axes, or one for each.
struct ConvOptions {
  Ints stride = 1;
  Ints padding = 0; ///< zeros at both ends
  Ints dilation = 1;
  int64_t groups = 1;
  bool samePadding = false; ///< as much as keeps the sizes, the odd one at the end (padding='same'); stride 1
};
/// x [N, C, L] (or [C, L]), weight [O, C/groups, window], bias [O] or {}.
SPRIG_API Tensor conv1d(const Operand &x, const Operand &weight, const Operand &bias = {},
                        const ConvOptions &options = {});
/// x [N, C, H, W] (or [C, H, W]), weight [O, C/groups, window...].
SPRIG_API Tensor conv2d(const Operand &x, const Operand &weight, const Operand &bias = {},
                        const ConvOptions &options = {});
/// x [N, C, D, H, W] (or [C, D, H, W]).
SPRIG_API Tensor conv3d(const Operand &x, const Operand &weight, const Operand &bias = {},
                        const ConvOptions &options = {});

struct ConvTransposeOptions {
  Ints stride = 1;
  Ints padding = 0; ///< cut off at both ends of the result
  Ints outputPadding = 0;
  int64_t groups = 1;
  Ints dilation = 1;
};
/// x [N, C, L], weight [C, O/groups, window], bias [O] or {}; the gradient of conv1d with respect to its input.
SPRIG_API Tensor convTranspose1d(const Operand &x, const Operand &weight, const Operand &bias = {},
                                 const ConvTransposeOptions &options = {});
SPRIG_API Tensor convTranspose2d(const Operand &x, const Operand &weight, const Operand &bias = {},
                                 const ConvTransposeOptions &options = {});
SPRIG_API Tensor convTranspose3d(const Operand &x, const Operand &weight, const Operand &bias = {},
                                 const ConvTransposeOptions &options = {});

} // namespace sprig
