// The clock of null devices: laws of timelines and links hold to the nanosecond, in every order of the commands.
#include "runtime/device/null/NullDevice.h"
#include "runtime/test/TestPackage.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <gtest/gtest.h>

namespace sprig::rt::test {
namespace {

// Two devices that keep time alone, and lanes on them.
class Clock {
public:
  explicit Clock(uint64_t seed = 0, std::optional<LinkRates> link = {})
      : machine(std::make_shared<core::NullMachine>(core::NullOptions{false, seed, link})) {}

  size_t lane(int device) {
    EXPECT_TRUE(devices[device].createLane(nullptr, lanes.emplace_back()).isOk());
    return lanes.size() - 1;
  }
  size_t event() {
    EXPECT_TRUE(devices[0].createEvent(events.emplace_back()).isOk());
    return events.size() - 1;
  }
  void work(size_t lane, double ns) {
    core::Command &command = commands.emplace_back();
    command.flops = uint64_t((ns - core::NullMachine::kLaunchNs) * core::NullMachine::kFlopsPerNs);
    lanes[lane]->dispatch({nullptr, nullptr, &command, nullptr, {}});
  }
  // From a device, or the host (-1), to one.
  void copy(size_t lane, int from, int to, uint64_t bytes) {
    lanes[lane]->copy(
        {nullptr, nullptr, bytes, to < 0 ? nullptr : &devices[to], from < 0 ? nullptr : &devices[from], {}});
  }
  void record(size_t lane, size_t event) { lanes[lane]->record(*events[event]); }
  void wait(size_t lane, size_t event) { lanes[lane]->wait(*events[event]); }
  // When all lanes have ended.
  double end() {
    size_t last = lane(0), done = event();
    for (size_t i = 0; i < last; ++i) {
      size_t ended = event();
      record(i, ended);
      wait(last, ended);
    }
    record(last, done);
    events[done]->synchronize(events[done]->last(), std::nullopt);
    return events[done]->seconds();
  }

private:
  std::shared_ptr<core::NullMachine> machine;
  core::NullDevice devices[2] = {{0, machine}, {1, machine}};
  std::deque<core::Command> commands;
  std::vector<std::unique_ptr<core::DeviceLane>> lanes;
  std::vector<std::unique_ptr<core::DeviceEvent>> events;
};

// Calls go through a front-end, a device and a return.
double timeline(uint64_t seed, int calls, double t1, double t2, double t3, bool readsEach) {
  Clock clock(seed);
  size_t front = clock.lane(0), compute = clock.lane(0), back = clock.lane(0);
  size_t issued = clock.event(), computed = clock.event(), read = clock.event();
  for (int call = 0; call < calls; ++call) {
    clock.work(front, t1);
    clock.record(front, issued);
    clock.wait(compute, issued);
    clock.work(compute, t2);
    clock.record(compute, computed);
    if (!readsEach && call + 1 < calls) continue;
    clock.wait(back, computed);
    clock.work(back, t3);
    clock.record(back, read);
    clock.wait(front, read);
  }
  return clock.end();
}

TEST(NullClock, CallsOverlapByTheLawOfTimelines) {
  constexpr int kCalls = 10000;
  for (auto [t1, t2, t3] : {std::array{2e3, 50e3, 5e3}, {10e3, 10e3, 10e3}, {50e3, 2e3, 5e3}, {1e3, 1e6, 1e3}})
    for (uint64_t seed : {0, 1, 7}) {
      double law = t1 + t2 + (kCalls - 1) * std::max(t1, t2) + t3;
      EXPECT_EQ(timeline(seed, kCalls, t1, t2, t3, false), law * kNs) << t1 << " " << t2 << " seed " << seed;
      if (t1 <= t2) EXPECT_EQ(law, t1 + kCalls * t2 + t3);
      EXPECT_EQ(timeline(seed, kCalls, t1, t2, t3, true), kCalls * (t1 + t2 + t3) * kNs) << t1 << " seed " << seed;
    }
}

TEST(NullClock, TwoDevicesWorkAtOnce) {
  for (uint64_t seed : {0, 1, 5}) {
    Clock clock(seed);
    size_t zero = clock.lane(0), one = clock.lane(1);
    for (int i = 0; i < 10; ++i) {
      clock.work(zero, 3000);
      clock.work(one, 4000);
    }
    EXPECT_EQ(clock.end(), 40000 * kNs);
  }
}

// y[i] is computed while y[i-1] goes to the host.
TEST(NullClock, CopiesGoOnBesideWork) {
  constexpr int kPieces = 10;
  constexpr double kWork = 3e5, kCopy = 105e3; // 100 kB at 1 GB/s and 5 us
  for (uint64_t seed : {0, 1, 5}) {
    Clock clock(seed, parseLink("5us,1GB/s"));
    size_t compute = clock.lane(0), copies = clock.lane(0);
    for (int i = 0; i < kPieces; ++i) {
      size_t computed = clock.event();
      clock.work(compute, kWork);
      clock.record(compute, computed);
      clock.wait(copies, computed);
      clock.copy(copies, 0, -1, 100'000);
    }
    EXPECT_EQ(clock.end(), (kPieces * kWork + kCopy) * kNs);
  }
}

TEST(NullClock, ALinkCostsAStartAndItsBytes) {
  auto copy = [](const char *link, int from, int to, uint64_t bytes) {
    Clock clock(0, parseLink(link));
    clock.copy(clock.lane(0), from, to, bytes);
    return clock.end();
  };
  EXPECT_EQ(copy("5us,32GB/s", -1, 0, 32'000'000), 1'005'000 * kNs);
  EXPECT_EQ(copy("5us,32GB/s", 0, 1, 32'000'000), 1'005'000 * kNs);
  EXPECT_EQ(copy("5us,256Gbit/s", 0, 1, 32'000'000), 1'005'000 * kNs);
  EXPECT_NEAR(copy("5us,32GB/s", 0, -1, 1), 5e-6, 1e-10);
  // What stays in one memory goes over no link.
  EXPECT_EQ(copy("5us,32GB/s", 0, 0, 20'000), 2100 * kNs);
  // There and back over 10000 km at 2e8 m/s.
  Clock far(0, parseLink("50ms,100Gbit/s"));
  size_t lane = far.lane(0);
  far.copy(lane, 0, 1, 0);
  far.copy(lane, 1, 0, 0);
  EXPECT_EQ(far.end(), 0.1);
}

TEST(NullClock, TheEnvironmentSaysWhatALinkIs) {
  core::NullOptions options;
  setenv("SPRIG_NULL_LINK", "5us,8Gbit/s", 1);
  EXPECT_TRUE(core::nullOptionsOfEnvironment(options).isOk());
  EXPECT_EQ(options.link->latencyNs, 5000);
  EXPECT_EQ(options.link->rate, Rate::ofBytes(1e9));
  for (const char *wrong :
       {"", "5us", "5,1GB/s", "5us,1Gb/s", "-5us,1GB/s", "nanus,1GB/s", "5us,0GB/s", "5us,1e99GB/s"}) {
    setenv("SPRIG_NULL_LINK", wrong, 1);
    EXPECT_EQ(
        core::nullOptionsOfEnvironment(options).message(),
        core::concat("SPRIG_NULL_LINK: expected a time and a rate with their units, as 5us,32GB/s, found '", wrong, "'")
            .text());
  }
  unsetenv("SPRIG_NULL_LINK");
}

// A whole package: a copy between its devices, and those of the caller's arrays.
TEST(NullClock, APackagesCopiesGoOverTheLink) {
  TestPackage made;
  made.program.devices = {{"cpu"}, {"cpu", 1}};
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {25000}), t = entry.arena(100'000), y = entry.output("y", {25000});
  for (uint32_t buffer : {t, y}) entry.entry.buffers[buffer].device = 1;
  uint32_t copied = entry.event();
  entry.copy(0, x, t);
  entry.record(0, copied);
  entry.wait(1, copied);
  entry.copy(1, t, y);
  entry.entry.lanes[1].device = 1;
  entry.entry.moreArenas = {entry.entry.arenaSize};
  entry.entry.arenaSize = 0;
  made.program.entries.push_back(entry.entry);
  setenv("SPRIG_NULL_LINK", "5us,1GB/s", 1);
  LoadOptions options;
  options.device = "null:0,1";
  Context context(made.load(options));
  Words in(25000, 3), out(25000);
  for (int round = 0; round < 2; ++round) {
    context.invoke({in.view()}, {out.view()});
    EXPECT_EQ(out[24999], 3u);
    // In, over, within (100 ns and 20 bytes a ns, read and written), out.
    EXPECT_NEAR(context.lastRun().simulated_seconds, (3 * 105e3 + 100 + 10e3) * kNs, 1e-15);
  }
  unsetenv("SPRIG_NULL_LINK");
}

// Each command is 300 us of work, each copy of an array 105 us of the link.
double resultsTake(const std::function<void(EntryBuilder &, uint32_t x, uint32_t late, uint32_t early)> &add,
                   const char *seed) {
  TestPackage made;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {25000}), late = entry.output("late", {25000}), early = entry.output("early", {25000});
  add(entry, x, late, early);
  for (core::Lane &lane : entry.entry.lanes)
    for (core::Command &command : lane.commands)
      if (command.kind == core::CommandKind::Dispatch)
        command.flops = uint64_t((3e5 - core::NullMachine::kLaunchNs) * core::NullMachine::kFlopsPerNs);
  made.program.entries.push_back(entry.entry);
  setenv("SPRIG_NULL_SEED", seed, 1);
  LoadOptions options;
  options.device = "null:0";
  options.links = {"host-null:0=5us,1GB/s"};
  Context context(made.load(options));
  unsetenv("SPRIG_NULL_SEED");
  Words in(25000, 3), first(25000), second(25000);
  double seconds = 0;
  for (int round = 0; round < 2; ++round) {
    context.invoke({in.view()}, {first.view(), second.view()});
    EXPECT_EQ(first[24999], 12u);
    EXPECT_EQ(second[24999], 6u);
    seconds = context.lastRun().simulated_seconds;
  }
  return seconds;
}

TEST(NullClock, ResultsGoBackWhileOthersAreComputed) {
  constexpr double kArray = 105e3, kWork = 3e5;
  for (const char *seed : {"0", "1", "7"}) {
    // The one that is final first goes first, whatever its number.
    auto inARow = [](EntryBuilder &entry, uint32_t x, uint32_t late, uint32_t early) {
      entry.dispatch(0, Add, {x, x, early}, 25000, 25000);
      entry.dispatch(0, Add, {early, early, late}, 25000, 25000);
    };
    EXPECT_NEAR(resultsTake(inARow, seed), (kArray + 2 * kWork + kArray) * kNs, 1e-15) << seed;
    // One that is written again is final when that is done, so both go at the end.
    auto again = [](EntryBuilder &entry, uint32_t x, uint32_t late, uint32_t early) {
      entry.dispatch(0, Add, {x, x, early}, 25000, 25000);
      entry.dispatch(0, Add, {early, early, late}, 25000, 25000);
      entry.dispatch(0, Add, {x, x, early}, 25000, 25000);
    };
    EXPECT_NEAR(resultsTake(again, seed), (kArray + 3 * kWork + kArray) * kNs, 1e-15) << seed;
    // On two lanes: what either of them writes counts.
    auto onTwoLanes = [](EntryBuilder &entry, uint32_t x, uint32_t late, uint32_t early) {
      uint32_t made = entry.event();
      entry.dispatch(0, Add, {x, x, early}, 25000, 25000);
      entry.record(0, made);
      entry.wait(1, made);
      entry.dispatch(1, Add, {early, early, late}, 25000, 25000);
    };
    EXPECT_NEAR(resultsTake(onTwoLanes, seed), (kArray + 2 * kWork + kArray) * kNs, 1e-15) << seed;
  }
}

} // namespace
} // namespace sprig::rt::test
