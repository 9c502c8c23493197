// The interpreter's matrix product: c += a * b over row-major blocks, each element one chain in ascending k.
// For contractions and convolutions. No fused multiply-adds and no reordering, so that every machine gives one result.
#pragma once
#include <cstdint>

namespace sprig::interp {

/// c[m][n] += a[m][k] * b[k][n]; `lda`, `ldb`, `ldc` are the distances of rows. Integers wrap.
void multiplyAdd(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb, double *c,
                 int64_t ldc);
void multiplyAdd(int64_t m, int64_t n, int64_t k, const int64_t *a, int64_t lda, const int64_t *b, int64_t ldb,
                 int64_t *c, int64_t ldc);

} // namespace sprig::interp
