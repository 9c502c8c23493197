// x86-64-v4 with the matrix unit AMX: its products of bytes (Intel 64 and IA-32 Architectures Software Developer's
// Manual, volume 2, LDTILECFG, TILELOADD, TILEZERO, TDPBUSD, TILESTORED, TILERELEASE; volume 1, chapter 18).
#include "test/unit/OpTable/EmulatedMachine.h"
#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/machine/Machine.h"
#include <cstring>

namespace sprig::optable {

const char *const kEmulatedSet = "x86-64-v4-amx";

namespace {
struct Tile {
  int rows, bytes; // of a row; 0: not told
  uint8_t data[16][64];
};
/// A thread's unit.
struct Unit {
  Tile tiles[8];

  void configure(const uint8_t *sizes) {
    std::memset(this, 0, sizeof *this);
    for (int i = 0; i < 8; ++i) {
      tiles[i].bytes = sizes[16 + 2 * i] | sizes[17 + 2 * i] << 8;
      tiles[i].rows = sizes[48 + i];
    }
  }
};
thread_local Unit unit;

bool multiply(Tile &sums, const Tile &naturals, const Tile &numbers) {
  if (sums.rows != naturals.rows || naturals.bytes != 4 * numbers.rows || sums.bytes != numbers.bytes) return false;
  for (int m = 0; m < sums.rows; ++m)
    for (int n = 0; n < sums.bytes; n += 4) {
      uint32_t sum;
      std::memcpy(&sum, &sums.data[m][n], 4);
      for (int k = 0; k < naturals.bytes; ++k)
        sum += uint32_t(int32_t(naturals.data[m][k]) * int32_t(int8_t(numbers.data[k / 4][n + k % 4])));
      std::memcpy(&sums.data[m][n], &sum, 4);
    }
  return true;
}
} // namespace

bool hasInstructions() { return rt::core::cpuFeatures().has("amx-int8") && rt::core::mayUseTiles(); }

bool mayEmulate() { return rt::core::cpuFeatures().level == 4 && rt::core::cpuFeatures().has("avx512vnni"); }

bool emulate(const VexInstruction &instruction, ucontext_t &) {
  using enum VexInstruction::Prefix;
  auto is = [&](uint8_t opcode, VexInstruction::Prefix prefix, bool isMemory) {
    return instruction.opcode == opcode && instruction.prefix == prefix && instruction.isMemory == isMemory;
  };
  auto *memory = reinterpret_cast<uint8_t *>(instruction.base);
  if (is(0x49, none, true)) {
    if (memory[0] != 1) return false; // palette
    unit.configure(memory);
    return true;
  }
  if (is(0x49, none, false)) {
    unit = {};
    return true;
  }
  if (instruction.reg > 7) return false;
  Tile &tile = unit.tiles[instruction.reg];
  if (tile.rows == 0 || tile.rows > 16 || tile.bytes == 0 || tile.bytes > 64) return false;
  auto row = [&](int i) { return memory + uint64_t(i) * instruction.index; };
  if (is(0x49, xF2, false)) {
    std::memset(tile.data, 0, sizeof tile.data);
  } else if (is(0x4b, xF2, true)) {
    std::memset(tile.data, 0, sizeof tile.data);
    for (int i = 0; i < tile.rows; ++i) std::memcpy(tile.data[i], row(i), size_t(tile.bytes));
  } else if (is(0x4b, xF3, true)) {
    for (int i = 0; i < tile.rows; ++i) std::memcpy(row(i), tile.data[i], size_t(tile.bytes));
  } else if (is(0x5e, x66, false)) {
    return instruction.rm < 8 && instruction.vvvv < 8 &&
           multiply(tile, unit.tiles[instruction.rm], unit.tiles[instruction.vvvv]);
  } else {
    return false;
  }
  return true;
}

} // namespace sprig::optable
