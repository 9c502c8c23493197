// Links of set latency and rate: copies over them take no less, share them evenly, and hold up nobody who computes; on
// null devices they take exactly that by the clock.
#include "runtime/device/Wire.h"
#include "runtime/test/TestPackage.h"
#include "sprig/rt/links.hpp"
#include "sprig/rt/profile.hpp"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>

namespace sprig::rt::test {
namespace {

constexpr int64_t kLinkWords = 25'000; // 100 kB

LoadOptions over(std::vector<std::string> links, std::string devices = "") {
  LoadOptions options;
  options.device = std::move(devices);
  options.links = std::move(links);
  return options;
}

template <typename Action> double secondsTaken(Action action) {
  auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// x is copied from the first device to the second on a lane of its own, `hops` times there and back, and doubled on
// lane 1; lane 0 computes z meanwhile.
TestPackage copying(int hops = 1) {
  TestPackage made;
  made.program.devices = {{"cpu"}, {"cpu", 1}};
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {kLinkWords}), y = entry.output("y", {kLinkWords}), z = entry.output("z", {kLinkWords});
  entry.entry.buffers[y].device = 1;
  uint32_t copied = entry.event();
  entry.dispatch(0, Add, {x, x, z}, kLinkWords, kLinkWords);
  uint32_t from = x, arenas[2] = {0, 0};
  entry.entry.lanes.resize(3);
  for (int i = 0; i < hops; ++i) {
    uint32_t there = entry.arena(kLinkWords * 4), device = i % 2 ? 0 : 1;
    entry.entry.buffers[there].device = device;
    arenas[device] = there;
    entry.copy(2, from, there);
    from = there;
  }
  entry.record(2, copied);
  entry.wait(1, copied);
  entry.dispatch(1, Add, {arenas[1], arenas[1], y}, kLinkWords, kLinkWords);
  entry.entry.lanes[1].device = 1;
  entry.entry.moreArenas = {entry.entry.arenaSize};
  made.program.entries.push_back(entry.entry);
  return made;
}

TEST(Links, ACopyTakesNoLessThanItsLink) {
  TestPackage made = copying(3);
  for (int threads : {1, 2, 3}) {
    Pool pool(threads);
    Context context(made.load(over({"cpu:0-cpu:1=2ms,100MB/s"})), {&pool, nullptr, 0});
    Words in(kLinkWords), out(kLinkWords), beside(kLinkWords);
    for (uint32_t round = 0; round < 3; ++round) {
      for (size_t i = 0; i < in.size(); ++i) in[i] = round * 100 + uint32_t(i);
      // 3 times 2 ms and 100 kB at 100 MB/s.
      EXPECT_GE(secondsTaken([&] { context.invoke({in.view()}, {out.view(), beside.view()}); }), 9e-3);
      for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 2 * in[i]) << i;
      for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(beside[i], 2 * in[i]) << i;
    }
  }
}

TEST(Links, OneThreadComputesWhileACopyIsOnItsWay) {
  TestPackage made = copying();
  Pool pool(1);
  Context context(made.load(over({"cpu:0-cpu:1=100ms,1GB/s"})), {&pool, nullptr, 0});
  Words in(kLinkWords, 4), out(kLinkWords), beside(kLinkWords);
  Profile profile;
  // A machine that stops for 0.1 s at the wrong moment is no failure.
  bool inside = false;
  for (int round = 0; round < 5 && !inside; ++round) {
    profile.start(context);
    context.invoke({in.view()}, {out.view(), beside.view()});
    profile.stop(context);
    sprig_rt_profile_data data = profile.read();
    const sprig_rt_profile_event *copy = nullptr, *work = nullptr;
    for (size_t i = 0; i < data.count; ++i) {
      if (data.events[i].kind == SPRIG_RT_PROFILE_COPY) copy = &data.events[i];
      if (data.events[i].kind == SPRIG_RT_PROFILE_DISPATCH && data.events[i].lane == 0) work = &data.events[i];
    }
    ASSERT_TRUE(copy && work);
    EXPECT_EQ(copy->lane, 2u);
    EXPECT_NE(copy->thread, work->thread);
    EXPECT_GE(copy->end_ns - copy->begin_ns, 100'000'000u);
    inside = copy->begin_ns <= work->begin_ns && work->end_ns <= copy->end_ns;
  }
  EXPECT_TRUE(inside);
}

// By the wire itself: how long each of some copies took that began together, and how much later than the first the last
// one began: on a busy machine that is no microsecond.
std::vector<double> together(core::Wire &wire, std::vector<uint64_t> sizes, double *late = nullptr) {
  struct Timed : core::WiredCopy {
    std::chrono::steady_clock::time_point end;
    std::atomic<bool> done{false};
  };
  std::vector<Timed> copies(sizes.size());
  std::vector<uint8_t> from(1 << 20, 7), to(1 << 20);
  auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < sizes.size(); ++i) {
    copies[i].target = to.data();
    copies[i].source = from.data();
    copies[i].bytes = sizes[i];
    copies[i].owner = &wire;
    copies[i].arrived = [](core::WiredCopy &copy) {
      auto &own = static_cast<Timed &>(copy);
      own.end = std::chrono::steady_clock::now();
      own.done.store(true);
      own.done.notify_all();
    };
    wire.begin(copies[i]);
  }
  if (late) *late = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::vector<double> seconds;
  for (Timed &copy : copies) {
    copy.done.wait(false);
    seconds.push_back(std::chrono::duration<double>(copy.end - begin).count());
  }
  wire.forget(&wire);
  return seconds;
}

