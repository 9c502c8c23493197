// How null devices behave; docs/runtime.md tells what for.
#ifndef SPRIG_RUNTIME_DEVICE_NULL_NULLOPTIONS_H
#define SPRIG_RUNTIME_DEVICE_NULL_NULLOPTIONS_H

#include "runtime/base/Status.h"

#include <cstdint>

namespace sprig::rt::core {

struct NullOptions {
  // Off: no code, no memory, no data, only time.
  bool computes = true;
  // Of the order of what neither lanes nor events order. 0: what is waited for, later lanes first, each command as late
  // as it is needed. 1: the same, earlier lanes first. Others: at random, commands in pieces between each other.
  uint64_t seed = 0;
};

// What SPRIG_NULL_MODE (reference or time) and SPRIG_NULL_SEED say; fails on other words.
Status nullOptionsOfEnvironment(NullOptions &options);

} // namespace sprig::rt::core

#endif
