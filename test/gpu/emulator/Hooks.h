// The emulator's side of Hooks.def: one function a row, and the table that threads carry.
#ifndef SPRIG_TEST_GPU_EMULATOR_HOOKS_H
#define SPRIG_TEST_GPU_EMULATOR_HOOKS_H

#include "test/gpu/image/Codes.h"
#include "test/gpu/image/Image.h"

namespace sprig::gpu {

namespace hooks_impl {
#define SPRIG_GPU_HOOK(result, name, ...) result name(__VA_ARGS__);
#include "test/gpu/image/Hooks.def"
#undef SPRIG_GPU_HOOK
} // namespace hooks_impl

extern const SprigGpuHooks hookTable;

// A number of 16 bits, or of tf32, as a double.
double widened(uint32_t bits, NarrowFormat format);

} // namespace sprig::gpu
#endif
