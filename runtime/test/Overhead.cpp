// What a call costs beside its kernels: time per invoke of trivial programs, in nanoseconds.
#include "runtime/test/TestPackage.h"
#include "sprig/rt/profile.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace sprig::rt;
using namespace sprig::rt::test;

// The least of several rounds, as others use this machine too.
static double nanosecondsPer(auto action) {
  constexpr int rounds = 50, calls = 2000;
  double least = 1e30;
  for (int round = 0; round < rounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) action();
    std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count() / calls);
  }
  return least;
}

static TestPackage chain(int commands, int64_t tiles, int64_t grain) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {tiles}), y = entry.output("y", {tiles});
  for (int i = 0; i < commands; ++i) entry.dispatch(0, Add, {x, x, y}, tiles, grain);
  package.program.entries.push_back(entry.entry);
  return package;
}

// Tiles that take a stated time, whatever else the machine does: how well they spread over threads. Many commands of
// few tiles show what handing over costs. Beside another device, the processor's commands are on a lane.
static void spread(int threads, int commands, int64_t tiles, uint64_t cyclesOfTile, bool besideADevice = false) {
  TestPackage package;
  if (besideADevice) package.program.devices.push_back({"null"});
  EntryBuilder entry("main");
  uint32_t cycles = entry.input("cycles", {1}, SPRIG_RT_U64), out = entry.output("out", {tiles});
  for (int i = 0; i < commands; ++i) {
    entry.dispatch(0, Slow, {cycles, out}, tiles, 1);
    entry.entry.lanes[0].commands.back().flops = uint64_t(tiles) * cyclesOfTile * 20;
  }
  package.program.entries.push_back(entry.entry);
  Pool pool(threads);
  Context context(package.load(), {&pool, nullptr, 0});
  Array count(SPRIG_RT_U64, {1});
  count.as<uint64_t>()[0] = cyclesOfTile;
  Words result(tiles);
  std::vector<TensorView> inputs = {count.view()}, outputs = {result.view()};
  std::vector<double> all;
  for (int i = 0; i < 300; ++i) {
    auto start = std::chrono::steady_clock::now();
    context.invoke(inputs, outputs);
    all.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(all.begin(), all.end());
  std::printf("%2d commands of %2d tiles of %5d cycles, %d thread%s%s %8.1f us, median %8.1f\n", commands, int(tiles),
              int(cyclesOfTile), threads, threads == 1 ? " " : "s", besideADevice ? " beside a device" : "",
              all.front(), all[all.size() / 2]);
}

static void measure(const char *what, TestPackage package, int threads, int64_t tiles, size_t shift,
                    bool recorded = false) {
  Pool pool(threads);
  Context context(package.load(), {&pool, nullptr, 0});
  Profile profile;
  if (recorded) profile.start(context);
  Words x(size_t(tiles) + 16), y(size_t(tiles) + 16);
  sprig_rt_tensor in = {x.data() + shift, &tiles, nullptr, 1, SPRIG_RT_U32}, out = in;
  out.data = y.data() + shift;
  std::printf("%-48s %8.1f ns\n", what,
              nanosecondsPer([&] { check(sprig_rt_invoke(context.raw(), 0, &in, 1, &out, 1)); }));
}

// The same through the C++ form, which makes its descriptions with each call.
static void measureWrapper(const char *what, TestPackage package) {
  Pool pool(1);
  Context context(package.load(), {&pool, nullptr, 0});
  Words x(1), y(1);
  std::printf("%-48s %8.1f ns\n", what,
              nanosecondsPer([&] { context.invoke({TensorView(x.data(), {1})}, {TensorView(y.data(), {1})}); }));
}

int main() {
  measure("one command, one thread", chain(1, 1, 1), 1, 1, 0);
  measure("one command, a pool of two that is not needed", chain(1, 1, 1), 2, 1, 0);
  measureWrapper("one command, called from C++", chain(1, 1, 1));
  measure("ten commands", chain(10, 1, 1), 1, 1, 0);
  measure("one command, unaligned arrays", chain(1, 1, 1), 1, 1, 1);
  measure("one command of 16 tiles split over two threads", chain(1, 16, 1), 2, 16, 0);
  measure("one command, one thread, recorded", chain(1, 1, 1), 1, 1, 0, true);
  measure("ten commands, recorded", chain(10, 1, 1), 1, 1, 0, true);
  std::printf("%-48s %8.1f ns\n", "a scope while nothing is recorded",
              nanosecondsPer([] { ProfileScope scope("off"); }));
  for (int threads : {1, 2}) {
    spread(threads, 1, 64, 30000);
    spread(threads, 20, 2, 10000);
    spread(threads, 1, 64, 30000, true);
    spread(threads, 20, 2, 10000, true);
  }
  return 0;
}
