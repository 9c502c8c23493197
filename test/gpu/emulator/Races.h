// Shadow memory: for each word of shared and of global memory the last write and the reads since, so that an access
// that nothing orders behind one of another thread is found (the model of order is in Order.h). Words that are accessed
// in parts have shadows for each byte.
#ifndef SPRIG_TEST_GPU_EMULATOR_RACES_H
#define SPRIG_TEST_GPU_EMULATOR_RACES_H

#include "test/gpu/emulator/Order.h"
#include "test/gpu/emulator/Pages.h"
#include <algorithm>
#include <array>
#include <deque>

namespace sprig::gpu {

// Reads at one line by lanes of a warp whose clock was the same.
struct Readers {
  uint32_t block = 0, warp = 0, clock = 0, lanes = 0, line = 0;
  bool isStrong = false;
  bool operator==(const Readers &) const = default;
};
struct Cell {
  Stamp write;
  Readers read; // the last ones; earlier ones since the write are in a list
  uint32_t writeLine = 0;
  uint32_t readers = 0, split = 0; // indices + 1 into a Shadow's lists
  bool writeIsStrong = false;
  uint8_t kept = 0; // groups in the list, where nothing orders threads
};

// An access as the detector sees it.
struct Access {
  uint32_t thread, line;
  bool isWrite, isStrong;
};
// An earlier access that it races with.
struct Rival {
  Stamp stamp;
  uint32_t line;
  bool isWrite;
};

class Shadow {
public:
  // Checks an access and remembers it, `cellAt` giving the shadow of the word that holds an address; remembers nothing
  // where `onlyChecks`. True and `rival` where it races. `sawUninitialised`, where given, is set by a read of what
  // nobody wrote.
  template <class CellAt>
  bool access(CellAt cellAt, uint64_t address, uint32_t bytes, const Access &access, const BlockClock &clock,
              const OrderState &state, bool onlyChecks, Rival &rival, bool *sawUninitialised) {
    bool hasRaced = false;
    for (uint64_t end = address + bytes; address < end;) {
      Cell &word = cellAt(address);
      unsigned first = address & 3, covered = unsigned(std::min<uint64_t>(end - address, 4 - first));
      if (covered < 4 && !word.split) split(word);
      for (unsigned i = first; i < first + covered; ++i) {
        Cell &cell = word.split ? splits[word.split - 1][i] : word;
        if (sawUninitialised && !access.isWrite && !cell.write) *sawUninitialised = true;
        hasRaced |= accessCell(cell, access, clock, state, onlyChecks, rival);
        if (!word.split) break;
      }
      address += covered;
    }
    return hasRaced;
  }
  void clear() { readers.clear(), freeReaders.clear(), splits.clear(); }

private:
  // More readings of one word than this, by warps that nothing orders, and the oldest are forgotten: what a race with
  // them would be is one with the others too, unless just those are ordered. Once a block is over, few of its own are
  // enough. Blocks run one at a time, so a list has them one behind another.
  // Where nothing orders any threads at all, two warps are enough: a writer is in one of them at most, and
  // each thread runs to its end, so that none reads, lets others have their turns and writes.
  static constexpr size_t mostReaders = 64;
  static constexpr ptrdiff_t mostOfOneBlock = 4;
  bool accessCell(Cell &cell, const Access &access, const BlockClock &clock, const OrderState &state, bool onlyChecks,
                  Rival &rival);
  void split(Cell &word);
  void forgetReads(Cell &cell);
  void addRead(Cell &cell, const Access &access, const BlockClock &clock, const OrderState &state);
  void keepReaders(Cell &cell, const BlockClock &clock);
  std::deque<std::vector<Readers>> readers;
  std::vector<uint32_t> freeReaders;
  std::deque<std::array<Cell, 4>> splits;
};

// Of one block.
class SharedRaces {
public:
  void reset(uint32_t bytes);
  bool access(uint64_t offset, uint32_t bytes, const Access &access, const BlockClock &clock, const OrderState &state,
              bool onlyChecks, Rival &rival, bool &sawUninitialised);
  // Copies on their way: nobody may touch the bytes that they will write.
  void startCopy(uint64_t offset, uint32_t bytes, uint32_t thread, uint32_t line);
  void endCopy(uint64_t offset, uint32_t bytes);
  bool isInFlight(uint64_t offset, uint32_t bytes, Rival &rival) const;

private:
  Shadow shadow;
  std::vector<Cell> cells;
  struct Flight {
    uint32_t thread = 0, line = 0, count = 0;
  };
  std::vector<Flight> flights; // by word
};

// Of a launch.
class GlobalRaces {
public:
  bool access(uint64_t address, uint32_t bytes, const Access &access, const BlockClock &clock, const OrderState &state,
              Rival &rival);
  OrderSnapshot &releasedAt(uint64_t address) { return released[address]; }

private:
  struct Page {
    Cell cells[1024];
  };
  Shadow shadow;
  Pages<Page> pages;
  std::unordered_map<uint64_t, OrderSnapshot> released; // by releases at the address
};

} // namespace sprig::gpu
#endif
