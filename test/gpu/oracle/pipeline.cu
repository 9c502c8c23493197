// Tensor cores and asynchronous copies, as a product of matrices uses them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ unsigned sharedAddress(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to)), "l"(from) : "memory");
}

// C (64 x 64) = A (64 x k) B (k x 64) in f16, f32 sums; 128 threads; k in tiles of 16, three stages in flight, rows swizzled so that
// ldmatrix meets no bank twice.
constexpr int stages = 3;
extern "C" __global__ void __launch_bounds__(128) product(const __half *a, const __half *b, float *c, int k) {
  __shared__ __align__(128) __half as[stages][64 * 16], bs[stages][16 * 64];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tiles = k / 16;
  auto aAt = [](int row, int part) { return row * 16 + (part ^ (row >> 2 & 1)) * 8; };
  auto bAt = [](int row, int part) { return row * 64 + (part ^ (row & 7)) * 8; };
  auto load = [&](int tile) {
    if (tile < tiles) {
      int row = threadIdx.x / 2, part = threadIdx.x % 2;
      copy16(&as[tile % stages][aAt(row, part)], a + row * k + tile * 16 + part * 8);
      row = threadIdx.x / 8, part = threadIdx.x % 8;
      copy16(&bs[tile % stages][bAt(row, part)], b + (tile * 16 + row) * 64 + part * 8);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float d[8][4] = {};
  for (int s = 0; s < stages - 1; ++s) load(s);
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
    __syncthreads();
    load(tile + stages - 1);
    unsigned x[4];
    const __half *from = &as[tile % stages][aAt(warp * 16 + lane % 16, lane / 16)];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(sharedAddress(from)));
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      unsigned y[2];
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(y[0]), "=r"(y[1])
                   : "r"(sharedAddress(&bs[tile % stages][bAt(lane % 16, n)])));
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
  }
  int row = warp * 16 + lane / 4, column = lane % 4 * 2;
  for (int n = 0; n < 8; ++n) {
    *(float2 *)(c + row * 64 + n * 8 + column) = make_float2(d[n][0], d[n][1]);
    *(float2 *)(c + (row + 8) * 64 + n * 8 + column) = make_float2(d[n][2], d[n][3]);
  }
}

// One product of a warp of each kind, operands as the registers of the lanes.
#define MMA(name, shape, A, B, C, K)                                                                                                     \
  extern "C" __global__ void name(const unsigned *a, const unsigned *b, const unsigned *c, unsigned *d) {                               \
    int lane = threadIdx.x;                                                                                                              \
    unsigned x[4] = {}, y[2] = {}, z[4] = {}, r[4];                                                                                      \
    for (int i = 0; i < A; ++i) x[i] = a[lane * A + i];                                                                                  \
    for (int i = 0; i < B; ++i) y[i] = b[lane * B + i];                                                                                  \
    for (int i = 0; i < C; ++i) z[i] = c[lane * C + i];                                                                                  \
    K(shape)                                                                                                                             \
    for (int i = 0; i < C; ++i) d[lane * C + i] = r[i];                                                                                  \
  }
#define K424F(shape)                                                                                                                     \
  float f[4];                                                                                                                            \
  asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                          \
               : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3])                                                                          \
               : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "f"(__uint_as_float(z[0])),                           \
                 "f"(__uint_as_float(z[1])), "f"(__uint_as_float(z[2])), "f"(__uint_as_float(z[3])));                                    \
  for (int i = 0; i < 4; ++i) r[i] = __float_as_uint(f[i]);
#define K424I(shape)                                                                                                                     \
  asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                          \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                                                                          \
               : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(z[0]), "r"(z[1]), "r"(z[2]), "r"(z[3]));
#define K422(shape)                                                                                                                      \
  asm volatile("mma.sync.aligned." shape " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"                                              \
               : "=r"(r[0]), "=r"(r[1])                                                                                                  \
               : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(z[0]), "r"(z[1]));
MMA(mmaTf32, "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, K424F)
MMA(mmaF16, "m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, K424F)
MMA(mmaBF16, "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, K424F)
MMA(mmaF16Half, "m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, K422)
MMA(mmaS8, "m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, K424I)
MMA(mmaU8S8Saturated, "m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 2, 4, K424I)

// A matrix of 8 x 8 numbers through ldmatrix, plain and transposed.
extern "C" __global__ void loadMatrices(const unsigned short *x, unsigned *plain, unsigned *transposed) {
  __shared__ __align__(16) unsigned short tile[4][64];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i / 64][i % 64] = x[i];
  __syncwarp();
  unsigned r[4], at = sharedAddress(&tile[threadIdx.x / 8][threadIdx.x % 8 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
  for (int i = 0; i < 4; ++i) plain[i * 32 + threadIdx.x] = r[i];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
  for (int i = 0; i < 4; ++i) transposed[i * 32 + threadIdx.x] = r[i];
}

// Copies of which part is zeros, and a wait for all.
extern "C" __global__ void copyPadded(const int *x, int *y, int n) {
  __shared__ __align__(16) int tile[128];
  int first = threadIdx.x * 4, left = n - first;
  int bytes = left <= 0 ? 0 : left >= 4 ? 16 : left * 4;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(&tile[first])), "l"(bytes ? x + first : x), "r"(bytes) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int i = threadIdx.x; i < 128; i += 32) y[i] = tile[127 - i];
}
