// Collectives on a lane of their own: beside the call's thread, on a thread for them or by the caller when it waits;
// the bits of one lane, and what goes wrong told as there.
#include "runtime/test/RankThreads.h"
#include "runtime/test/TestPackage.h"
#include "sprig/rt/profile.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <latch>
#include <thread>

namespace sprig::rt::test {
namespace {

using namespace std::chrono_literals;

constexpr int kAlways = 1, kNever = -1;

TEST(RankLanes, BucketsComeBackAsFromOneLane) {
  for (uint32_t ranks = 2; ranks <= 4; ++ranks)
    for (int collectiveThreads : {kNever, 0, kAlways})
      for (int poolThreads : {1, 2})
        for (int64_t n : {0, 1, 5, 4099}) {
          constexpr uint32_t buckets = 3;
          Package package = bucketPackage(ranks, n, buckets).load();
          onRanks(ranks, collectiveThreads, [&](uint32_t rank, const Group &group) {
            Pool pool(poolThreads);
            Context context(package, {&pool, nullptr, 0});
            context.join(group);
            Words x(size_t(n), 0), out[] = { Words(size_t(n)), Words(size_t(n)), Words(size_t(n)) };
            for (uint32_t call = 0; call < 20; ++call) {
              // Now one rank comes late, now another.
              if (call % ranks == rank) std::this_thread::sleep_for(std::chrono::microseconds(call * 20));
              for (size_t i = 0; i < x.size(); ++i) x[i] = uint32_t(i + call) * (rank + 1);
              context.invoke({x.view()}, {out[0].view(), out[1].view(), out[2].view()});
              sprig_rt_group_times times = group.times();
              ASSERT_EQ(times.collectives, buckets * (call + 1));
              // Without a thread for them the call does nothing else meanwhile.
              if (collectiveThreads == kNever) ASSERT_EQ(times.exposed_ns, times.ns);
              for (uint32_t k = 0; k < buckets; ++k)
                for (size_t i = 0; i < x.size(); ++i)
                  ASSERT_EQ(out[k][i], (k + 2) * uint32_t(i + call) * (ranks * (ranks + 1) / 2))
                      << "bucket " << k << " of " << n << " at " << i << ", call " << call;
            }
          });
        }
}

// Sums of which each rank gets its part, and wholes that are gathered of what was made of the parts, several tensors
// together, beside what makes the next ones.
TEST(RankLanes, HalvesComeBackAsFromOneLane) {
  for (uint32_t ranks = 2; ranks <= 4; ++ranks)
    for (int collectiveThreads : {kNever, 0, kAlways})
      for (int64_t n : {int64_t(ranks), int64_t(ranks) * 1031}) {
        Package package = halvesPackage(ranks, n).load();
        onRanks(ranks, collectiveThreads, [&](uint32_t rank, const Group &group) {
          Pool pool(1);
          Context context(package, {&pool, nullptr, 0});
          context.join(group);
          Words x(size_t(n), 0), out[] = { Words(size_t(n)), Words(size_t(n)), Words(size_t(n)) };
          int64_t part = n / ranks;
          for (uint32_t call = 0; call < 20; ++call) {
            if (call % ranks == rank) std::this_thread::sleep_for(std::chrono::microseconds(call * 20));
            for (size_t i = 0; i < x.size(); ++i) x[i] = uint32_t(i + call) * (rank + 1);
            context.invoke({x.view()}, {out[0].view(), out[1].view(), out[2].view()});
            ASSERT_EQ(group.times().collectives, 4 * (call + 1));
            for (uint32_t k = 0; k < 3; ++k)
              for (size_t i = 0; i < x.size(); ++i) {
                uint32_t factor = (k ? 3 : 2) * (ranks * (ranks + 1) / 2) + uint32_t(int64_t(i) / part) + 1;
                ASSERT_EQ(out[k][i], factor * uint32_t(i + call)) << "output " << k << " of " << n << " at " << i;
              }
          }
        });
      }
}

// Some on the call's own lane, others on the one beside it, in one order: 2 x beside, 4 x here, 6 x beside again.
TEST(RankLanes, CollectivesOfTwoLanesKeepOneOrder) {
  TestPackage package;
  EntryBuilder entry("order");
  uint32_t x = entry.input("x", {5}), parts[3], outs[3], made[3], back[3];
  for (int k = 0; k < 3; ++k) {
    parts[k] = entry.arena(20);
    outs[k] = entry.output("out" + std::to_string(k), {5});
    made[k] = entry.event();
    back[k] = entry.event();
  }
  uint32_t two = entry.arena(20);
  entry.dispatch(0, Add, {x, x, two}, 5, 5);
  entry.copy(0, two, parts[0]);
  entry.record(0, made[0]);
  entry.dispatch(0, Add, {two, two, parts[1]}, 5, 5);
  entry.wait(0, back[0]);
  entry.collective(0, {parts[1]});
  entry.record(0, made[1]);
  entry.copy(0, parts[1], outs[1]);
  entry.dispatch(0, Add, {two, x, parts[2]}, 5, 5);
  entry.record(0, made[2]);
  entry.wait(0, back[2]);
  entry.copy(0, parts[0], outs[0]);
  entry.copy(0, parts[2], outs[2]);
  for (int k : {0, 2}) {
    entry.wait(1, made[k]);
    entry.collective(1, {parts[k]});
    entry.record(1, back[k]);
  }
  entry.record(1, back[1]);
  entry.entry.ranks = 3;
  package.program.entries.push_back(entry.entry);
  Package loaded = package.load();
  for (int collectiveThreads : {kNever, kAlways})
    onRanks(3, collectiveThreads, [&](uint32_t rank, const Group &group) {
      Context context(loaded);
      context.join(group);
      Words x(5, rank + 1), out[] = {Words(5), Words(5), Words(5)};
      for (int call = 0; call < 50; ++call) {
        context.invoke({x.view()}, {out[0].view(), out[1].view(), out[2].view()});
        ASSERT_EQ(out[0][4], 12u);
        ASSERT_EQ(out[1][4], 24u);
        ASSERT_EQ(out[2][4], 18u);
      }
    });
}

// The sum of one bucket while lane 0 is busy for as many cycles as an input says.
TestPackage besidePackage() {
  TestPackage package;
  EntryBuilder entry("beside");
  uint32_t x = entry.input("x", {4}), cycles = entry.input("cycles", {1}, SPRIG_RT_U64);
  uint32_t out = entry.output("out", {4}), t = entry.arena(16), slow = entry.arena(16);
  uint32_t made = entry.event(), back = entry.event();
  entry.dispatch(0, Add, {x, x, t}, 4, 4);
  entry.record(0, made);
  entry.dispatch(0, Slow, {cycles, slow}, 1, 1);
  entry.wait(0, back);
  entry.copy(0, t, out);
  entry.wait(1, made);
  entry.collective(1, {t});
  entry.record(1, back);
  entry.entry.ranks = 2;
  package.program.entries.push_back(entry.entry);
  return package;
}

// What the caller computes on another lane, while it waits for a collective, is no waiting.
TEST(RankLanes, WhatIsComputedMeanwhileIsNotExposed) {
  TestPackage package;
  EntryBuilder entry("meanwhile");
  uint32_t x = entry.input("x", {4}), cycles = entry.input("cycles", {1}, SPRIG_RT_U64);
  uint32_t out = entry.output("out", {4}), t = entry.arena(16), slow = entry.arena(16);
  uint32_t made = entry.event(), back = entry.event(), done = entry.event();
  entry.dispatch(0, Add, {x, x, t}, 4, 4);
  entry.record(0, made);
  entry.wait(0, back);
  entry.wait(0, done);
  entry.copy(0, t, out);
  entry.wait(1, made);
  entry.collective(1, {t});
  entry.record(1, back);
  entry.dispatch(2, Slow, {cycles, slow}, 1, 1);
  entry.record(2, done);
  entry.entry.ranks = 2;
  package.program.entries.push_back(entry.entry);
  Package loaded = package.load();
  onRanks(2, kAlways, [&](uint32_t rank, const Group &group) {
    Pool pool(1);
    Context context(loaded, {&pool, nullptr, 0});
    context.join(group);
    Words x(4, rank + 1), out(4, 0);
    Array cycles(SPRIG_RT_U64, {1});
    cycles.as<uint64_t>()[0] = 1 << 24;
    Profile profile;
    profile.start(context);
    auto begin = std::chrono::steady_clock::now();
    context.invoke({x.view(), cycles.view()}, {out.view()});
    auto took = uint64_t((std::chrono::steady_clock::now() - begin) / 1ns);
    profile.stop(context);
    EXPECT_EQ(out[3], 6u);
    sprig_rt_profile_data data = profile.read();
    uint64_t computed = 0;
    for (const sprig_rt_profile_event *event = data.events; event != data.events + data.count; ++event)
      if (event->kind == SPRIG_RT_PROFILE_DISPATCH && event->lane == 2) computed += event->end_ns - event->begin_ns;
    EXPECT_GT(computed, 0u);
    EXPECT_LE(group.times().exposed_ns, took - computed);
  });
}

TEST(RankLanes, ACollectiveEndsWhileTheStepGoesOn) {
  Package package = besidePackage().load();
  std::atomic<bool> wasBeside[2] = {false, false};
  onRanks(2, kAlways, [&](uint32_t rank, const Group &group) {
    Pool pool(1);
    Context context(package, {&pool, nullptr, 0});
    context.join(group);
    Words x(4, rank + 1), out(4, 0);
    Array cycles(SPRIG_RT_U64, {1});
    // A busy machine may wake the thread late: then the next one takes longer. Both ranks make the same calls.
    for (uint64_t each = 1 << 22; each < uint64_t(1) << 31; each *= 2) {
      cycles.as<uint64_t>()[0] = each;
      Profile profile;
      profile.start(context);
      context.invoke({x.view(), cycles.view()}, {out.view()});
      profile.stop(context);
      ASSERT_EQ(out[3], 6u);
      sprig_rt_profile_data data = profile.read();
      auto find = [&](int kind, uint32_t lane, uint32_t command) {
        const sprig_rt_profile_event *end = data.events + data.count;
        const sprig_rt_profile_event *found = std::find_if(data.events, end, [&](auto &event) {
          return event.kind == kind && event.lane == lane && event.command == command;
        });
        EXPECT_NE(found, end) << "kind " << kind << " in lane " << lane;
        return found;
      };
      const sprig_rt_profile_event *sum = find(SPRIG_RT_PROFILE_ALL_REDUCE, 1, 1),
                                   *slow = find(SPRIG_RT_PROFILE_DISPATCH, 0, 2);
      ASSERT_LT(sum->begin_ns, sum->end_ns);
      ASSERT_NE(sum->thread, slow->thread);
      if (sum->end_ns < slow->end_ns) wasBeside[rank] = true;
      float all[1] = {wasBeside[rank] ? 1.0f : 0.0f};
      group.allReduce(all, SPRIG_RT_MIN);
      if (all[0] == 1) break;
    }
    EXPECT_TRUE(wasBeside[rank]) << "rank " << rank << "'s all-reduce waited for the step";
  });
}

// Bucket 0 is on its way when rank 1 divides by zero; bucket 1 would be next.
TEST(RankLanes, WhatFailsBesideACollectiveIsToldToTheOthers) {
  TestPackage package;
  EntryBuilder entry("ratio");
  uint32_t a = entry.input("a", {4}), b = entry.input("b", {4}), out = entry.output("out", {4});
  uint32_t first = entry.arena(16), second = entry.arena(16);
  std::vector<uint32_t> events;
  for (int i = 0; i < 4; ++i) events.push_back(entry.event());
  entry.dispatch(0, Add, {a, a, first}, 4, 4);
  entry.record(0, events[0]);
  entry.dispatch(0, Divide, {a, b, second}, 4, 4);
  entry.record(0, events[1]);
  entry.wait(0, events[2]);
  entry.wait(0, events[3]);
  entry.dispatch(0, Add, {first, second, out}, 4, 4);
  for (uint32_t k : {0u, 1u}) {
    entry.wait(1, events[k]);
    entry.collective(1, {k ? second : first});
    entry.record(1, events[2 + k]);
  }
  entry.entry.ranks = 2;
  package.program.entries.push_back(entry.entry);
  Package loaded = package.load();
  for (int collectiveThreads : {kNever, kAlways}) {
    std::string told[2];
    onRanks(2, collectiveThreads, [&](uint32_t rank, const Group &group) {
      Context context(loaded);
      context.join(group);
      Words x(4, 6), y(4, rank ? 0 : 2), result(4, 0);
      told[rank] = messageOf([&] { context.invoke({x.view(), y.view()}, {result.view()}); });
    });
    EXPECT_EQ(told[1].find("rank 1"), std::string::npos) << told[1];
    EXPECT_NE(told[1].find("entry 'ratio': "), std::string::npos) << told[1];
    EXPECT_NE(told[1].find("division by zero"), std::string::npos) << told[1];
    EXPECT_NE(told[0].find("rank 1: entry 'ratio': "), std::string::npos) << told[0];
    EXPECT_NE(told[0].find("division by zero"), std::string::npos) << told[0];
  }
}

// Rank 1 fails in what it computes while its own collective waits for rank 0, which is somewhere else.
TEST(RankLanes, AFailureDoesNotWaitForTheCollectiveBesideIt) {
  TestPackage package;
  EntryBuilder entry("ratio");
  uint32_t a = entry.input("a", {4}), b = entry.input("b", {4}), out = entry.output("out", {4});
  uint32_t first = entry.arena(16), made = entry.event(), back = entry.event();
  entry.dispatch(0, Add, {a, a, first}, 4, 4);
  entry.record(0, made);
  entry.dispatch(0, Divide, {a, b, out}, 4, 4);
  entry.wait(0, back);
  entry.wait(1, made);
  entry.collective(1, {first});
  entry.record(1, back);
  entry.entry.ranks = 2;
  package.program.entries.push_back(entry.entry);
  Package loaded = package.load();
  std::atomic<bool> hasFailed = false;
  std::string told[2];
  onRanks(2, kAlways, [&](uint32_t rank, const Group &group) {
    Context context(loaded);
    context.join(group);
    Words x(4, 6), y(4, rank ? 0 : 2), result(4, 0);
    if (rank == 0) hasFailed.wait(false);
    told[rank] = messageOf([&] { context.invoke({x.view(), y.view()}, {result.view()}); });
    if (rank == 1) {
      hasFailed = true;
      hasFailed.notify_one();
    }
  });
  EXPECT_NE(told[1].find("division by zero"), std::string::npos) << told[1];
  EXPECT_NE(told[0].find("rank 1: entry 'ratio': "), std::string::npos) << told[0];
}

TEST(RankLanes, ARankThatDoesNotComeIsNamed) {
  Package package = bucketPackage(2, 4, 2).load();
  for (int collectiveThreads : {kNever, kAlways}) {
    auto callAs0 = [&](auto other, std::chrono::milliseconds timeout) {
      std::string told;
      onRanks(
          2, collectiveThreads,
          [&](uint32_t rank, const Group &group) {
            if (rank) return other(group);
            Context context(package);
            context.join(group);
            Words x(4, 1), one(4, 0), two(4, 0);
            told = messageOf([&] { context.invoke({x.view()}, {one.view(), two.view()}); });
          },
          timeout);
      return told;
    };
    std::string late = callAs0([](const Group &) { std::this_thread::sleep_for(200ms); }, 20ms);
    EXPECT_NE(late.find("rank 0 has waited 0.02 s for rank 1"), std::string::npos) << late;
    std::string gone = callAs0([](const Group &) {}, 60s);
    EXPECT_NE(gone.find("rank 1 has ended after 0 collectives"), std::string::npos) << gone;
    std::string failed = callAs0([](const Group &group) { group.fail(SPRIG_RT_BAD_INPUT, "no sample 7"); }, 60s);
    EXPECT_NE(failed.find("rank 1: no sample 7"), std::string::npos) << failed;
  }
}

TEST(RankLanes, RanksAtOtherTensorsAreToldSo) {
  std::vector<Package> packages;
  for (int rank = 0; rank < 2; ++rank) {
    TestPackage package = bucketPackage(2, 4, 2);
    package.program.entries[0].lanes[1].commands[4].name = rank ? "w2" : "w1";
    packages.push_back(package.load());
  }
  std::string told[2];
  onRanks(2, kAlways, [&](uint32_t rank, const Group &group) {
    Context context(packages[rank]);
    context.join(group);
    Words x(4, 1), one(4, 0), two(4, 0);
    told[rank] = messageOf([&] { context.invoke({x.view()}, {one.view(), two.view()}); });
  });
  for (const std::string &text : told) EXPECT_NE(text.find("of other tensors"), std::string::npos) << text;
}

TEST(RankLanes, ACancelledRunEndsTheOthers) {
  Package package = bucketPackage(2, 4, 2).load();
  for (int collectiveThreads : {kNever, kAlways}) {
    std::string told;
    std::latch isTold(1);
    onRanks(2, collectiveThreads, [&](uint32_t rank, const Group &group) {
      if (rank) return isTold.wait(); // never comes, and is there
      Context context(package);
      context.join(group);
      Words x(4, 1), one(4, 0), two(4, 0);
      Future future = context.submit({x.view()}, {one.view(), two.view()});
      std::this_thread::sleep_for(10ms);
      future.cancel();
      told = messageOf([&] { future.wait(); });
      isTold.count_down();
    });
    EXPECT_NE(told.find("cancelled"), std::string::npos) << told;
  }
}

// A context whose group has failed is of use again with another one, and its thread goes on.
TEST(RankLanes, AContextGoesOnWithAnotherGroup) {
  Package package = bucketPackage(2, 4, 2).load();
  std::vector<Group> failed = Group::threads(2, 1min, kAlways), whole = Group::threads(2, 1min, kAlways);
  failed[0].fail(SPRIG_RT_BAD_INPUT, "no sample 7");
  auto body = [&](uint32_t rank) {
    Context context(package);
    Words x(4, rank + 1), one(4, 0), two(4, 0);
    auto invoke = [&] { context.invoke({x.view()}, {one.view(), two.view()}); };
    context.join(failed[rank]);
    std::string told = messageOf(invoke);
    EXPECT_NE(told.find("no sample 7"), std::string::npos) << told;
    context.join(whole[rank]);
    EXPECT_EQ(messageOf(invoke), "no error");
    EXPECT_EQ(one[0], 6u);
    EXPECT_EQ(two[0], 9u);
  };
  std::thread other(body, 1);
  body(0);
  other.join();
}

} // namespace
} // namespace sprig::rt::test
