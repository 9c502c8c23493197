// x86-64-v3 with AVX-VNNI, which few processors have: its dot product of bytes (Intel 64 and IA-32 Architectures
// Software Developer's Manual, volume 2, VPDPBUSD; volume 1, chapter 13 for where a signal's frame has the registers).
#include "test/unit/OpTable/EmulatedMachine.h"
#include <cpuid.h>
#include <cstring>

namespace sprig::optable {

const char *const kEmulatedSet = "x86-64-v3-vnni";

namespace {
/// A vector register in the frame of a signal: the lower half where FXSAVE has it, the upper half behind.
class Vectors {
public:
  explicit Vectors(ucontext_t &context) : area(reinterpret_cast<uint8_t *>(context.uc_mcontext.fpregs)) {
    uint64_t present;
    std::memcpy(&present, area + kPresent, sizeof present);
    if (present & kUpperHalves) return;
    std::memset(area + kUpper, 0, 16 * 16); // not saved, as all are zero
    present |= kUpperHalves;
    std::memcpy(area + kPresent, &present, sizeof present);
  }
  void read(int number, uint8_t *bytes) const {
    std::memcpy(bytes, area + kLower + 16 * number, 16);
    std::memcpy(bytes + 16, area + kUpper + 16 * number, 16);
  }
  void write(int number, const uint8_t *bytes) {
    std::memcpy(area + kLower + 16 * number, bytes, 16);
    std::memcpy(area + kUpper + 16 * number, bytes + 16, 16);
  }

private:
  static constexpr size_t kLower = 160, kPresent = 512, kUpper = 576;
  static constexpr uint64_t kUpperHalves = 1 << 2;
  uint8_t *area;
};
} // namespace

bool hasInstructions() {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

bool mayEmulate() { return true; }

bool emulate(const VexInstruction &instruction, ucontext_t &frame) {
  if (instruction.prefix != VexInstruction::x66 || instruction.opcode != 0x50) return false;
  Vectors vectors(frame);
  const size_t bytes = instruction.is256 ? 32 : 16;
  alignas(32) uint8_t naturals[32], numbers[32], sums[32];
  vectors.read(instruction.vvvv, naturals);
  if (instruction.isMemory)
    std::memcpy(numbers, reinterpret_cast<const uint8_t *>(instruction.base + instruction.index), bytes);
  else
    vectors.read(instruction.rm, numbers);
  vectors.read(instruction.reg, sums);
  for (size_t i = 0; i < bytes; i += 4) {
    uint32_t sum;
    std::memcpy(&sum, sums + i, 4);
    for (size_t j = i; j < i + 4; ++j) sum += uint32_t(int32_t(naturals[j]) * int32_t(int8_t(numbers[j])));
    std::memcpy(sums + i, &sum, 4);
  }
  std::memset(sums + bytes, 0, 32 - bytes);
  vectors.write(instruction.reg, sums);
  return true;
}

} // namespace sprig::optable
