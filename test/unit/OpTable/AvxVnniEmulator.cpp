#include "test/unit/OpTable/AvxVnniEmulator.h"
#include <atomic>
#include <cpuid.h>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ucontext.h>

namespace sprig::optable {

namespace {

constexpr int kOfNumber[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                             REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

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

/// VEX.66.0F38.W0 50 /r in its form of three bytes of prefix.
struct Instruction {
  bool isKnown = false;
  int bytes = 0; // of a vector
  int target = 0, unsignedBytes = 0, signedBytes = 0;
  const uint8_t *memory = nullptr; // in place of signedBytes
  int64_t length = 0;

  Instruction(const uint8_t *code, const greg_t *registers) {
    if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x83) != 1 || code[3] != 0x50) return;
    isKnown = true;
    int extendTarget = code[1] & 0x80 ? 0 : 8, extendIndex = code[1] & 0x40 ? 0 : 8,
        extendBase = code[1] & 0x20 ? 0 : 8;
    bytes = code[2] & 4 ? 32 : 16;
    unsignedBytes = ~(code[2] >> 3) & 15;
    int mode = code[4] >> 6, low = code[4] & 7;
    target = (code[4] >> 3 & 7) + extendTarget;
    const uint8_t *rest = code + 5;
    if (mode == 3) {
      signedBytes = low + extendBase;
      length = rest - code;
      return;
    }
    auto registerOf = [&](int number) { return uint64_t(registers[kOfNumber[number]]); };
    uint64_t address = 0;
    bool hasBase = true;
    if (low == 4) {
      int scale = *rest >> 6, index = (*rest >> 3 & 7) + extendIndex, base = *rest & 7;
      ++rest;
      if (index != 4) address += registerOf(index) << scale;
      hasBase = mode != 0 || base != 5;
      if (hasBase) address += registerOf(base + extendBase);
    } else {
      hasBase = mode != 0 || low != 5;
      if (hasBase) address += registerOf(low + extendBase);
    }
    if (mode == 1) {
      address += uint64_t(int64_t(int8_t(*rest++)));
    } else if (mode == 2 || !hasBase) {
      int32_t offset;
      std::memcpy(&offset, rest, sizeof offset);
      rest += sizeof offset;
      address += uint64_t(int64_t(offset));
    }
    if (mode == 0 && low == 5) address += uint64_t(rest - code) + uint64_t(registers[REG_RIP]); // from the next one on
    memory = reinterpret_cast<const uint8_t *>(address);
    length = rest - code;
  }
};

std::atomic<long> count = 0;

void onInvalidInstruction(int signal, siginfo_t *, void *context) {
  auto &frame = *static_cast<ucontext_t *>(context);
  greg_t *registers = frame.uc_mcontext.gregs;
  Instruction instruction(reinterpret_cast<const uint8_t *>(registers[REG_RIP]), registers);
  if (!instruction.isKnown) {
    std::signal(signal, SIG_DFL); // and again
    return;
  }
  Vectors vectors(frame);
  alignas(32) uint8_t naturals[32], numbers[32], sums[32];
  vectors.read(instruction.unsignedBytes, naturals);
  vectors.read(instruction.signedBytes, numbers);
  if (instruction.memory) std::memcpy(numbers, instruction.memory, size_t(instruction.bytes));
  vectors.read(instruction.target, sums);
  for (int i = 0; i < instruction.bytes; i += 4) {
    uint32_t sum;
    std::memcpy(&sum, sums + i, 4);
    for (int j = i; j < i + 4; ++j) sum += uint32_t(int32_t(naturals[j]) * int32_t(int8_t(numbers[j])));
    std::memcpy(sums + i, &sum, 4);
  }
  std::memset(sums + instruction.bytes, 0, size_t(32 - instruction.bytes));
  vectors.write(instruction.target, sums);
  registers[REG_RIP] += instruction.length;
  count.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

bool hasAvxVnni() {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

void emulateAvxVnni() {
  struct sigaction action = {};
  action.sa_sigaction = onInvalidInstruction;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
}

long emulatedInstructions() { return count.load(); }

} // namespace sprig::optable
