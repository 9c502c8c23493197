// The proof of order: lanes, events and what commands touch, in the library and in packages that are loaded.
#include "runtime/format/Order.h"
#include "runtime/test/TestPackage.h"

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <random>

namespace sprig::rt::order {
using namespace test;
namespace {

using core::kReads;
using core::kWrites;

// Builds schedules lane by lane; regions are bytes of one space.
struct Lanes {
  Schedule schedule;
  void work(std::vector<std::pair<Region, bool>> touched) {
    schedule.work();
    for (auto &[region, writes] : touched) {
      schedule.regions.push_back(region);
      schedule.access(uint32_t(schedule.regions.size() - 1), writes);
    }
  }
  void write(uint64_t begin, uint64_t end) { work({{{0, begin, end}, true}}); }
  void read(uint64_t begin, uint64_t end) { work({{{0, begin, end}, false}}); }
  void record(uint32_t event) {
    schedule.events = std::max(schedule.events, event + 1);
    schedule.commands.push_back({Kind::Record, event, 0, 0});
  }
  void wait(uint32_t event) {
    schedule.events = std::max(schedule.events, event + 1);
    schedule.commands.push_back({Kind::Wait, event, 0, 0});
  }
  void next() { schedule.endLane(); }
};

TEST(Order, OneLaneIsInOrder) {
  Lanes lanes;
  lanes.write(0, 64), lanes.read(0, 64), lanes.write(32, 96), lanes.next();
  EXPECT_EQ(checkOrder(lanes.schedule).verdict, Verdict::Ordered);
}

TEST(Order, NamesBothCommandsAndTheBytesThatTheyShare) {
  Lanes lanes;
  lanes.read(512, 600), lanes.write(0, 128), lanes.next();
  lanes.read(64, 256), lanes.next();
  Finding found = checkOrder(lanes.schedule);
  EXPECT_EQ(found.verdict, Verdict::Race);
  EXPECT_EQ(found.first.lane, 0u);
  EXPECT_EQ(found.first.index, 1u);
  EXPECT_EQ(found.second.lane, 1u);
  EXPECT_EQ(found.second.index, 0u);
  EXPECT_TRUE(found.firstWrites);
  EXPECT_FALSE(found.secondWrites);
  EXPECT_EQ(found.shared.begin, 64u);
  EXPECT_EQ(found.shared.end, 128u);
}

TEST(Order, EventsOrderOverSeveralLanes) {
  Lanes lanes;
  lanes.write(0, 64), lanes.record(0), lanes.next();
  lanes.wait(0), lanes.record(1), lanes.next();
  lanes.wait(1), lanes.write(0, 64), lanes.next();
  EXPECT_EQ(checkOrder(lanes.schedule).verdict, Verdict::Ordered);
  // An event that is recorded before the write says nothing of it.
  Lanes early;
  early.record(0), early.write(0, 64), early.next();
  early.wait(0), early.read(0, 64), early.next();
  EXPECT_EQ(checkOrder(early.schedule).verdict, Verdict::Race);
}

TEST(Order, AWriteWaitsForAllReads) {
  for (uint32_t waited = 0; waited < 3; ++waited) {
    Lanes lanes;
    lanes.write(0, 64), lanes.record(0), lanes.next();
    for (uint32_t reader = 1; reader < 4; ++reader)
      lanes.wait(0), lanes.read(0, 64), lanes.record(reader), lanes.next();
    for (uint32_t i = 0; i < 3; ++i)
      if (i != waited) lanes.wait(i + 1);
    lanes.write(32, 40), lanes.next();
    Finding found = checkOrder(lanes.schedule);
    EXPECT_EQ(found.verdict, Verdict::Race);
    EXPECT_EQ(found.first.lane, waited + 1);
  }
}

TEST(Order, WhichHappensBeforeWhich) {
  Lanes lanes;
  lanes.write(0, 8), lanes.record(0), lanes.write(8, 16), lanes.next();
  lanes.write(16, 24), lanes.wait(0), lanes.write(24, 32), lanes.next();
  HappensBefore before(lanes.schedule);
  EXPECT_TRUE(before.isBefore({0, 0}, {1, 2}));
  EXPECT_FALSE(before.isBefore({1, 2}, {0, 0}));
  EXPECT_FALSE(before.isBefore({0, 2}, {1, 2}));
  EXPECT_FALSE(before.isBefore({0, 0}, {1, 0}));
  EXPECT_TRUE(before.isBefore({0, 0}, {0, 2}));
  std::vector<uint32_t> order = before.order();
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 2, 3, 5}));
}

