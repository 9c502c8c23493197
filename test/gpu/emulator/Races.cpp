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
}

void Shadow::addRead(Cell &cell, const Access &access, Stamp stamp, const BlockClock &clock, const OrderState &state) {
  if (cell.read && !clock.isBefore(cell.read, access.thread, state)) {
    if (!cell.readers) {
      if (freeReaders.empty()) {
        readers.emplace_back();
        freeReaders.push_back(uint32_t(readers.size()));
      }
      cell.readers = freeReaders.back();
      freeReaders.pop_back();
    }
    // One entry a thread is enough: its latest.
    std::vector<Reader> &list = readers[cell.readers - 1];
    Reader last{cell.read, cell.readLine, cell.readIsStrong};
    auto same = std::find_if(list.begin(), list.end(), [&](const Reader &one) {
      return one.stamp.thread() == last.stamp.thread() && one.stamp.block() == last.stamp.block();
    });
    if (same == list.end())
      list.push_back(last);
    else
      *same = last;
  }
  cell.read = stamp, cell.readLine = access.line, cell.readIsStrong = access.isStrong;
}

bool Shadow::accessCell(Cell &cell, const Access &access, const BlockClock &clock, const OrderState &state,
                        bool onlyChecks, Rival &rival) {
  auto races = [&](Stamp stamp, bool isStrong, uint32_t line, bool isWrite) {
    if (!stamp || (access.isStrong && isStrong) || clock.isBefore(stamp, access.thread, state)) return false;
    rival = {stamp, line, isWrite};
    return true;
  };
  bool hasRaced = races(cell.write, cell.writeIsStrong, cell.writeLine, true);
  if (access.isWrite) {
    hasRaced = hasRaced || races(cell.read, cell.readIsStrong, cell.readLine, false);
    if (cell.readers)
      for (const Reader &reader : readers[cell.readers - 1])
        hasRaced = hasRaced || races(reader.stamp, reader.isStrong, reader.line, false);
  }
  if (onlyChecks) return hasRaced;
  Stamp stamp = clock.stamp(access.thread, state);
  if (access.isWrite) {
    forgetReads(cell);
    cell.write = stamp, cell.writeLine = access.line, cell.writeIsStrong = access.isStrong;
  } else {
    addRead(cell, access, stamp, clock, state);
  }
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