TEST(Links, CopiesThatAreOnTheirWayTogetherShareTheRate) {
  core::Wire wire(*parseLink("1ms,100MB/s"));
  ASSERT_TRUE(wire.start().isOk());
  // The short one has half of the rate while both go on: 1 ms and 2 times 1 ms, less what the second begins later; the
  // long one the rest, 4 ms in all.
  double late = 0;
  std::vector<double> seconds = together(wire, {100'000, 300'000}, &late);
  EXPECT_GE(seconds[0], std::max(2.0e-3, 2.9e-3 - late));
  EXPECT_GE(seconds[1], 5e-3);
  // Latencies take nothing from each other, and no bytes none of the rate.
  seconds = together(wire, {0, 0, 100'000});
  EXPECT_GE(seconds[0], 1e-3);
  EXPECT_GE(seconds[2], 2e-3);
  EXPECT_TRUE(together(wire, {}).empty());
}

TEST(Links, NullDevicesTakeExactlyThatByTheirClock) {
  TestPackage made = copying(3);
  for (const char *seed : {"0", "1", "7"}) {
    setenv("SPRIG_NULL_SEED", seed, 1);
    Context context(
        made.load(over({"null:0-null:1=5us,1GB/s", "host-null:0=1us,10GB/s", "null:1-host=2us,10GB/s"}, "null:0,1")));
    Words in(kLinkWords, 3), out(kLinkWords), beside(kLinkWords);
    for (int round = 0; round < 2; ++round) {
      context.invoke({in.view()}, {out.view(), beside.view()});
      EXPECT_EQ(out[kLinkWords - 1], 6u);
      // In to null:0; three times over; doubled there (100 ns, the test's commands say no cost); out from null:1.
      EXPECT_NEAR(context.lastRun().simulated_seconds, (11e3 + 3 * 105e3 + 100 + 12e3) * kNs, 1e-12);
    }
    unsetenv("SPRIG_NULL_SEED");
  }
}

TEST(Links, AreRefusedWhereTheyLeadNowhere) {
  TestPackage made = copying();
  sprig_rt_code code = SPRIG_RT_OK;
  auto refused = [&](std::vector<std::string> links, std::string devices = "") {
    return errorOf([&] { made.load(over(links, devices)); }, &code);
  };
  EXPECT_EQ(refused({"cpu:0-cpu:2=5us,1GB/s"}),
            "test: link cpu:0-cpu:2=5us,1GB/s: there is no 'cpu:2' here, only cpu:0, cpu:1");
  EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
  EXPECT_EQ(refused({"host-cpu:1=5us,1GB/s"}),
            "test: link host-cpu:1=5us,1GB/s: there is no 'host' here, only cpu:0, cpu:1");
  EXPECT_EQ(refused({"null:0-null:5=5us,1GB/s"}, "null:0,1"),
            "test: link null:0-null:5=5us,1GB/s: there is no 'null:5' here, only null:0, null:1, host");
  EXPECT_EQ(refused({"cpu:0-cpu:1=5us,1Gb/s"}),
            "test: link cpu:0-cpu:1=5us,1Gb/s: found '1Gb/s', expected a rate above "
            "0 with its unit, as 32GB/s in bytes or 100Gbit/s in bits");
  EXPECT_EQ(refused({"null:0-null:1=5us,1GB/s,half"}, "null:0,1"),
            "test: link null:0-null:1=5us,1GB/s,half: the clock of null devices has no links of half duplex; sprig "
            "simulate has");
  EXPECT_EQ(code, SPRIG_RT_UNSUPPORTED);
}

TEST(Links, OneThatNothingGoesOverIsTold) {
  TestPackage made = copying();
  made.program.devices.push_back({"cpu", 2});
  std::vector<std::string> told;
  LoadOptions options = over({"cpu:0-cpu:1=5us,1GB/s,half,1km", "cpu:1-cpu:2=5us,1GB/s"});
  options.log = [](void *user, int32_t level, const char *text) {
    if (level == SPRIG_RT_LOG_WARNING) static_cast<std::vector<std::string> *>(user)->push_back(text);
  };
  options.logUser = &told;
  made.program.entries[0].moreArenas.push_back(0);
  made.load(options);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0], "test: link cpu:1-cpu:2=5us,1GB/s: no copy of this program goes over it");
}

TEST(Links, AreReadAsTheyAreWritten) {
  GivenLink link;
  EXPECT_EQ(parseGivenLink("cpu:0-cpu:1=5us,8Gbit/s,half,10000km", link), "");
  EXPECT_EQ(link.a, "cpu:0");
  EXPECT_EQ(link.b, "cpu:1");
  EXPECT_EQ(link.rates.rate, Rate::ofBytes(1e9));
  EXPECT_TRUE(link.halfDuplex);
  EXPECT_EQ(link.latencyNs(), 50'005'000);
  std::string form = "expected A-B=LATENCY,RATE, as cpu:0-cpu:1=5us,1GB/s";
  for (const char *wrong : {"", "cpu:0", "cpu:0=5us,1GB/s", "cpu:0-cpu:1=5us", "-cpu:1=5us,1GB/s", "=5us-1GB/s"})
    EXPECT_EQ(parseGivenLink(wrong, link), form) << wrong;
  EXPECT_EQ(parseGivenLink("cpu:0-cpu:0=5us,1GB/s", link), "leads back to where it begins");
  EXPECT_EQ(parseGivenLink("a-b=5us,1GB/s,half,half", link), "half is given twice");
  EXPECT_EQ(parseGivenLink("a-b=5us,1GB/s,1km,2km", link), "a length is given twice");
  EXPECT_EQ(parseGivenLink("a-b=5us,1GB/s,full", link), "found 'full', expected half, or a length as 10000km");
}

} // namespace
} // namespace sprig::rt::test
