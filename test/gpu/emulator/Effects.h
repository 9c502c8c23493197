// The bytes of global memory that a launch reads, writes and updates, for checks of the order of launches.
#ifndef SPRIG_TEST_GPU_EMULATOR_EFFECTS_H
#define SPRIG_TEST_GPU_EMULATOR_EFFECTS_H

#include "test/gpu/emulator/Emulator.h"
#include "test/gpu/emulator/Pages.h"
#include <map>

namespace sprig::gpu {

class Effects {
public:
  void read(uint64_t address, uint32_t bytes) { mark(reads, address, bytes); }
  void write(uint64_t address, uint32_t bytes) { mark(writes, address, bytes); }
  // By an atomic operation of an `Update`'s kind.
  void update(uint64_t address, uint32_t bytes, uint32_t kind) { mark(updates[kind], address, bytes); }
  std::vector<Range> readRanges() const { return ranges(reads); }
  std::vector<Range> writeRanges() const { return ranges(writes); }
  std::vector<Update> updateRanges() const;

private:
  struct Page {
    uint64_t bits[64] = {}; // one for each byte
  };
  static void mark(Pages<Page> &pages, uint64_t address, uint32_t bytes);
  static std::vector<Range> ranges(const Pages<Page> &pages);
  Pages<Page> reads, writes;
  std::map<uint32_t, Pages<Page>> updates; // by kind
};

} // namespace sprig::gpu
#endif
