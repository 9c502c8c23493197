#include "test/gpu/emulator/Races.h"

using namespace sprig::gpu;

void Shadow::split(Cell &word) {
  Cell byte = word;
  splits.push_back({byte, byte, byte, byte});
  // The list of readers, where there is one, must belong to one cell: the others get copies.
  for (unsigned i = 1; i < 4 && byte.readers; ++i) {
    readers.push_back(readers[byte.readers - 1]);
    splits.back()[i].readers = uint32_t(readers.size());
  }
  word.split = uint32_t(splits.size());
}

void Shadow::forgetReads(Cell &cell) {
  cell.read = {};
  if (!cell.readers) return;
  readers[cell.readers - 1].clear();
  freeReaders.push_back(cell.readers);
  cell.readers = 0;
  cell.kept = 0;
}

void Shadow::addRead(Cell &cell, const Access &access, const BlockClock &clock, const OrderState &state) {
  Readers own{clock.block, access.thread / 32, state.clock, 0, access.line, access.isStrong};
  uint32_t lane = 1u << access.thread % 32, lanes = cell.read.lanes;
  // Lanes of a warp mostly come one after another.
  cell.read.lanes = 0;
  if (cell.read == own) {
    cell.read.lanes = lanes | lane;
    return;
  }
  cell.read.lanes = lanes;
  // Reads in front of a barrier of the whole block are before everything that comes now.
  if (lanes && !(cell.read.block == clock.block && cell.read.clock < clock.floor)) keepReaders(cell, clock);
  cell.read = own;
  cell.read.lanes = lane;
}

// Puts the last reads into the cell's list.
void Shadow::keepReaders(Cell &cell, const BlockClock &clock) {
  if (!clock.mayOrder && cell.kept == 2) return;
  if (!cell.readers) {
    if (freeReaders.empty()) {
      readers.emplace_back();
      freeReaders.push_back(uint32_t(readers.size()));
    }
    cell.readers = freeReaders.back();
    freeReaders.pop_back();
  }
  std::vector<Readers> &list = readers[cell.readers - 1];
  for (auto one = list.rbegin(); one != list.rend() && one->block == cell.read.block; ++one) {
    Readers same = cell.read;
    same.lanes = one->lanes;
    if (*one != same) continue;
    one->lanes |= cell.read.lanes;
    return;
  }
  if (!clock.mayOrder) {
    bool isOther = list.empty() || list.back().block != cell.read.block || list.back().warp != cell.read.warp;
    if (isOther) list.push_back(cell.read);
    cell.kept += isOther;
    return;
  }
  if (cell.read.block != clock.block) { // which is over
    auto first = list.end();
    while (first != list.begin() && std::prev(first)->block == cell.read.block) --first;
    if (list.end() - first >= mostOfOneBlock) list.erase(first, list.end() - (mostOfOneBlock - 1));
  }
  if (list.size() >= 8 && clock.floor > 1)
    std::erase_if(list, [&](const Readers &one) { return one.block == clock.block && one.clock < clock.floor; });
  if (list.size() >= mostReaders) list.erase(list.begin(), list.begin() + mostReaders / 4);
  list.push_back(cell.read);
}

bool Shadow::accessCell(Cell &cell, const Access &access, const BlockClock &clock, const OrderState &state,
                        bool onlyChecks, Rival &rival) {
  bool hasRaced = false;
  auto check = [&](Stamp stamp, bool isStrong, uint32_t line, bool isWrite) {
    if (hasRaced || !stamp || (access.isStrong && isStrong) || clock.isBefore(stamp, access.thread, state)) return;
    rival = {stamp, line, isWrite};
    hasRaced = true;
  };
  auto checkReaders = [&](const Readers &one) {
    if (one.block == clock.block && one.clock < clock.floor) return;
    for (uint32_t lanes = one.lanes; lanes && !hasRaced; lanes &= lanes - 1)
      check({one.block, one.warp * 32 + uint32_t(__builtin_ctz(lanes)), one.clock}, one.isStrong, one.line, false);
  };
  check(cell.write, cell.writeIsStrong, cell.writeLine, true);
  if (!access.isWrite) {
    if (!onlyChecks) addRead(cell, access, clock, state);
    return hasRaced;
  }
  checkReaders(cell.read);
  if (cell.readers)
    for (const Readers &one : readers[cell.readers - 1]) checkReaders(one);
  if (onlyChecks) return hasRaced;
  forgetReads(cell);
  cell.write = clock.stamp(access.thread, state);
  cell.writeLine = access.line, cell.writeIsStrong = access.isStrong;
  return hasRaced;
}

void SharedRaces::reset(uint32_t bytes) {
  cells.assign((bytes + 3) / 4, {});
  flights.assign((bytes + 3) / 4, {});
  shadow.clear();
}

bool SharedRaces::access(uint64_t offset, uint32_t bytes, const Access &access, const BlockClock &clock,
                         const OrderState &state, bool onlyChecks, Rival &rival, bool &sawUninitialised) {
  return shadow.access([&](uint64_t at) -> Cell & { return cells[at / 4]; }, offset, bytes, access, clock, state,
                       onlyChecks, rival, &sawUninitialised);
}

void SharedRaces::startCopy(uint64_t offset, uint32_t bytes, uint32_t thread, uint32_t line) {
  for (uint64_t word = offset / 4; word < (offset + bytes + 3) / 4; ++word)
    flights[word] = {thread, line, flights[word].count + 1};
}
void SharedRaces::endCopy(uint64_t offset, uint32_t bytes) {
  for (uint64_t word = offset / 4; word < (offset + bytes + 3) / 4; ++word)
    if (flights[word].count) --flights[word].count;
}
bool SharedRaces::isInFlight(uint64_t offset, uint32_t bytes, Rival &rival) const {
  for (uint64_t word = offset / 4; word < (offset + bytes + 3) / 4; ++word) {
    if (!flights[word].count) continue;
    rival = {Stamp(0, flights[word].thread, 1), flights[word].line, true};
    return true;
  }
  return false;
}

bool GlobalRaces::access(uint64_t address, uint32_t bytes, const Access &access, const BlockClock &clock,
                         const OrderState &state, Rival &rival) {
  return shadow.access([&](uint64_t at) -> Cell & { return pages.at(at).cells[at % 4096 / 4]; }, address, bytes, access,
                       clock, state, false, rival, nullptr);
}
