// cpu:0, cpu:1, ...: shares of the processor's threads. Programs over several of them have the results of one, whatever
// the number of threads, and each share's helpers work for its lanes alone.
#include "runtime/machine/ThreadShares.h"
#include "runtime/test/RandomGraph.h"
#include "sprig/rt/profile.hpp"

#include <gtest/gtest.h>
#include <utility>

namespace sprig::rt::test {
namespace {

// A random graph whose lanes take turns on the devices of a program. Each lane copies what others have computed, or has
// a lane beside it that does.
RandomGraph overDevices(uint32_t number, uint32_t devices, bool copiesBeside = false) {
  RandomGraph graph(number, devices + number % 3, 8 + int(number) * 5);
  core::Program &program = graph.package.program;
  core::Entry &entry = program.entries[0];
  program.devices.clear();
  for (uint32_t i = 0; i < devices; ++i) program.devices.push_back({"cpu", i});
  for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane) {
    entry.lanes[lane].device = lane % devices;
    for (core::Command &command : entry.lanes[lane].commands)
      if (command.kind == core::CommandKind::Dispatch)
        entry.buffers[entry.operands[command.firstOperand + 2]].device = lane % devices;
  }
  std::vector<core::Lane> beside;
  auto event = [](core::CommandKind kind, uint32_t number) {
    core::Command command{};
    command.kind = kind;
    command.event = number;
    return command;
  };
  for (core::Lane &lane : entry.lanes) {
    std::vector<core::Command> commands;
    core::Lane copies{lane.device, {}};
    for (core::Command &command : lane.commands) {
      for (uint32_t i = 0; command.kind == core::CommandKind::Dispatch && i < 2; ++i) {
        uint32_t &operand = entry.operands[command.firstOperand + i];
        core::Buffer there = entry.buffers[operand];
        if (there.device == lane.device) continue;
        there.device = lane.device;
        uint32_t made = uint32_t(entry.buffers.size()), from = std::exchange(operand, made);
        if (there.kind != core::BufferKind::Input) {
          there.offset = entry.arenaSize;
          entry.arenaSize += (there.size + 63) / 64 * 64;
          core::Command copy{};
          copy.kind = core::CommandKind::Copy;
          copy.firstOperand = uint32_t(entry.operands.size());
          copy.operandCount = 2;
          entry.operands.insert(entry.operands.end(), {from, made});
          if (copiesBeside) {
            uint32_t asked = entry.eventCount++, copied = entry.eventCount++;
            commands.push_back(event(core::CommandKind::Record, asked));
            commands.push_back(event(core::CommandKind::Wait, copied));
            copies.commands.push_back(event(core::CommandKind::Wait, asked));
            copies.commands.push_back(copy);
            copies.commands.push_back(event(core::CommandKind::Record, copied));
          } else {
            commands.push_back(copy);
          }
        }
        entry.buffers.push_back(there);
      }
      commands.push_back(command);
    }
    lane.commands = std::move(commands);
    if (!copies.commands.empty()) beside.push_back(std::move(copies));
  }
  entry.lanes.insert(entry.lanes.end(), beside.begin(), beside.end());
  entry.moreArenas.assign(devices - 1, entry.arenaSize);
  return graph;
}

TEST(ThreadShares, DividesThreadsAsEvenlyAsCanBe) {
  for (uint32_t threads = 1; threads < 20; ++threads)
    for (uint32_t count = 1; count < 8; ++count) {
      core::ThreadShares shares{threads, count};
      uint32_t sum = 0, next = 0;
      for (uint32_t share = 0; share < count; ++share) {
        ASSERT_GE(shares.threadsOf(share), 1u);
        ASSERT_LE(shares.threadsOf(share), shares.threadsOf(0));
        ASSERT_GE(shares.threadsOf(share) + 1, shares.threadsOf(0));
        ASSERT_LE(shares.firstOf(share) + shares.threadsOf(share), threads);
        if (threads >= count) {
          ASSERT_EQ(shares.firstOf(share), next);
          next += shares.threadsOf(share);
        }
        sum += shares.threadsOf(share);
      }
      ASSERT_EQ(sum, std::max(threads, count));
      // The thread of the caller is one of the first's.
      ASSERT_TRUE(shares.has(0, 0));
    }
}

TEST(CpuDevices, GraphsHaveTheResultsOfOne) {
  // Over links, too, which no thread waits for.
  for (bool links : {false, true})
    for (uint32_t devices : {2u, 3u})
      for (int threads : {1, 2, 3, 5}) {
        Pool pool(threads);
        for (uint32_t number = 0; number < 8; ++number) {
          RandomGraph graph = overDevices(number, devices, links && number % 2);
          LoadOptions options;
          for (uint32_t other = 1; links && other < devices; ++other)
            options.links.push_back("cpu:0-cpu:" + std::to_string(other) + "=1us,10GB/s" + (other % 2 ? "" : ",half"));
          Package package = graph.package.load(options);
          Context context(package, {&pool, nullptr, 0});
          Words in(kWidth), out(kWidth);
          for (uint32_t round = 0; round < 20; ++round) {
            for (size_t i = 0; i < in.size(); ++i) in[i] = number + round * 1000003u + uint32_t(i);
            context.invoke({in.view()}, {out.view()});
            std::vector<uint32_t> want = graph.expected(in);
            for (size_t i = 0; i < out.size(); ++i)
              ASSERT_EQ(out[i], want[i]) << "word " << i << " of graph " << number << " on " << threads << " threads"
                                         << (links ? " over links" : "");
          }
        }
      }
}

TEST(CpuDevices, AreNamedByAnyNumbersAndMixWithOthers) {
  // Values pass through memory that both share, or are copied.
  TestPackage made;
  made.program.devices = {{"cpu"}, {"cpu", 1}, {"cpu", 2}};
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {64}), t = entry.arena(256), there = entry.arena(256), twice = entry.arena(256);
  uint32_t y = entry.output("y", {64});
  for (uint32_t buffer : {there, twice}) entry.entry.buffers[buffer].device = 1;
  entry.entry.buffers[y].device = 2;
  uint32_t copied = entry.event(), doubled = entry.event();
  entry.dispatch(0, Add, {x, x, t}, 64);
  entry.copy(0, t, there);
  entry.record(0, copied);
  entry.wait(1, copied);
  entry.dispatch(1, Add, {there, there, twice}, 64);
  entry.record(1, doubled);
  entry.wait(2, doubled);
  entry.copy(2, twice, y);
  for (uint32_t lane = 0; lane < 3; ++lane) entry.entry.lanes[lane].device = lane;
  entry.entry.moreArenas = {entry.entry.arenaSize};
  made.program.entries.push_back(entry.entry);
  for (const char *devices : {"cpu*3", "cpu:2,0,1", "cpu:7,9,1023", "cpu:0,1,null:0", "null:0,cpu:0,1", "cpu,null:0,1"})
    for (int threads : {1, 2, 4}) {
      Pool pool(threads);
      Context context(made.load(on(devices)), {&pool, nullptr, 0});
      Words in(64), out(64);
      for (uint32_t round = 0; round < 5; ++round) {
        for (size_t i = 0; i < in.size(); ++i) in[i] = round * 100 + uint32_t(i);
        context.invoke({in.view()}, {out.view()});
        for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 4 * in[i]) << devices << " on " << threads;
      }
    }
  sprig_rt_code code = SPRIG_RT_OK;
  EXPECT_EQ(errorOf([&] { made.load(on("cpu:0,1")); }, &code),
            "test: the program runs on 3 devices (cpu:0, cpu:1, cpu:2), given 2 (cpu:0, cpu:1)");
  EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
  EXPECT_EQ(errorOf([&] { made.load(on("cpu:0,1,1")); }, &code), "test: devices 'cpu:0,1,1': cpu:1 is given twice");
  EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
}

