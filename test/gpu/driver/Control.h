// What tests in the stand-in's own process may ask of it beyond CUDA's interface: found by dlsym, like the rest.
#ifndef SPRIG_TEST_GPU_DRIVER_CONTROL_H
#define SPRIG_TEST_GPU_DRIVER_CONTROL_H

#include <cstddef>

extern "C" {
/// Forgets everything and reads the environment anew (Config.h). No other thread may be inside.
__attribute__((visibility("default"))) void sprig_standin_reset();
/// The complaints so far: one line each, in a buffer that lives until the next call.
__attribute__((visibility("default"))) const char *sprig_standin_complaints();
}

#endif