// Work 0, 2, 3 and 5 of the same lanes: 2 and 3 are in no order to those of the other lane.
TEST(Order, WhatHasOneOrder) {
  Lanes lanes;
  lanes.write(0, 8), lanes.record(0), lanes.write(8, 16), lanes.next();
  lanes.write(16, 24), lanes.wait(0), lanes.write(24, 32), lanes.next();
  auto findOf = [&](std::initializer_list<size_t> asked) {
    std::vector<bool> isAsked(6, false);
    for (size_t index : asked) isAsked[index] = true;
    return findUnordered(lanes.schedule, isAsked);
  };
  EXPECT_FALSE(findOf({}));
  EXPECT_FALSE(findOf({0, 2}));
  EXPECT_FALSE(findOf({0, 5}));
  auto found = findOf({2, 5});
  ASSERT_TRUE(found);
  EXPECT_NE(found->first.lane, found->second.lane);
  EXPECT_TRUE(findOf({0, 3}));
  EXPECT_TRUE(findOf({0, 2, 3, 5}));
}

TEST(Order, LanesThatWaitForEachOtherAreStuck) {
  Lanes lanes;
  lanes.wait(1), lanes.record(0), lanes.next();
  lanes.wait(0), lanes.record(1), lanes.next();
  EXPECT_EQ(checkOrder(lanes.schedule).verdict, Verdict::Stuck);
}

TEST(Order, BytesOfTiles) {
  auto of = [](int64_t first, int64_t step, uint64_t tile, int64_t from, int64_t to, uint64_t per = 1) {
    ByteRange range = bytesOfTiles({first, step, tile, per}, from, to, 1000);
    return std::pair(range.begin, range.end);
  };
  using Pair = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(of(0, 100, 100, 2, 5), Pair(200, 500));
  EXPECT_EQ(of(-100, 100, 300, 0, 1), Pair(0, 200)); // a row above and one below
  EXPECT_EQ(of(-100, 100, 300, 9, 10), Pair(800, 1000));
  EXPECT_EQ(of(900, -100, 100, 0, 3), Pair(700, 1000)); // from the end
  EXPECT_EQ(of(0, 0, 40, 0, 7), Pair(0, 40));
  EXPECT_EQ(of(0, 100, 100, 0, 4, 4), Pair(0, 100)); // four tiles of one row
  EXPECT_EQ(of(0, 100, 100, 3, 5, 4), Pair(0, 200));
  EXPECT_EQ(of(-50, 100, 200, 4, 9, 4), Pair(50, 350));
  EXPECT_EQ(of(0, 100, 100, 3, 3), Pair(0, 0));
  EXPECT_EQ(of(INT64_MIN, INT64_MAX, UINT64_MAX, 0, INT64_MAX), Pair(0, 1000));
}

// Against the closure of "directly before", over all pairs.
Verdict byClosure(const Schedule &schedule) {
  size_t count = schedule.commands.size();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count, false));
  uint32_t begin = 0;
  for (uint32_t end : schedule.laneEnds) {
    for (uint32_t i = begin; i + 1 < end; ++i) before[i][i + 1] = true;
    begin = end;
  }
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      if (schedule.commands[a].kind == Kind::Record && schedule.commands[b].kind == Kind::Wait &&
          schedule.commands[a].event == schedule.commands[b].event)
        before[a][b] = true;
  for (size_t k = 0; k < count; ++k)
    for (size_t a = 0; a < count; ++a)
      for (size_t b = 0; b < count; ++b)
        if (before[a][k] && before[k][b]) before[a][b] = true;
  for (size_t a = 0; a < count; ++a)
    if (before[a][a]) return Verdict::Stuck;
  auto races = [&](const Command &a, const Command &b) {
    for (uint32_t i = 0; i < a.accessCount; ++i)
      for (uint32_t j = 0; j < b.accessCount; ++j) {
        const Access &x = schedule.accesses[a.firstAccess + i], &y = schedule.accesses[b.firstAccess + j];
        const Region &p = schedule.regions[x.region], &q = schedule.regions[y.region];
        if ((x.writes || y.writes) && p.space == q.space && p.begin < q.end && q.begin < p.end) return true;
      }
    return false;
  };
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < a; ++b)
      if (!before[a][b] && !before[b][a] && races(schedule.commands[a], schedule.commands[b])) return Verdict::Race;
  return Verdict::Ordered;
}

