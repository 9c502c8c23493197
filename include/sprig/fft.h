// Discrete Fourier transforms, as torch.fft has them, and what complex numbers need for them.
// For programs. There is no complex element type: a complex tensor is a pair of its parts. Transforms are products with
// small matrices (Cooley-Tukey; lengths with a prime factor above 64 by Bluestein's chirps), so they compile, fuse and
// have gradients as products do. f32 and f64; integers become f32, half types are an error (usage).
#pragma once
#include "sprig/tensor.h"

namespace sprig {

/// Two tensors of one type.
struct Complex {
  Tensor re, im;
};
SPRIG_API Complex add(const Complex &a, const Complex &b, Source at = Source::here());
SPRIG_API Complex sub(const Complex &a, const Complex &b, Source at = Source::here());
SPRIG_API Complex mul(const Complex &a, const Complex &b, Source at = Source::here());
SPRIG_API Complex conj(const Complex &x, Source at = Source::here());
SPRIG_API Tensor abs(const Complex &x, Source at = Source::here());   ///< its gradient at 0 is 0
SPRIG_API Tensor angle(const Complex &x, Source at = Source::here()); ///< atan2(im, re)

/// Which direction divides by the length: the way back, the way there, or both by its root.
enum class FftNorm { backward, forward, ortho };
struct FftOptions {
  int64_t n = 0; ///< the length: the axis is cut, or padded with zeros at its end; 0: the axis's own
  int axis = -1;
  FftNorm norm = FftNorm::backward;
};
/// sum_j x_j exp(-2 pi i j k / n).
SPRIG_API Complex fft(const Operand &x, const FftOptions &options = {});
SPRIG_API Complex fft(const Complex &x, const FftOptions &options = {}, Source at = Source::here());
/// The way back: sum_k x_k exp(2 pi i j k / n) / n.
SPRIG_API Complex ifft(const Complex &x, const FftOptions &options = {}, Source at = Source::here());
/// Of real numbers: the first n / 2 + 1 elements, which say it all.
SPRIG_API Complex rfft(const Operand &x, const FftOptions &options = {});
/// The way back, to n real numbers; n is 2 (elements - 1) unless it is given, as it must be where it is odd. Imaginary
/// parts that are 0 in every such spectrum (of element 0, and of element n / 2) are taken as 0.
SPRIG_API Tensor irfft(const Complex &x, const FftOptions &options = {}, Source at = Source::here());
// The same over the last two axes.
SPRIG_API Complex fft2(const Operand &x, FftNorm norm = FftNorm::backward);
SPRIG_API Complex fft2(const Complex &x, FftNorm norm = FftNorm::backward, Source at = Source::here());
SPRIG_API Complex ifft2(const Complex &x, FftNorm norm = FftNorm::backward, Source at = Source::here());
SPRIG_API Complex rfft2(const Operand &x, FftNorm norm = FftNorm::backward);
/// `columns`: of the last axis; 0 for 2 (elements - 1).
SPRIG_API Tensor irfft2(const Complex &x, int64_t columns = 0, FftNorm norm = FftNorm::backward,
                        Source at = Source::here());
/// Moves element 0 of axes to the middle, and back.
SPRIG_API Tensor fftshift(const Operand &x, const Ints &axes = {});
SPRIG_API Tensor ifftshift(const Operand &x, const Ints &axes = {});
/// The frequency of each element: 0, 1, ..., -1, each over n d.
SPRIG_API Tensor fftfreq(int64_t n, double d = 1, DType type = DType::f32, Source at = Source::here());
SPRIG_API Tensor rfftfreq(int64_t n, double d = 1, DType type = DType::f32, Source at = Source::here());

} // namespace sprig
