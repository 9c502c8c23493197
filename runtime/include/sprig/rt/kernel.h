/* The kernel ABI: how the runtime calls compiled code.
 *
 * For the compiler, which emits functions of this type, and the runtime, which calls them. A kernel works on the tiles
 * [tile_begin, tile_end) of the work that a command describes; tiles are independent, so a command may be cut into any
 * number of calls on any threads. Plain C, no dependencies.
 */
#ifndef SPRIG_RT_KERNEL_H
#define SPRIG_RT_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel found at run time; the values of sprig_rt_kernel_status.code and of a kernel's return. */
enum {
  SPRIG_RT_KERNEL_OK = 0,
  SPRIG_RT_KERNEL_INDEX_OUT_OF_RANGE = 1, /* value: the index, bound: the size it must be below */
  SPRIG_RT_KERNEL_DIVISION_BY_ZERO = 2,
  /* value and bound: the bits of doubles. */
  SPRIG_RT_KERNEL_VALUE_TOO_SMALL = 3, /* below the bound, or NaN */
  SPRIG_RT_KERNEL_VALUE_TOO_LARGE = 4,
};

/* Written by a kernel just before it returns something other than SPRIG_RT_KERNEL_OK. */
typedef struct sprig_rt_kernel_status {
  int32_t code;
  int32_t op;    /* index into the op names of the kernel */
  int64_t value; /* the offending value */
  int64_t bound; /* what it was checked against */
} sprig_rt_kernel_status;

typedef struct sprig_rt_args {
  void *const *buffers; /* one per operand, row-major, 64-byte aligned; the entry's own to their elements */
  int64_t tile_begin;
  int64_t tile_end;
  void *scratch; /* the kernel's scratch bytes for this thread, 64-byte aligned */
  sprig_rt_kernel_status *status;
} sprig_rt_args;

typedef int32_t (*sprig_rt_kernel)(const sprig_rt_args *args);

#ifdef __cplusplus
}
#endif
#endif
