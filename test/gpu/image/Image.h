// The contract between an emulation image (a shared object that `sprig-ptx-image` makes from a PTX file), the emulator
// that runs its kernels and the stand-in driver that loads it. Plain C: an image is code and tables, nothing in it is
// ever written, so that one image serves any number of devices, modules and launches.
#ifndef SPRIG_GPU_IMAGE_H
#define SPRIG_GPU_IMAGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Counts up with every change of this header or of Hooks.def: the emulator refuses an image of another version.
#define SPRIG_GPU_IMAGE_VERSION 4

struct SprigGpuHooks;

// What a kernel's code sees of the GPU thread that it is. The emulator's own threads begin with it.
typedef struct SprigGpuThread {
  uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
  uint32_t laneid, warpid, nwarpid, gridid;
  uint8_t *shared;           // the block's shared memory: static variables, then dynamic ones
  uint8_t *local;            // this thread's local variables
  uint8_t *variables;        // the module's global and constant variables
  const uint8_t *parameters; // of the launch, at the kernel's offsets
  const struct SprigGpuHooks *hooks;
  uint32_t dynamicSharedBytes, totalSharedBytes;
} SprigGpuThread;

typedef void SprigGpuCode(SprigGpuThread *self);

typedef struct SprigGpuParameter {
  uint32_t offset, size;
} SprigGpuParameter;

typedef struct SprigGpuKernel {
  const char *name;
  const SprigGpuParameter *parameters;
  uint32_t parameterCount, parameterBytes;
  uint32_t staticSharedBytes, localBytes;
  uint32_t requiredThreads[3]; // .reqntid, or zeros
  uint32_t maxThreads[3];      // .maxntid, or zeros; it bounds the product alone
  uint32_t minBlocks;          // .minnctapersm, or 0
  uint32_t cooperates;   // 1: threads of a block meet (barriers, warp operations), so each needs a stack of its own
  uint32_t orders;       // 1: it has fences, strong accesses or atomic operations, by which others may be ordered
  SprigGpuCode *plain;   // accesses memory directly; null in an image that has the other version alone
  SprigGpuCode *checked; // tells the hook `access` of every access first
} SprigGpuKernel;

enum SprigGpuSpace { SPRIG_GPU_GENERIC, SPRIG_GPU_GLOBAL, SPRIG_GPU_SHARED, SPRIG_GPU_LOCAL, SPRIG_GPU_CONST };

// A global or constant variable: where it lies in a module's block of variables.
typedef struct SprigGpuVariable {
  const char *name;
  uint32_t space; // SPRIG_GPU_GLOBAL or SPRIG_GPU_CONST
  uint32_t alignment;
  uint64_t offset, size;
} SprigGpuVariable;

typedef struct SprigGpuImage {
  uint32_t version;   // SPRIG_GPU_IMAGE_VERSION
  const char *target; // as .target names it: sm_80
  const char *ptxVersion;
  const SprigGpuKernel *kernels;
  uint32_t kernelCount, variableCount;
  const SprigGpuVariable *variables;
  // A module's variables are one block of memory, aligned to 256 bytes, that the loader allocates and fills with these
  // bytes; then it adds the block's address to the 64-bit words at `pointers` (variables that hold addresses of
  // variables).
  uint64_t variableBytes;
  const uint8_t *initialBytes;
  const uint64_t *pointers;
  uint64_t pointerCount;
} SprigGpuImage;

// The one symbol of an image.
#define SPRIG_GPU_IMAGE_SYMBOL "sprigGpuImage"
typedef const SprigGpuImage *SprigGpuImageFunction(void);

// Flags of the hook `access`.
enum {
  SPRIG_GPU_SPACE_MASK = 7, // an SprigGpuSpace
  SPRIG_GPU_WRITE = 8,
  SPRIG_GPU_STRONG = 16 // .volatile, .relaxed and stronger: no race with atomic operations and other strong accesses
};

// What a kernel asks the emulator for. Addresses in shared memory are offsets there, others are the host's.
typedef struct SprigGpuHooks {
#define SPRIG_GPU_HOOK(result, name, ...) result (*name)(__VA_ARGS__);
#include "Hooks.def"
#undef SPRIG_GPU_HOOK
} SprigGpuHooks;

#ifdef __cplusplus
}
#endif
#endif
