// Kernels whose cubin (kernels.cubin) the stand-in's tests read: parameters of several sizes, static and dynamic shared memory, a
// bound on threads, variables of the module. Made with CUDA 13.0: nvcc -arch=sm_80 -cubin kernels.cu -o kernels.cubin
struct Pair { int a; double b; };
extern "C" __global__ void __launch_bounds__(256) axpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void shuffle(int *out, Pair p, char c, long long n) {
  __shared__ int fixed[100];
  extern __shared__ int dynamic[];
  fixed[threadIdx.x % 100] = p.a + c; dynamic[threadIdx.x] = (int)p.b;
  __syncthreads();
  if (threadIdx.x < n) out[threadIdx.x] = fixed[(threadIdx.x + 1) % 100] + dynamic[threadIdx.x];
}
__device__ int counter = 7;
__constant__ float table[4] = {1, 2, 3, 4};
extern "C" __global__ void count() { atomicAdd(&counter, (int)table[threadIdx.x & 3]); }
