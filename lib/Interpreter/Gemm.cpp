// Register tiles of 4 x 8, compiled twice: for the base instruction set and for AVX2, same bits.
#include "lib/Interpreter/Gemm.h"

#pragma STDC FP_CONTRACT OFF

namespace sprig::interp {
namespace {

constexpr int64_t kRows = 4, kColumns = 8;

// One full tile; the accumulators stay in registers.
template <typename T>
[[gnu::always_inline]] inline void tile(int64_t k, const T *a, int64_t lda, const T *b, int64_t ldb, T *c,
                                        int64_t ldc) {
  T sums[kRows][kColumns];
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j) sums[i][j] = c[i * ldc + j];
  for (int64_t p = 0; p < k; ++p)
    for (int64_t i = 0; i < kRows; ++i)
      for (int64_t j = 0; j < kColumns; ++j) sums[i][j] += a[i * lda + p] * b[p * ldb + j];
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j) c[i * ldc + j] = sums[i][j];
}

template <typename T>
[[gnu::always_inline]] inline void edge(int64_t m, int64_t n, int64_t k, const T *a, int64_t lda, const T *b,
                                        int64_t ldb, T *c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) c[i * ldc + j] += a[i * lda + p] * b[p * ldb + j];
}

// Column strips outermost, so that a strip of b stays in the cache for all rows.
template <typename T>
[[gnu::always_inline]] inline void blocks(int64_t m, int64_t n, int64_t k, const T *a, int64_t lda, const T *b,
                                          int64_t ldb, T *c, int64_t ldc) {
  int64_t fullRows = m / kRows * kRows, fullColumns = n / kColumns * kColumns;
  for (int64_t j = 0; j < fullColumns; j += kColumns) {
    for (int64_t i = 0; i < fullRows; i += kRows) tile(k, a + i * lda, lda, b + j, ldb, c + i * ldc + j, ldc);
    edge(m - fullRows, kColumns, k, a + fullRows * lda, lda, b + j, ldb, c + fullRows * ldc + j, ldc);
  }
  edge(m, n - fullColumns, k, a, lda, b + fullColumns, ldb, c + fullColumns, ldc);
}

template <typename T>
void blocksBase(int64_t m, int64_t n, int64_t k, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc) {
  blocks(m, n, k, a, lda, b, ldb, c, ldc);
}
#if defined(__x86_64__)
template <typename T>
__attribute__((target("avx2"))) void blocksAvx2(int64_t m, int64_t n, int64_t k, const T *a, int64_t lda, const T *b,
                                                int64_t ldb, T *c, int64_t ldc) {
  blocks(m, n, k, a, lda, b, ldb, c, ldc);
}
template <typename T> constexpr auto kPick = &blocksAvx2<T>;
static bool hasAvx2() { return __builtin_cpu_supports("avx2"); }
#else
template <typename T> constexpr auto kPick = &blocksBase<T>;
static bool hasAvx2() { return false; }
#endif

template <typename T>
void run(int64_t m, int64_t n, int64_t k, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc) {
  static const bool wide = hasAvx2();
  (wide ? kPick<T> : &blocksBase<T>)(m, n, k, a, lda, b, ldb, c, ldc);
}

} // namespace

void multiplyAdd(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b, int64_t ldb, double *c,
                 int64_t ldc) {
  run(m, n, k, a, lda, b, ldb, c, ldc);
}

// Unsigned arithmetic has no overflow.
void multiplyAdd(int64_t m, int64_t n, int64_t k, const int64_t *a, int64_t lda, const int64_t *b, int64_t ldb,
                 int64_t *c, int64_t ldc) {
  run(m, n, k, reinterpret_cast<const uint64_t *>(a), lda, reinterpret_cast<const uint64_t *>(b), ldb,
      reinterpret_cast<uint64_t *>(c), ldc);
}

} // namespace sprig::interp
