/* Kernels for the runtime's tests, in a section of their own: the tests copy its bytes into packages' images. Each must
 * be self-contained: no calls, no constants in memory (the build turns off what would make the compiler add some). */
#include "sprig/rt/kernel.h"

#define KERNEL __attribute__((section("test_kernels"), noinline, used)) int32_t

/* out[t] = a[t] + b[t] */
KERNEL test_add(const sprig_rt_args *args) {
  const uint32_t *a = args->buffers[0], *b = args->buffers[1];
  uint32_t *out = args->buffers[2];
  for (int64_t t = args->tile_begin; t < args->tile_end; ++t)
    out[t] = a[t] + b[t];
  return SPRIG_RT_KERNEL_OK;
}

/* out[t] = 31 a[t] + b[t] + 7: order matters in chains of it */
KERNEL test_mix(const sprig_rt_args *args) {
  const uint32_t *a = args->buffers[0], *b = args->buffers[1];
  uint32_t *out = args->buffers[2];
  for (int64_t t = args->tile_begin; t < args->tile_end; ++t)
    out[t] = 31 * a[t] + b[t] + 7;
  return SPRIG_RT_KERNEL_OK;
}

/* counts[t] += 1: each tile must be visited once */
KERNEL test_count(const sprig_rt_args *args) {
  uint32_t *counts = args->buffers[0];
  for (int64_t t = args->tile_begin; t < args->tile_end; ++t)
    counts[t] += 1;
  return SPRIG_RT_KERNEL_OK;
}

/* Waits cycles[0] of the time stamp counter in every tile, then out[t] = t + 1. */
KERNEL test_slow(const sprig_rt_args *args) {
  const uint64_t *cycles = args->buffers[0];
  uint32_t *out = args->buffers[1];
  for (int64_t t = args->tile_begin; t < args->tile_end; ++t) {
    uint64_t start = __builtin_ia32_rdtsc();
    while (__builtin_ia32_rdtsc() - start < cycles[0])
      __builtin_ia32_pause();
    out[t] = (uint32_t)t + 1;
  }
  return SPRIG_RT_KERNEL_OK;
}

/* out[t] = table[index[t]]; size[0] is the table's length */
KERNEL test_gather(const sprig_rt_args *args) {
  const uint32_t *table = args->buffers[0];
  const int64_t *index = args->buffers[1], *size = args->buffers[2];
  uint32_t *out = args->buffers[3];
  for (int64_t t = args->tile_begin; t < args->tile_end; ++t) {
    if (index[t] < 0 || index[t] >= size[0]) {
      args->status->code = SPRIG_RT_KERNEL_INDEX_OUT_OF_RANGE;
      args->status->op = 1;
      args->status->value = index[t];
      args->status->bound = size[0];
      return SPRIG_RT_KERNEL_INDEX_OUT_OF_RANGE;
    }
    out[t] = table[index[t]];
  }
  return SPRIG_RT_KERNEL_OK;
}

/* out[t] = a[t] / b[t] */
KERNEL test_divide(const sprig_rt_args *args) {
  const uint32_t *a = args->buffers[0], *b = args->buffers[1];
  uint32_t *out = args->buffers[2];
  for (int64_t t = args->tile_begin; t < args->tile_end; ++t) {
    if (b[t] == 0) {
      args->status->code = SPRIG_RT_KERNEL_DIVISION_BY_ZERO;
      args->status->op = 0;
      return SPRIG_RT_KERNEL_DIVISION_BY_ZERO;
    }
    out[t] = a[t] / b[t];
  }
  return SPRIG_RT_KERNEL_OK;
}

/* out[t] = the control and status register of the thread that runs it */
KERNEL test_mxcsr(const sprig_rt_args *args) {
  uint32_t *out = args->buffers[0];
  for (int64_t t = args->tile_begin; t < args->tile_end; ++t)
    out[t] = __builtin_ia32_stmxcsr();
  return SPRIG_RT_KERNEL_OK;
}

/* out[t] = in[t] by way of 256 bytes of scratch, which another thread's share would disturb */
KERNEL test_scratch(const sprig_rt_args *args) {
  const uint32_t *in = args->buffers[0];
  uint32_t *out = args->buffers[1];
  volatile uint32_t *scratch = args->scratch;
  for (int64_t t = args->tile_begin; t < args->tile_end; ++t) {
    for (int i = 0; i < 64; ++i)
      scratch[i] = in[t];
    uint32_t sum = 0;
    for (int i = 0; i < 64; ++i)
      sum |= scratch[i] ^ in[t];
    out[t] = in[t] + sum;
  }
  return SPRIG_RT_KERNEL_OK;
}

/* out[t] = 31 in[t - 1] + 5 in[t] + in[t + 1], 0 beyond size[0] words: a tile reads those of its neighbours */
KERNEL test_window(const sprig_rt_args *args) {
  const uint32_t *in = args->buffers[0];
  const int64_t *size = args->buffers[1];
  uint32_t *out = args->buffers[2];
  for (int64_t t = args->tile_begin; t < args->tile_end; ++t) {
    uint32_t before = t > 0 ? in[t - 1] : 0, after = t + 1 < size[0] ? in[t + 1] : 0;
    out[t] = 31 * before + 5 * in[t] + after;
  }
  return SPRIG_RT_KERNEL_OK;
}

/* out[0] = tanh(in[0]) by an import slot; the slot is data behind the code. */
__asm__(".pushsection test_import_kernel,\"ax\",@progbits\n"
        ".globl test_import, test_import_end, test_import_slot\n"
        "test_import:\n"
        "  pushq %rbx\n"
        "  movq (%rdi), %rbx\n"
        "  movq (%rbx), %rax\n"
        "  movsd (%rax), %xmm0\n"
        "  callq *test_import_slot(%rip)\n"
        "  movq 8(%rbx), %rax\n"
        "  movsd %xmm0, (%rax)\n"
        "  xorl %eax, %eax\n"
        "  popq %rbx\n"
        "  retq\n"
        ".balign 8\n"
        "test_import_slot:\n"
        "  .quad 0\n"
        "test_import_end:\n"
        ".popsection\n");