TEST(Order, RandomSchedulesAsByTheClosure) {
  std::mt19937 random(3);
  auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  int counts[4] = {};
  for (int round = 0; round < 4000; ++round) {
    uint32_t laneCount = 2 + below(4), events = 1 + below(12);
    // In the order of one run, so that most can run.
    std::vector<Lanes> parts(laneCount);
    std::vector<bool> recorded(events, false);
    for (uint32_t step = 0; step < 8 + below(24); ++step) {
      Lanes &lane = parts[below(laneCount)];
      uint32_t event = below(events);
      if (below(3) == 0) {
        uint64_t at = below(6) * 16;
        lane.work({{{below(2), at, at + 16 + 16 * below(2)}, below(3) == 0}});
      } else if (recorded[event] || below(40) == 0) {
        lane.wait(event);
      } else {
        lane.record(event);
        recorded[event] = true;
      }
    }
    Lanes all;
    all.schedule.events = events;
    std::vector<bool> seen(events, false);
    for (Lanes &part : parts) {
      for (const Command &command : part.schedule.commands) {
        if (command.kind == Kind::Record) seen[command.event] = true;
        all.schedule.commands.push_back(command);
        all.schedule.commands.back().firstAccess += uint32_t(all.schedule.accesses.size());
      }
      for (Access access : part.schedule.accesses) {
        access.region += uint32_t(all.schedule.regions.size());
        all.schedule.accesses.push_back(access);
      }
      all.schedule.regions.insert(all.schedule.regions.end(), part.schedule.regions.begin(),
                                  part.schedule.regions.end());
      all.next();
    }
    bool unheard = false;
    for (const Command &command : all.schedule.commands) unheard |= command.kind == Kind::Wait && !seen[command.event];
    if (unheard) continue;
    Verdict found = checkOrder(all.schedule).verdict, wanted = byClosure(all.schedule);
    // A race in front of where lanes get stuck may be told first.
    if (wanted == Verdict::Stuck)
      ASSERT_NE(found, Verdict::Ordered);
    else
      ASSERT_EQ(found, wanted) << round;
    ++counts[int(wanted)];
  }
  EXPECT_GT(counts[int(Verdict::Ordered)], 100);
  EXPECT_GT(counts[int(Verdict::Race)], 100);
}

// A chain over the lanes: each command reads two earlier results and writes one, all of it after events.
Schedule chainOverLanes(uint32_t laneCount, uint32_t works, const std::function<Region(uint32_t)> &place) {
  std::mt19937 random(5);
  Schedule schedule;
  for (uint32_t i = 0; i < works; ++i) schedule.regions.push_back(place(i));
  std::vector<std::vector<Command>> lanes(laneCount);
  for (uint32_t i = 0; i < works; ++i) {
    std::vector<Command> &lane = lanes[i % laneCount];
    if (i) lane.push_back({Kind::Wait, i - 1, 0, 0});
    lane.push_back({Kind::Work, 0, uint32_t(schedule.accesses.size()), 3});
    schedule.accesses.push_back({i ? uint32_t(random() % i) : 0, false});
    schedule.accesses.push_back({i ? i - 1 : 0, false});
    schedule.accesses.push_back({i, true});
    lane.push_back({Kind::Record, i, 0, 0});
  }
  schedule.events = works;
  for (auto &lane : lanes) {
    schedule.commands.insert(schedule.commands.end(), lane.begin(), lane.end());
    schedule.endLane();
  }
  return schedule;
}

