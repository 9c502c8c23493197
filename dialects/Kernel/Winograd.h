// Winograd's (Toom-Cook's) short convolutions F(m, r): m neighbouring outputs of a window of r taps by m + r - 1
// products. For kernel.conv_winograd: the pass that transforms filters, the interpreter and the emitter must agree on
// the points. The points are 0, pairs of +p and -p, and infinity. Pairs halve the work of the transforms; the values of
// p are those with the least error in f32 (docs/numerics.md). All of them are dyadic, so that every coefficient of the
// input and output transforms is exact in f32.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace sprig::kernel {

/// The short convolution of one spatial dimension. Frequencies are in the order 0, +p, -p, +q, -q, ..., infinity.
class WinogradLine {
public:
  /// Nothing where there are no points for that many frequencies: 1, 4, 6 and 8 have some.
  static std::optional<WinogradLine> get(int64_t outputs, int64_t window);

  int64_t outputs() const { return m; }
  int64_t window() const { return r; }
  int64_t frequencies() const { return m + r - 1; }
  llvm::ArrayRef<double> pairs() const { return points; }
  /// Coefficients, lowest power first, of the product of x^2 - p^2 over the pairs, without pair `except` (-1: none).
  llvm::SmallVector<double> evenPolynomial(int64_t except = -1) const;

  // The matrices, row-major: outputs = output * ((filter * taps) . (input * inputs)).
  std::vector<double> filterMatrix() const; ///< [frequencies][window]
  std::vector<double> inputMatrix() const;  ///< [frequencies][frequencies]
  std::vector<double> outputMatrix() const; ///< [outputs][frequencies]

private:
  WinogradLine(int64_t m, int64_t r, llvm::ArrayRef<double> points) : m(m), r(r), points(points) {}
  int64_t m, r;
  llvm::ArrayRef<double> points; // of static storage
};

} // namespace sprig::kernel
