// What tests in the stand-in's own process may ask of it beyond CUDA's interface: found by dlsym, like the rest.
#ifndef SPRIG_TEST_GPU_DRIVER_CONTROL_H
#define SPRIG_TEST_GPU_DRIVER_CONTROL_H

#include <cstddef>
#include <cstdint>

/// One launch of a kernel that is a function of the test. It computes with the addresses of devices as with its own,
/// and says what it touches.
struct SprigStandInRun {
  const uint32_t *grid, *block;
  uint32_t dynamicShared;
  const unsigned char *parameters; // each aligned to its size
  void *state;
  enum Access { Read, Write, Update };
  void (*touch)(SprigStandInRun *self, uint64_t address, uint64_t bytes, Access access);
};

extern "C" {
/// Forgets everything and reads the environment anew (Config.h). No other thread may be inside.
__attribute__((visibility("default"))) void sprig_standin_reset();
/// The complaints so far: one line each, in a buffer that lives until the next call.
__attribute__((visibility("default"))) const char *sprig_standin_complaints();
/// Counts and complaints as JSON (Report.h), likewise.
__attribute__((visibility("default"))) const char *sprig_standin_report();
/// Puts a function in the place of a kernel: of a cubin, or of PTX, by its bytes. `sizes`: of the parameters.
__attribute__((visibility("default"))) void sprig_standin_kernel(const void *image, size_t bytes, const char *name,
                                                                 const uint32_t *sizes, size_t count,
                                                                 void (*run)(SprigStandInRun *));
/// What a kernel's cudaGraphSetConditional does: the condition's value from now on. Only while a kernel runs.
__attribute__((visibility("default"))) void sprig_standin_set_conditional(uint64_t handle, uint32_t value);
}

#endif