// Printed, not judged.
TEST(Order, TimeOfAThousandCommands) {
  std::mt19937 random(7);
  // As plans of memory have it, a few tens of places that results share; and as none has it, bytes at random.
  auto planned = [&](uint32_t) {
    uint64_t at = random() % 32;
    return Region{0, at * 8192, at * 8192 + 4096 * (1 + random() % 3)};
  };
  auto scattered = [&](uint32_t) {
    uint64_t at = random() % 4096 * 64;
    return Region{0, at, at + 64 * (1 + random() % 32)};
  };
  auto time = [](const char *what, const Schedule &schedule) {
    std::vector<double> micros;
    for (int round = 0; round < 201; ++round) {
      auto begin = std::chrono::steady_clock::now();
      ASSERT_EQ(checkOrder(schedule).verdict, Verdict::Ordered);
      micros.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    std::nth_element(micros.begin(), micros.begin() + 100, micros.end());
    std::cout << schedule.commands.size() << " commands on " << schedule.laneEnds.size() << " lanes, " << what << ": "
              << micros[100] << " us (median)\n";
  };
  for (uint32_t lanes : {2u, 4u, 16u}) {
    time("shared places", chainOverLanes(lanes, 334, planned));
    time("bytes at random", chainOverLanes(lanes, 334, scattered));
    time("shared places", chainOverLanes(lanes, 1000, planned));
  }
}

// Two lanes: the first writes t, the second reads it after an event.
TestPackage ownLanes() {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {16}), y = entry.output("y", {16}), t = entry.arena(64);
  uint32_t done = entry.event();
  entry.dispatch(0, Add, {x, x, t}, 16);
  entry.record(0, done);
  entry.wait(1, done);
  entry.dispatch(1, Add, {t, x, y}, 16);
  package.program.entries.push_back(entry.entry);
  return package;
}

std::string errorOfLoading(const TestPackage &package) {
  return errorOf([&] { package.load(); });
}

TEST(OrderOfPackages, AMissingEventIsTold) {
  TestPackage package = ownLanes();
  ASSERT_EQ(errorOfLoading(package), "");
  std::vector<core::Command> &commands = package.program.entries[0].lanes[1].commands;
  commands.erase(commands.begin());
  EXPECT_EQ(errorOfLoading(package),
            "test: entry 0 'main': lane 1 command 0 'c1' on cpu reads bytes 0 to 64 of the arena of cpu, which lane 0 "
            "command 0 'c0' on cpu writes; no event orders the two");
}

TEST(OrderOfPackages, BuffersThatShareBytesAreTold) {
  TestPackage package = ownLanes();
  core::Entry &entry = package.program.entries[0];
  // A buffer of other bytes, read by the first lane after the event, and then of the same.
  entry.arenaSize = 128;
  entry.buffers.push_back({core::BufferKind::Arena, 0, 64, 64, "u", 0});
  entry.operands.insert(entry.operands.end(), {0, 3});
  core::Command copy = {};
  copy.kind = core::CommandKind::Copy;
  copy.firstOperand = uint32_t(entry.operands.size() - 2);
  copy.operandCount = 2;
  copy.name = "late";
  entry.lanes[0].commands.push_back(copy);
  EXPECT_EQ(errorOfLoading(package), "");
  entry.buffers[3].offset = 0;
  EXPECT_EQ(errorOfLoading(package),
            "test: entry 0 'main': lane 1 command 1 'c1' on cpu reads bytes 0 to 64 of the arena of cpu, which lane 0 "
            "command 2 'late' on cpu writes; no event orders the two");
}

TEST(OrderOfPackages, WithoutAccessAllOperandsMayBeWritten) {
  TestPackage package = ownLanes();
  for (core::Kernel &kernel : package.program.kernels) kernel.access.clear();
  EXPECT_EQ(errorOfLoading(package), "");
  std::vector<core::Command> &commands = package.program.entries[0].lanes[1].commands;
  commands.erase(commands.begin());
  EXPECT_NE(errorOfLoading(package).find("no event orders the two"), std::string::npos);
}

