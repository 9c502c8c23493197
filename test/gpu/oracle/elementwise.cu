// Elementwise kernels without barriers: control flow, local arrays, a call that stays one, a switch.
extern "C" __global__ void add(const float *x, const float *y, float *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
extern "C" __global__ void add4(const float4 *x, const float4 *y, float4 *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 a = x[i], b = y[i];
  z[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ __noinline__ unsigned collatz(unsigned n) {
  unsigned steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  return steps;
}
extern "C" __global__ void collatzSteps(const unsigned *x, unsigned *z, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] = collatz(x[i]);
}
// The digits of a number in base b, the most significant first: an array whose index is not known.
extern "C" __global__ void reverseDigits(const unsigned *x, unsigned *z, unsigned b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned digits[32];
  int count = 0;
  for (unsigned v = x[i]; v; v /= b) digits[count++] = v % b;
  unsigned r = 0;
  for (int k = 0; k < count; ++k) r = r * b + digits[k];
  z[i] = r;
}
extern "C" __global__ void choose(const int *op, const int *x, const int *y, int *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = x[i], b = y[i], r;
  switch (op[i]) {
  case 0: r = a + b; break;
  case 1: r = a - b; break;
  case 2: r = a * b; break;
  case 3: r = b ? a / b : -1; break;
  case 4: r = b ? a % b : -1; break;
  case 5: r = __mulhi(a, b); break;
  case 6: r = a >> (b & 31); break;
  case 7: r = __popc(a) + __clz(b); break;
  case 8: r = __brev(a); break;
  case 9: r = __funnelshift_l(a, b, 7); break;
  case 10: r = __byte_perm(a, b, 0x3715); break;
  case 11: r = __dp4a(a, b, a); break;
  case 12: r = (a & b) ^ (a | ~b); break;
  case 13: r = min(a, b); break;
  case 14: r = abs(max(a, b)); break;
  case 15: r = __ffs(a); break;
  default: r = 77;
  }
  z[i] = r;
}
__constant__ float table[4] = {1.5f, -2.0f, 0.25f, 8.0f};
__device__ int counter = 5;
extern "C" __global__ void variables(const int *x, float *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = table[x[i] & 3] * counter;
  if (i == 0) counter = 6;
}
