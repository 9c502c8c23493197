#include "test/unit/OpTable/VexInstruction.h"
#include <cstring>

namespace sprig::optable {

static constexpr int kOfNumber[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

std::optional<VexInstruction> VexInstruction::decode(const uint8_t *code, const greg_t *registers) {
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x80) != 0) return std::nullopt;
  VexInstruction made{};
  int extendReg = code[1] & 0x80 ? 0 : 8, extendIndex = code[1] & 0x40 ? 0 : 8, extendBase = code[1] & 0x20 ? 0 : 8;
  made.prefix = Prefix(code[2] & 3);
  made.is256 = code[2] & 4;
  made.vvvv = ~(code[2] >> 3) & 15;
  made.opcode = code[3];
  int mode = code[4] >> 6, low = code[4] & 7;
  made.reg = (code[4] >> 3 & 7) + extendReg;
  made.isMemory = mode != 3;
  const uint8_t *rest = code + 5;
  if (!made.isMemory) {
    made.rm = low + extendBase;
    made.length = rest - code;
    return made;
  }
  auto registerOf = [&](int number) { return uint64_t(registers[kOfNumber[number]]); };
  bool hasBase = mode != 0 || low != 5;
  if (low == 4) {
    int scale = *rest >> 6, index = (*rest >> 3 & 7) + extendIndex, base = *rest & 7;
    ++rest;
    if (index != 4) made.index = registerOf(index) << scale;
    hasBase = mode != 0 || base != 5;
    if (hasBase) made.base = registerOf(base + extendBase);
  } else if (hasBase) {
    made.base = registerOf(low + extendBase);
  }
  if (mode == 1) {
    made.base += uint64_t(int64_t(int8_t(*rest++)));
  } else if (mode == 2 || !hasBase) {
    int32_t offset;
    std::memcpy(&offset, rest, sizeof offset);
    rest += sizeof offset;
    made.base += uint64_t(int64_t(offset));
  }
  if (mode == 0 && low == 5) made.base += uint64_t(rest - code) + uint64_t(registers[REG_RIP]); // from the next one on
  made.length = rest - code;
  return made;
}

} // namespace sprig::optable
