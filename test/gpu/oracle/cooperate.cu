// Kernels whose threads meet: barriers, warp operations, atomics, fences.

// Sums of rows of shared memory by halves, then of a warp by shuffles.
extern "C" __global__ void blockSum(const float *x, float *sums, int n) {
  __shared__ float partial[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  partial[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half >= 32; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x < 32) {
    sum = partial[threadIdx.x];
    for (int by = 16; by; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  }
}

// The block that ends last adds up what the others have left.
__device__ unsigned arrived = 0;
extern "C" __global__ void sumByLastBlock(const int *x, int *partial, int *total, int n) {
  __shared__ int sum;
  __shared__ bool isLast;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += x[i];
  atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    isLast = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (isLast && threadIdx.x == 0) {
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += partial[b];
    *total = all;
  }
}

// C = A B, row-major n x n; tiles of 16 x 16 in shared memory.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float as[16][16], bs[16][17];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = column < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum = fmaf(as[threadIdx.y][i], bs[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

// Columns of a tile with and without a pad: 32 passes over the banks, or one.
extern "C" __global__ void transpose(const float *x, float *y, int padded) {
  extern __shared__ float tile[];
  int pitch = 32 + padded;
  tile[threadIdx.y * pitch + threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x * pitch + threadIdx.y];
}

extern "C" __global__ void histogram(const unsigned char *x, unsigned *counts, int n) {
  __shared__ unsigned own[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (own[i]) atomicAdd(&counts[i], own[i]);
}

// One answer of each warp operation a lane: 16 numbers.
extern "C" __global__ void warpOperations(const int *x, int *y) {
  int lane = threadIdx.x, v = x[lane];
  unsigned all = 0xffffffffu;
  int *out = y + lane * 16;
  out[0] = __shfl_sync(all, v, 5);
  out[1] = __shfl_up_sync(all, v, 3);
  out[2] = __shfl_down_sync(all, v, 7);
  out[3] = __shfl_xor_sync(all, v, 9);
  out[4] = __shfl_sync(all, v, lane + 1, 8);
  out[5] = __shfl_up_sync(all, v, 2, 8);
  out[6] = __shfl_down_sync(all, v, 2, 16);
  out[7] = __shfl_xor_sync(all, v, 5, 8);
  out[8] = __all_sync(all, v > -1000);
  out[9] = __any_sync(all, v == 3);
  out[10] = __ballot_sync(all, v & 1);
  out[11] = __match_any_sync(all, v & 3);
  int pred;
  out[12] = __match_all_sync(all, v >> 20, &pred) + pred;
  out[13] = __reduce_add_sync(all, v);
  out[14] = __reduce_min_sync(all, v);
  if (lane < 16) out[15] = __reduce_xor_sync(0xffffu, (unsigned)v);
  else out[15] = __shfl_xor_sync(0xffff0000u, v, 1);
}

// Halves of a warp hand values over through shared memory, ordered by __syncwarp alone.
extern "C" __global__ void warpExchange(const int *x, int *y) {
  __shared__ int slot[64];
  slot[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  int other = slot[threadIdx.x ^ 1];
  __syncwarp();
  slot[threadIdx.x] = other + 1;
  __syncwarp();
  y[threadIdx.x] = slot[threadIdx.x ^ 31];
}

// Warp 0 produces, warp 1 consumes: named barriers with .arrive.
extern "C" __global__ void produceConsume(const int *x, int *y, int rounds) {
  __shared__ int slot[32];
  int lane = threadIdx.x & 31;
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; ++r) {
      asm volatile("bar.sync 2, 64;" ::: "memory");
      slot[lane] = x[r * 32 + lane];
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
  } else {
    asm volatile("bar.arrive 2, 64;" ::: "memory");
    for (int r = 0; r < rounds; ++r) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      y[r * 32 + lane] = slot[31 - lane];
      if (r + 1 < rounds) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}

extern "C" __global__ void blockVotes(const int *x, int *y) {
  int v = x[threadIdx.x];
  int count = __syncthreads_count(v > 3), all = __syncthreads_and(v > -100), any = __syncthreads_or(v == 1000);
  y[threadIdx.x] = count * 4 + (all ? 2 : 0) + (any ? 1 : 0);
}

// The largest by compare-and-swap, the sum in double precision.
extern "C" __global__ void atomics(const float *x, float *largest, double *sum, unsigned long long *packed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int *bits = (int *)largest, old = *(volatile int *)bits;
  while (__int_as_float(old) < x[i]) {
    int seen = atomicCAS(bits, old, __float_as_int(x[i]));
    if (seen == old) break;
    old = seen;
  }
  atomicAdd(sum, (double)x[i]);
  atomicMax(packed, (unsigned long long)i << 3);
  atomicExch((unsigned *)packed + 2, 7u);
}
