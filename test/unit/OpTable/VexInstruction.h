// Instructions with a VEX prefix of three bytes and the opcode map 0F38, as their bytes say (Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 2, chapter 2).
#pragma once
#include <cstdint>
#include <optional>
#include <ucontext.h>

namespace sprig::optable {

struct VexInstruction {
  enum Prefix { none, x66, xF3, xF2 } prefix;
  uint8_t opcode;
  bool is256;         // VEX.L
  int reg, vvvv;      // numbers of registers
  int rm = 0;         // where the third operand is a register
  bool isMemory;      // else in memory, at `base` plus `index`
  uint64_t base = 0;  // the displacement included
  uint64_t index = 0; // the register's value times the scale; 0 where there is none
  int64_t length;

  /// Nothing for all other instructions. `code`: at the registers' REG_RIP.
  static std::optional<VexInstruction> decode(const uint8_t *code, const greg_t *registers);
};

} // namespace sprig::optable
