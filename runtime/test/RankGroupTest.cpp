// Entries of several ranks: programs whose collectives threads of this process run together, and what they are refused.
#include "runtime/comm/RankGroup.h"
#include "runtime/test/RankThreads.h"
#include "runtime/test/SumPackage.h"

#include <gtest/gtest.h>
#include <atomic>
#include <barrier>
#include <latch>
#include <thread>

namespace sprig::rt::test {
namespace {

using collective::Algorithm;
using collective::Kind;

TEST(RankGroup, ProgramsAddUpOverRanks) {
  for (uint32_t ranks = 2; ranks <= 4; ++ranks)
    for (int64_t n : {0, 1, 2, 3, 5, 7, 4099, 8191})
      for (std::optional<Algorithm> algorithm :
           {std::optional<Algorithm>(), std::optional(Algorithm::star), std::optional(Algorithm::split),
            std::optional(Algorithm::tree), std::optional(Algorithm::ring), std::optional(Algorithm::bidirectional)}) {
        Package package = sumPackage(ranks, n, comm::Reduction::sum, algorithm).load();
        onRanks(ranks, [&](uint32_t rank, const Group &group) {
          Context context(package);
          context.join(group);
          Words x(n, 0), out(n, 0);
          for (int call = 0; call < 3; ++call) {
            for (int64_t i = 0; i < n; ++i) x[i] = uint32_t(i + call) * (rank + 1);
            context.invoke({x.view()}, {out.view()});
            for (int64_t i = 0; i < n; ++i)
              ASSERT_EQ(out[i], 2 * uint32_t(i + call) * (ranks * (ranks + 1) / 2)) << "of " << n << " at " << i;
          }
        });
      }
}

// Parts of a group over its messages, in turn with the whole; which ranks they are of is in what errors say.
TEST(RankGroup, PartsOfAGroupAddUpByThemselves) {
  std::vector<std::shared_ptr<comm::RankGroup>> groups = comm::RankGroup::ofThreads({.ranks = 5});
  auto sumOf = [](comm::RankGroup &group, float own, int64_t n) {
    std::vector<float> x(size_t(n), own);
    comm::GroupTensor tensor{{x.data(), n}};
    comm::Status status = group.run({Kind::allReduce, SPRIG_RT_F32}, {&tensor, 1}, "x");
    EXPECT_TRUE(status.isOk()) << status.message();
    return x.back();
  };
  std::vector<std::string> errors(5);
  std::barrier haveSums(5); // what goes wrong in a part ends the whole group
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 5; ++rank)
    threads.emplace_back([&, rank] {
      std::shared_ptr<comm::RankGroup> whole = groups[size_t(rank)];
      std::vector<int> members = rank % 2 ? std::vector<int>{3, 1} : std::vector<int>{4, 0, 2};
      auto part = comm::RankGroup::part(whole, members, uint64_t(1 + rank % 2));
      EXPECT_EQ(members[size_t(part->rank())], rank);
      for (int64_t n : {1, 7, 9000})
        for (int call = 0; call < 4; ++call) {
          EXPECT_EQ(sumOf(*part, float(rank), n), rank % 2 ? 4 : 6);
          if (rank == 1 || rank == 3) EXPECT_EQ(sumOf(*part, 1, n), 2); // parts need not go together
          EXPECT_EQ(sumOf(*whole, float(rank), n), 10);
        }
      haveSums.arrive_and_wait();
      // Two ranks of a part at another call than the third.
      std::vector<float> x(rank == 4 ? 2 : 3);
      comm::GroupTensor tensor{{x.data(), int64_t(x.size())}};
      errors[size_t(rank)] = std::string(part->run({Kind::allReduce, SPRIG_RT_F32}, {&tensor, 1}, "y").message());
    });
  for (std::thread &thread : threads) thread.join();
  for (int rank : {0, 2, 4}) {
    const std::string &text = errors[size_t(rank)];
    EXPECT_NE(text.find("rank 4 calls all_reduce of 2 f32 (sum, tree) of ranks 4, 0 and 2"), text.npos) << text;
  }
}

TEST(RankGroup, EveryReductionIsDone) {
  for (const auto &[reduction, wanted] : {std::pair(comm::Reduction::product, 2u * 4 * 6),
                                          std::pair(comm::Reduction::min, 2u), std::pair(comm::Reduction::max, 6u)}) {
    Package package = sumPackage(3, 5, reduction).load();
    onRanks(3, [&, wanted = wanted](uint32_t rank, const Group &group) {
      Context context(package);
      context.join(group);
      Words x(5, rank + 1), out(5, 0);
      context.invoke({x.view()}, {out.view()});
      EXPECT_EQ(out[4], wanted);
    });
  }
}

TEST(RankGroup, OtherGroupsAreRefusedByName) {
  TestPackage package = sumPackage(2, 4);
  Package loaded = package.load();
  Words x(4, 1), out(4, 0);
  auto errorWith = [&](const Package &of, const Group *group) {
    Context context(of);
    if (group) context.join(*group);
    return messageOf([&] { context.invoke({x.view()}, {out.view()}); });
  };
  EXPECT_EQ(errorWith(loaded, nullptr),
            "entry 'sum' is of 2 ranks, and the context of none: sprig_rt_context_set_group");
  std::vector<Group> three = Group::threads(3), two = Group::threads(2);
  EXPECT_EQ(errorWith(loaded, &three[1]), "entry 'sum' is of 2 ranks, the context's group of 3");
  package.program.entries[0].rank = 1;
  EXPECT_EQ(errorWith(package.load(), &two[0]),
            "entry 'sum' is of 2 ranks and the program of rank 1, the context is rank 0");
  EXPECT_EQ(errorWith(package.load(on("null:0")), &two[1]),
            "entry 'sum' is of 2 ranks: collectives are for the processor alone yet, not for null:0");
}

TEST(RankGroup, DescribesEntries) {
  TestPackage package = sumPackage(2, 4);
  package.program.entries[0].rank = 1;
  package.program.entries[0].samplesOfRanks = 7;
  sprig_rt_ranks_info ranks = package.load().ranks(0);
  EXPECT_EQ(ranks.ranks, 2u);
  EXPECT_EQ(ranks.rank, 1);
  EXPECT_EQ(ranks.samples, 7u);
  EXPECT_EQ(addPackage(3).load().ranks(0).ranks, 1u);
  sprig_rt_ranks_info unset = {};
  sprig_rt_status *status = sprig_rt_package_entry_ranks(package.load().raw(), 0, &unset);
  EXPECT_EQ(sprig_rt_status_code(status), SPRIG_RT_INVALID_ARGUMENT);
  sprig_rt_status_free(status);
  std::vector<Group> groups = Group::threads(1);
  EXPECT_EQ(groups[0].times().collectives, 0u);
  EXPECT_FALSE(sprig_rt_group_has_core_beside(groups[0].raw(), 1 << 20));
  EXPECT_TRUE(sprig_rt_group_has_core_beside(Group::threads(1, std::chrono::minutes(1), 1)[0].raw(), 1 << 20));
  sprig_rt_group_times untold = {};
  status = sprig_rt_group_get_times(groups[0].raw(), &untold);
  EXPECT_EQ(sprig_rt_status_code(status), SPRIG_RT_INVALID_ARGUMENT);
  sprig_rt_status_free(status);
}

TEST(RankGroup, WhatFailsInOneRankIsToldToTheOthers) {
  // Rank 1 divides by zero in front of the all-reduce that rank 0 waits in.
  TestPackage package;
  EntryBuilder entry("ratio");
  uint32_t a = entry.input("a", {4}), b = entry.input("b", {4}), out = entry.output("out", {4});
  entry.dispatch(0, Divide, {a, b, out}, 4, 4);
  entry.collective(0, {out});
  entry.entry.ranks = 2;
  package.program.entries.push_back(entry.entry);
  Package loaded = package.load();
  std::string told[2];
  onRanks(2, [&](uint32_t rank, const Group &group) {
    Context context(loaded);
    context.join(group);
    Words x(4, 6), y(4, rank ? 0 : 2), result(4, 0);
    told[rank] = messageOf([&] { context.invoke({x.view(), y.view()}, {result.view()}); });
  });
  EXPECT_NE(told[1].find("division by zero"), std::string::npos) << told[1];
  EXPECT_NE(told[0].find("rank 1: entry 'ratio': "), std::string::npos) << told[0];
  EXPECT_NE(told[0].find("division by zero"), std::string::npos) << told[0];
}

TEST(RankGroup, RanksAtOtherTensorsAreToldSo) {
  std::vector<Package> packages;
  for (int rank = 0; rank < 2; ++rank) {
    TestPackage package = sumPackage(2, 4);
    package.program.entries[0].lanes[0].commands[1].name = rank ? "w2" : "w1";
    packages.push_back(package.load());
  }
  std::string told[2];
  onRanks(2, [&](uint32_t rank, const Group &group) {
    Context context(packages[rank]);
    context.join(group);
    Words x(4, 1), out(4, 0);
    told[rank] = messageOf([&] { context.invoke({x.view()}, {out.view()}); });
  });
  for (const std::string &text : told) EXPECT_NE(text.find("of other tensors"), std::string::npos) << text;
}

// Each rank has a program of its own, as where a model is split: of another size, by another reduction, without a sum.
TEST(RankGroup, ProgramsOfOnePackageThatDisagreeAreToldSo) {
  std::vector<TestPackage> others = {sumPackage(2, 5), sumPackage(2, 4, comm::Reduction::max), sumPackage(2, 4)};
  auto &commands = others[2].program.entries[0].lanes[0].commands;
  commands.erase(commands.begin() + 1);
  for (size_t other = 0; other < others.size(); ++other) {
    TestPackage both = sumPackage(2, 4);
    both.program.entries.push_back(others[other].program.entries[0]);
    for (int32_t rank : {0, 1}) both.program.entries[size_t(rank)].rank = rank;
    Package package = both.load();
    std::string told[2];
    onRanks(2, [&](uint32_t rank, const Group &group) {
      Context context(package);
      context.join(group);
      Words x(rank && other == 0 ? 5 : 4, 1), out(x.size(), 0);
      told[rank] = messageOf([&] { context.invoke({x.view()}, {out.view()}, rank); });
    });
    if (other == 2) { // which has ended, and never comes
      EXPECT_EQ(told[1], "no error");
      EXPECT_NE(told[0].find("rank 1 has ended after 0 collectives"), std::string::npos) << told[0];
      continue;
    }
    for (const std::string &text : told)
      EXPECT_NE(text.find("collective 1 differs: rank 0 calls "), std::string::npos) << text;
  }
}

TEST(RankGroup, ARankThatDoesNotComeIsNamed) {
  Package package = sumPackage(2, 4).load();
  std::string late, gone, failed;
  auto callAs0 = [&](std::string &told, auto other, std::chrono::milliseconds timeout) {
    onRanks(
        2,
        [&](uint32_t rank, const Group &group) {
          if (rank) return other(group);
          Context context(package);
          context.join(group);
          Words x(4, 1), out(4, 0);
          told = messageOf([&] { context.invoke({x.view()}, {out.view()}); });
        },
        timeout);
  };
  using namespace std::chrono_literals;
  callAs0(late, [](const Group &) { std::this_thread::sleep_for(200ms); }, 20ms);
  EXPECT_NE(late.find("rank 0 has waited 0.02 s for rank 1"), std::string::npos) << late;
  callAs0(gone, [](const Group &) {}, 60s);
  EXPECT_NE(gone.find("rank 1 has ended after 0 collectives"), std::string::npos) << gone;
  callAs0(failed, [](const Group &group) { group.fail(SPRIG_RT_BAD_INPUT, "no sample 7"); }, 60s);
  EXPECT_NE(failed.find("rank 1: no sample 7"), std::string::npos) << failed;
}

TEST(RankGroup, ACancelledRunEndsTheOthers) {
  Package package = sumPackage(2, 4).load();
  std::string told;
  std::latch isTold(1);
  onRanks(2, [&](uint32_t rank, const Group &group) {
    if (rank) return isTold.wait(); // never comes, and is there
    Context context(package);
    context.join(group);
    Words x(4, 1), out(4, 0);
    Future future = context.submit({x.view()}, {out.view()});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    future.cancel();
    told = messageOf([&] { future.wait(); });
    isTold.count_down();
  });
  EXPECT_NE(told.find("cancelled"), std::string::npos) << told;
}

TEST(RankGroup, OneThreadAtATimeIsInACollective) {
  std::vector<std::shared_ptr<comm::RankGroup>> groups = comm::RankGroup::ofThreads({.ranks = 2});
  auto reduce = [&](int rank, uint32_t &word) {
    comm::GroupTensor tensor{{&word, 1}};
    return groups[size_t(rank)]->run({Kind::allReduce, SPRIG_RT_U32}, {&tensor, 1}, "w");
  };
  // Of two that begin as rank 0 one waits for rank 1, and the other is refused, whichever comes first.
  std::atomic<int> refused = 0;
  auto begin = [&] {
    uint32_t word = 1;
    core::Status told = reduce(0, word);
    if (told.isOk()) {
      EXPECT_EQ(word, 3u);
      return;
    }
    EXPECT_EQ(told.message(), "'w': rank 0 is in a collective of another thread already");
    ++refused;
    refused.notify_one();
  };
  std::thread one(begin), two(begin);
  refused.wait(0);
  uint32_t word = 2;
  EXPECT_TRUE(reduce(1, word).isOk());
  one.join();
  two.join();
  EXPECT_EQ(word, 3u);
  EXPECT_EQ(refused, 1);
}

// More than can be counted is as long as it takes.
TEST(RankGroup, TimesAreBounded) {
  Package package = sumPackage(2, 4).load();
  for (auto timeout : {std::chrono::milliseconds::max(), std::chrono::milliseconds(-5), std::chrono::milliseconds(0)})
    onRanks(
        2,
        [&](uint32_t rank, const Group &group) {
          if (rank) std::this_thread::sleep_for(std::chrono::milliseconds(20));
          Context context(package);
          context.join(group);
          Words x(4, 1), out(4, 0);
          EXPECT_EQ(messageOf([&] { context.invoke({x.view()}, {out.view()}); }), "no error");
        },
        timeout);
}

} // namespace
} // namespace sprig::rt::test
