// Fourier transforms of rows, recorded as products with small matrices.
// For lib/Frontend/Ops/Fft.cpp, which brings axes and lengths into this form.
#pragma once
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/fft.h"

namespace sprig::frontend {

/// sum_j x[r, j] exp(sign 2 pi i j k / n) of rows [R, n], f32 or f64. An imaginary part that is not defined is 0.
Complex transformRows(const Emitter &r, const Complex &x, int sign);

} // namespace sprig::frontend
