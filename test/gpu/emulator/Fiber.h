// Stacks that code runs on in turns: one for each GPU thread of a block, switched by a dozen instructions.
#ifndef SPRIG_TEST_GPU_EMULATOR_FIBER_H
#define SPRIG_TEST_GPU_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>

namespace sprig::gpu {

// Memory for stacks, the same for all blocks of a launch. A page that nothing may touch ends each: an overflow is a
// fault at once.
class Stacks {
public:
  explicit Stacks(unsigned count);
  ~Stacks();
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;
  // A context that will call `entry`, which must never return, on the stack.
  void *prepare(unsigned index, void (*entry)());
  bool contains(const void *address) const;

private:
  static constexpr size_t stackBytes = 64 << 10, guardBytes = 4096;
  uint8_t *memory;
  size_t bytes;
};

// Leaves the running context in `from` and goes on with `to`.
extern "C" void sprigGpuSwitch(void **from, void *to);

} // namespace sprig::gpu
#endif
