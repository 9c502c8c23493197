// How null devices behave; docs/runtime.md tells what for.
#ifndef SPRIG_RUNTIME_DEVICE_NULL_NULLOPTIONS_H
#define SPRIG_RUNTIME_DEVICE_NULL_NULLOPTIONS_H

#include "runtime/base/Status.h"
#include "sprig/rt/units.hpp"

#include <cstdint>
#include <optional>

namespace sprig::rt::core {

struct NullOptions {
  // Off: no code, no memory, no data, only time.
  bool computes = true;
  // Of the order of what neither lanes nor events order. 0: what is waited for, later lanes first, each command as late
  // as it is needed. 1: the same, earlier lanes first. Others: at random, commands in pieces between each other.
  uint64_t seed = 0;
  // What a copy between two memories takes on the devices' clock; none: as long as within one.
  std::optional<LinkRates> link = {};
};

// What SPRIG_NULL_MODE (reference or time), SPRIG_NULL_SEED and SPRIG_NULL_LINK (5us,32GB/s) say; fails on other words.
Status nullOptionsOfEnvironment(NullOptions &options);

} // namespace sprig::rt::core

#endif
