// Arithmetic of floats: rounding modes, conversions, approximations. Each kernel has a table of operations, a row an element.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void floats(const float *x, const float *y, const float *z, unsigned *out) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float a = x[i], b = y[i], c = z[i];
  float r[] = {__fadd_rn(a, b), __fadd_rz(a, b), __fadd_rd(a, b), __fadd_ru(a, b), __fmul_rn(a, b), __fmul_rz(a, b), __fmul_rd(a, b), __fmul_ru(a, b),
               __fmaf_rn(a, b, c), __fmaf_rz(a, b, c), __fmaf_rd(a, b, c), __fmaf_ru(a, b, c), __fdiv_rn(a, b), __fdiv_rz(a, b), __fdiv_rd(a, b), __fdiv_ru(a, b),
               __fsqrt_rn(a), __fsqrt_rz(a), __frcp_rn(a), __frcp_ru(a), fminf(a, b), fmaxf(a, b), fabsf(a), -a, __saturatef(a), floorf(a), ceilf(a), truncf(a),
               rintf(a), copysignf(a, b), a < b ? c : a, __int_as_float(__float2int_rn(a))};
  for (int k = 0; k < 32; ++k) out[i * 32 + k] = __float_as_uint(r[k]);
}
extern "C" __global__ void flushed(const float *x, const float *y, unsigned *out) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float a = x[i], b = y[i], r[4];
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(r[0]) : "f"(a), "f"(b));
  asm("mul.ftz.f32 %0, %1, %2;" : "=f"(r[1]) : "f"(a), "f"(b));
  asm("fma.rn.ftz.sat.f32 %0, %1, %2, %1;" : "=f"(r[2]) : "f"(a), "f"(b));
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r[3]) : "f"(a), "f"(b));
  for (int k = 0; k < 4; ++k) out[i * 4 + k] = __float_as_uint(r[k]);
}
extern "C" __global__ void approximate(const float *x, float *out) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float a = x[i], t;
  asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(a));
  float e, l, r, q;
  asm("ex2.approx.f32 %0, %1;" : "=f"(e) : "f"(a));
  asm("lg2.approx.f32 %0, %1;" : "=f"(l) : "f"(a));
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(a));
  asm("sqrt.approx.f32 %0, %1;" : "=f"(q) : "f"(a));
  float v[] = {e, l, __sinf(a), __cosf(a), t, r, q, __fdividef(1.0f, a)};
  for (int k = 0; k < 8; ++k) out[i * 8 + k] = v[k];
}
extern "C" __global__ void conversions(const double *x, unsigned long long *out) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  double d = x[i];
  float f = (float)d;
  unsigned tf;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tf) : "f"(f));
  unsigned long long r[] = {__float_as_uint(__double2float_rn(d)), __float_as_uint(__double2float_rz(d)), __float_as_uint(__double2float_rd(d)),
                            __float_as_uint(__double2float_ru(d)), (unsigned)__float2int_rz(f), (unsigned)__float2int_rn(f), (unsigned)__float2int_rd(f),
                            (unsigned)__float2int_ru(f), __float2uint_rz(f), (unsigned long long)__float2ll_rz(f), __float2ull_rn(f), (unsigned)__double2int_rn(d),
                            (unsigned long long)__double2ll_rd(d), __half_as_ushort(__float2half_rn(f)), __half_as_ushort(__float2half_rz(f)),
                            __half_as_ushort(__float2half_ru(f)), __bfloat16_as_ushort(__float2bfloat16_rn(f)), __bfloat16_as_ushort(__float2bfloat16_rz(f)), tf,
                            __half_as_ushort(__double2half(d))};
  for (int k = 0; k < 20; ++k) out[i * 20 + k] = r[k];
}
extern "C" __global__ void integersToFloats(const long long *x, unsigned long long *out) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  long long v = x[i];
  unsigned long long r[] = {__float_as_uint(__int2float_rn((int)v)), __float_as_uint(__int2float_rz((int)v)), __float_as_uint(__uint2float_ru((unsigned)v)),
                            __float_as_uint(__ll2float_rn(v)), __float_as_uint(__ull2float_rd((unsigned long long)v)),
                            (unsigned long long)__double_as_longlong(__ll2double_rz(v)), __half_as_ushort(__int2half_rn((int)v)),
                            (unsigned long long)(long long)(signed char)v, (unsigned short)v};
  for (int k = 0; k < 9; ++k) out[i * 9 + k] = r[k];
}
// Two numbers of 16 bits at once.
extern "C" __global__ void halves(const unsigned *x, const unsigned *y, const unsigned *z, unsigned *out) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  __half2 a = *(const __half2 *)(x + i), b = *(const __half2 *)(y + i), c = *(const __half2 *)(z + i);
  __half2 r[] = {__hadd2(a, b), __hsub2(a, b), __hmul2(a, b), __hfma2(a, b, c), __hneg2(a), __habs2(a), __hmin2(a, b), __hmax2(a, b)};
  for (int k = 0; k < 8; ++k) out[i * 10 + k] = *(unsigned *)&r[k];
  __nv_bfloat162 p = *(const __nv_bfloat162 *)(x + i), q = *(const __nv_bfloat162 *)(y + i), s = *(const __nv_bfloat162 *)(z + i);
  __nv_bfloat162 t[] = {__hfma2(p, q, s), __hmax2(p, q)};
  for (int k = 0; k < 2; ++k) out[i * 10 + 8 + k] = *(unsigned *)&t[k];
}
