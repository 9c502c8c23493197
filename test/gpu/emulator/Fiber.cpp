#include "test/gpu/emulator/Fiber.h"
#include <new>
#include <sys/mman.h>

using namespace sprig::gpu;

// What the System V ABI lets a callee not change: six registers, and the control words of SSE and x87, which nobody
// changes here.
asm(R"(
.text
.globl sprigGpuSwitch
.hidden sprigGpuSwitch
.type sprigGpuSwitch, @function
sprigGpuSwitch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size sprigGpuSwitch, .-sprigGpuSwitch
)");

Stacks::Stacks(unsigned count) : bytes(count * (stackBytes + guardBytes)) {
  void *map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  memory = static_cast<uint8_t *>(map);
  for (unsigned i = 0; i < count; ++i) mprotect(memory + i * (stackBytes + guardBytes), guardBytes, PROT_NONE);
}
Stacks::~Stacks() { munmap(memory, bytes); }

bool Stacks::contains(const void *address) const { return address >= memory && address < memory + bytes; }

void *Stacks::prepare(unsigned index, void (*entry)()) {
  // Tops lie a little apart, or the same depth of all stacks would compete for the same sets of the cache.
  size_t top = (index + 1) * (stackBytes + guardBytes) - 64 - index * 7 % 32 * 64;
  auto *sp = reinterpret_cast<uint64_t *>(memory + top);
  *--sp = 0; // where entry would return to
  *--sp = reinterpret_cast<uint64_t>(entry);
  for (int i = 0; i < 6; ++i) *--sp = 0;
  return sp;
}
