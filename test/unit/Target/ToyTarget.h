// A target of tests: a device that can only count. It shows what a kind of device has to bring, and that the phases ask
// nothing else. For ToyTargetTest.
#pragma once
#include "lib/Target/Target.h"
#include <memory>

namespace sprig {

/// What a kernel's "code" is: how much of what it would do for all of its tiles.
struct ToyCode {
  int64_t operations = 0; // of nn, inside of its dispatches
  int64_t flops = 0;
  int64_t tiles = 0;
};

/// `--target toy`. Its kernels are a contraction with at most one elementwise operation after it, or a single
/// operation; a tile is a row of the result. Architectures are toy-1 and toy-2.
std::unique_ptr<Target> createToyTarget();

} // namespace sprig
