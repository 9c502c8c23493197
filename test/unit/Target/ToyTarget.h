// A target of tests: a device that can only count. It shows what a kind of device has to bring, to the compiler and to
// the runtime, and that neither asks anything else. For ToyTargetTest.
#pragma once
#include "lib/Target/Target.h"
#include "runtime/device/HostCode.h"
#include <atomic>
#include <memory>

namespace sprig {

/// What a kernel's "code" is: how much of what it would do for all of its tiles. Its result is everywhere the largest
/// of its operands' first elements, and one more for each operation: the longest way that led to it.
struct ToyCode {
  int64_t operations = 0; // of nn, inside of its dispatches
  int64_t flops = 0;
  int64_t tiles = 0;  // rows of the result
  int64_t inputs = 0; // operands before the result
  int64_t width = 0;  // elements of a row
};

/// `--target toy`. Its kernels are a contraction with at most one elementwise operation after it, or a single
/// operation, on f32; a tile is a row of the result. Architectures are toy-1 and toy-2.
std::unique_ptr<Target> createToyTarget();

/// What toy kernels have done in this process.
struct ToyCounts {
  std::atomic<int64_t> operations = 0, flops = 0, tiles = 0;
};
ToyCounts &toyCounts();

/// The runtime's side: images of toys, of which the newest is taken.
std::unique_ptr<rt::core::HostCodeKind> createToyCodeKind();

} // namespace sprig