TEST(CpuDevices, HelpersOfAShareWorkForItsLanes) {
  // Four threads, two shares: large dispatches side by side.
  TestPackage made;
  made.program.devices = {{"cpu"}, {"cpu", 1}};
  EntryBuilder entry("main");
  uint32_t cycles = entry.input("cycles", {1}, SPRIG_RT_U64), y = entry.output("y", {64}), z = entry.output("z", {64});
  entry.entry.buffers[z].device = 1;
  uint32_t there = uint32_t(entry.entry.buffers.size());
  entry.entry.buffers.push_back(entry.entry.buffers[cycles]);
  entry.entry.buffers[there].device = 1;
  entry.dispatch(0, Slow, {cycles, y}, 64);
  entry.dispatch(1, Slow, {there, z}, 64);
  entry.entry.lanes[1].device = 1;
  made.program.entries.push_back(entry.entry);
  Pool pool(4);
  Context context(made.load(), {&pool, nullptr, 0});
  Array count(SPRIG_RT_U64, {1});
  count.as<uint64_t>()[0] = 20'000;
  Words first(64), second(64);
  Profile profile;
  profile.start(context);
  for (int round = 0; round < 20; ++round) {
    context.invoke({count.view()}, {first.view(), second.view()});
    for (size_t i = 0; i < 64; ++i) {
      ASSERT_EQ(first[i], uint32_t(i + 1));
      ASSERT_EQ(second[i], uint32_t(i + 1));
    }
    sprig_rt_profile_data data = profile.read();
    for (size_t i = 0; i < data.count; ++i) {
      const sprig_rt_profile_event &event = data.events[i];
      if (event.kind != SPRIG_RT_PROFILE_SLICE || event.participant == 0) continue; // the caller helps all
      EXPECT_EQ(event.participant == 1, event.lane == 0) << event.participant << " took a slice of lane " << event.lane;
    }
  }
}

} // namespace
} // namespace sprig::rt::test