// The second lane goes on after half of the tiles, and needs no more of them.
TEST(OrderOfPackages, PartsOfTheTiles) {
  TestPackage package;
  package.program.kernels[Add].ranges = {{0, 0, 4, 4}, {1, 0, 4, 4}, {2, 0, 4, 4}};
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {32}), y = entry.output("y", {32}), t = entry.arena(128);
  uint32_t half = entry.event(), all = entry.event();
  auto part = [&](uint32_t lane, std::vector<uint32_t> buffers, int64_t first) {
    entry.dispatch(lane, Add, buffers, 16);
    entry.entry.lanes[lane].commands.back().firstTile = first;
  };
  part(0, {x, x, t}, 0);
  entry.record(0, half);
  part(0, {x, x, t}, 16);
  entry.record(0, all);
  entry.wait(1, half);
  part(1, {t, x, y}, 0);
  entry.wait(1, all);
  part(1, {t, x, y}, 16);
  package.program.entries.push_back(entry.entry);
  ASSERT_EQ(errorOfLoading(package), "");
  Context context(package.load());
  Words in(32), out(32);
  for (size_t i = 0; i < in.size(); ++i) in[i] = uint32_t(i);
  context.invoke({in.view()}, {out.view()});
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 3 * i);
  package.program.entries[0].lanes[1].commands[1].firstTile = 1;
  EXPECT_EQ(errorOfLoading(package),
            "test: entry 0 'main': lane 1 command 1 'c1' on cpu reads bytes 64 to 68 of the arena of cpu, which lane 0 "
            "command 2 'c2' on cpu writes; no event orders the two");
}

// Tiles that share a range: the second lane waits for all of a row, though half of its tiles would write what it reads.
TEST(OrderOfPackages, PartsOfRowsOfTiles) {
  TestPackage package;
  package.program.kernels[Add].ranges = {{0, 0, 32, 32, 8}, {1, 0, 32, 32, 8}, {2, 0, 32, 32, 8}};
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {32}), y = entry.output("y", {32}), t = entry.arena(128);
  uint32_t row = entry.event();
  entry.dispatch(0, Add, {x, x, t}, 8);
  entry.record(0, row);
  entry.dispatch(0, Add, {x, x, t}, 24);
  entry.entry.lanes[0].commands.back().firstTile = 8;
  entry.wait(1, row);
  entry.dispatch(1, Add, {t, x, y}, 8);
  package.program.entries.push_back(entry.entry);
  EXPECT_EQ(errorOfLoading(package), "");
  package.program.entries[0].lanes[1].commands[1].tiles = 9;
  EXPECT_EQ(errorOfLoading(package),
            "test: entry 0 'main': lane 1 command 1 'c1' on cpu reads bytes 32 to 64 of the arena of cpu, which lane 0 "
            "command 2 'c2' on cpu writes; no event orders the two");
}

TEST(OrderOfPackages, ACopyToAnotherDevice) {
  TestPackage package;
  package.program.devices = {{"null"}, {"null", 1}};
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {16}), y = entry.output("y", {16}), t = entry.arena(64), u = entry.arena(64);
  entry.entry.buffers[u].device = 1;
  entry.entry.buffers[u].offset = 0;
  entry.entry.buffers[y].device = 1;
  entry.entry.moreArenas = {64};
  uint32_t there = entry.event();
  entry.dispatch(0, Add, {x, x, t}, 16);
  entry.copy(0, t, u);
  entry.record(0, there);
  entry.wait(1, there);
  entry.dispatch(1, Add, {u, u, y}, 16);
  entry.entry.lanes[1].device = 1;
  package.program.entries.push_back(entry.entry);
  LoadOptions null;
  null.device = "null";
  EXPECT_EQ(errorOf([&] { package.load(null); }), "");
  std::vector<core::Command> &commands = package.program.entries[0].lanes[1].commands;
  commands.erase(commands.begin());
  EXPECT_EQ(errorOf([&] { package.load(null); }),
            "test: entry 0 'main': lane 1 command 0 'c1' on null:1 reads bytes 0 to 64 of the arena of null:1, which "
            "lane 0 command 1 'c1' on null writes; no event orders the two");
}

} // namespace
} // namespace sprig::rt::order
