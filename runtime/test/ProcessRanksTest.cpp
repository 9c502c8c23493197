// Ranks that meet by a store and talk by what carries bytes between processes. Threads stand for the processes here:
// each has a transport of its own.
#include "runtime/comm/GroupHandle.h"
#include "runtime/comm/ProcessRanks.h"
#include "runtime/comm/store/PeerSockets.h"
#include "runtime/comm/store/Sockets.h"
#include "runtime/comm/store/Store.h"
#include "runtime/comm/store/StoreClient.h"
#include "runtime/test/TestPackage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/test/RankExchanges.h"

#include <barrier>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

using namespace sprig::rt::comm;
using namespace sprig::rt::collective;
using namespace sprig::rt::test;
using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;

namespace {

using Body = std::function<Status(int, Communicator &)>;

// What carries the bytes; mixed: ranks 0 and 1, 2 and 3, ... share memory, Gloo has the rest.
enum class Carrier { sharedMemory, gloo, mixed };
Carrier carrier;

class ProcessRanks : public testing::TestWithParam<Carrier> {
  void SetUp() override { carrier = GetParam(); }
};

std::vector<std::string> texts(int ranks) { return std::vector<std::string>(size_t(ranks)); }

std::unique_ptr<Store> storeOf(int ranks, std::chrono::nanoseconds heartbeat = 10s) {
  std::unique_ptr<Store> store;
  Status status = Store::start({.ranks = ranks, .secret = "s", .heartbeat = heartbeat}, store);
  EXPECT_TRUE(status.isOk()) << status.message();
  return store;
}

ProcessRanksOptions optionsOf(uint16_t port, int rank, int ranks, std::chrono::nanoseconds timeout = 60s) {
  ProcessRanksOptions options;
  options.rank = rank;
  options.ranks = ranks;
  options.port = port;
  options.secret = "s";
  options.timeout = timeout;
  options.engine = carrier == Carrier::sharedMemory ? Engine::sharedMemory
                   : carrier == Carrier::gloo       ? Engine::gloo
                                                    : Engine::automatic;
  if (carrier == Carrier::mixed) options.machine = "machine" + std::to_string(rank / 2);
  return options;
}

// A body on each of so many ranks, until all have ended; what each gave.
std::vector<std::string> onProcesses(int ranks, const Body &body, std::chrono::nanoseconds timeout = 60s) {
  std::unique_ptr<Store> store = storeOf(ranks);
  std::vector<std::string> messages = texts(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport;
      Status status = joinProcesses(optionsOf(store->port(), rank, ranks, timeout), transport);
      if (status.isOk()) {
        Communicator communicator(*transport);
        status = body(rank, communicator);
      }
      messages[size_t(rank)] = status.message();
    });
  for (std::thread &thread : threads) thread.join();
  return messages;
}

void expectResultsOfThreads(int ranks, const Exchange &exchange) {
  std::vector<Arrays> expected = resultsOfThreads(ranks, exchange), results(static_cast<size_t>(ranks));
  ASSERT_EQ(onProcesses(ranks,
                        [&](int rank, Communicator &communicator) {
                          return exchange(ranks, rank, communicator, results[size_t(rank)]);
                        }),
            texts(ranks));
  EXPECT_EQ(results, expected) << ranks << " ranks";
}

Status allReduce(Communicator &communicator, std::vector<float> &numbers, int line = 0) {
  Buffers::Buffer buffer{numbers.data(), int64_t(numbers.size())};
  Call call{Kind::allReduce, Algorithm::ring};
  call.file = line ? "train.cpp" : "";
  call.line = line;
  return communicator.run(call, {{&buffer, 1}});
}

// The thread sanitizer does not see what Gloo's own code orders.
#if !defined(SPRIG_TEST_GLOO)
INSTANTIATE_TEST_SUITE_P(, ProcessRanks, testing::Values(Carrier::sharedMemory),
                         [](const auto &) { return "SharedMemory"; });
#else
INSTANTIATE_TEST_SUITE_P(, ProcessRanks, testing::Values(Carrier::sharedMemory, Carrier::gloo, Carrier::mixed),
                         [](const auto &each) {
                           return each.param == Carrier::gloo           ? "Gloo"
                                  : each.param == Carrier::sharedMemory ? "SharedMemory"
                                                                        : "Mixed";
                         });
#endif

} // namespace

// Threads' bits are those that a program states (CommTest).
TEST_P(ProcessRanks, BitsAreThoseOfThreads) {
  for (int ranks : {1, 2, 3, 4, 5}) expectResultsOfThreads(ranks, allReduceByEachAlgorithm);
}

TEST_P(ProcessRanks, OtherCollectivesMoveWhatTheySay) { expectResultsOfThreads(3, everyOtherCollective); }

// Programs with collectives on a lane of their own, which has a thread where bytes need no core.
TEST_P(ProcessRanks, BucketsComeBackBesideTheStep) {
  constexpr int kRanks = 3;
  sprig::rt::Package package = sprig::rt::test::bucketPackage(kRanks, 5003, 2).load();
  std::unique_ptr<Store> store = storeOf(kRanks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> joined;
      Status status = joinProcesses(optionsOf(store->port(), rank, kRanks), joined);
      ASSERT_TRUE(status.isOk()) << status.message();
      std::shared_ptr<Transport> transport = std::move(joined);
      sprig_rt_group group{RankGroup::over(transport, *transport)};
      sprig::rt::Context context(package);
      sprig::rt::check(sprig_rt_context_set_group(context.raw(), &group));
      sprig::rt::test::Words x(5003, uint32_t(rank + 1)), one(5003), two(5003);
      for (int call = 0; call < 20; ++call) {
        context.invoke({x.view()}, {one.view(), two.view()});
        ASSERT_EQ(one[5002], 2u * 6);
        ASSERT_EQ(two[5002], 3u * 6);
      }
    });
  for (std::thread &thread : threads) thread.join();
}

TEST_P(ProcessRanks, DifferentCallsAreNamedOnAllRanks) {
  auto messages = onProcesses(3, [](int rank, Communicator &communicator) {
    std::vector<float> numbers(size_t(rank == 2 ? 3 : 4));
    std::vector<float> same(5);
    SPRIG_RETURN_IF_ERROR(allReduce(communicator, same, 30));
    return allReduce(communicator, numbers, rank == 2 ? 33 : 31);
  });
  EXPECT_EQ(messages[1], messages[0]);
  EXPECT_EQ(messages[2], messages[0]);
  EXPECT_THAT(messages[0], HasSubstr("collective 2 differs: rank "));
  EXPECT_THAT(messages[0], HasSubstr("rank 2 calls all_reduce of 3 f32 (sum, ring) at train.cpp:33"));
  // A long message beside a short one, which has other slots.
  messages = onProcesses(2, [](int rank, Communicator &communicator) {
    std::vector<float> numbers(rank ? 300000 : 3);
    return allReduce(communicator, numbers);
  });
  EXPECT_EQ(messages[1], messages[0]);
  EXPECT_EQ(messages[0], "collective 1 differs: rank 0 calls all_reduce of 3 f32 (sum, ring), rank 1 calls all_reduce "
                         "of 300000 f32 (sum, ring)");
}

TEST_P(ProcessRanks, WhoIsLateIsToldWithWhereAllAre) {
  auto messages = onProcesses(
      3,
      [](int rank, Communicator &communicator) {
        std::vector<float> numbers(4);
        if (rank == 1) std::this_thread::sleep_for(2s);
        return allReduce(communicator, numbers, 7);
      },
      500ms);
  EXPECT_THAT(messages, Each(messages[0]));
  EXPECT_THAT(messages[0], HasSubstr(" has waited 0.5 s for rank "));
  EXPECT_THAT(messages[0], HasSubstr("; rank 1 is in no collective, after 0; rank 2 is at its collective 1, all_reduce "
                                     "of 4 f32 (sum, ring) at train.cpp:7"));
}

TEST_P(ProcessRanks, WhoHasLeftIsNotWaitedFor) {
  auto messages = onProcesses(2, [](int rank, Communicator &communicator) {
    std::vector<float> numbers(4);
    SPRIG_RETURN_IF_ERROR(allReduce(communicator, numbers));
    return rank ? Status() : allReduce(communicator, numbers, 9);
  });
  EXPECT_EQ(messages[1], "");
  EXPECT_EQ(messages[0], "rank 0 is at all_reduce of 4 f32 (sum, ring) at train.cpp:9, rank 1 has ended after 1 "
                         "collectives");
}

TEST_P(ProcessRanks, AFailureReachesAll) {
  std::unique_ptr<Store> store = storeOf(3);
  std::barrier haveCome(3); // before one fails, as who has not come is told in joining
  std::vector<std::thread> threads;
  std::vector<std::string> messages = texts(3);
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport;
      Status status = joinProcesses(optionsOf(store->port(), rank, 3), transport);
      std::vector<float> numbers(100000);
      haveCome.arrive_and_wait();
      ASSERT_TRUE(status.isOk()) << status.message();
      Communicator communicator(*transport);
      if (rank == 1) transport->fail(Status(SPRIG_RT_BAD_INPUT, "rank 1: no such file: x.npy"));
      messages[size_t(rank)] = allReduce(communicator, numbers).message();
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_THAT(messages, Each("rank 1: no such file: x.npy"));
  int by = -1;
  EXPECT_EQ(store->failure(by).code(), SPRIG_RT_BAD_INPUT);
  EXPECT_EQ(by, 1);
}

// As a launcher that has seen a process die.
TEST_P(ProcessRanks, WhatTheLauncherKnowsReachesAll) {
  std::unique_ptr<Store> store = storeOf(2);
  std::vector<std::string> messages = texts(2);
  std::barrier haveCome(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport;
      Status status = joinProcesses(optionsOf(store->port(), rank, 2), transport);
      std::vector<float> numbers(4);
      haveCome.arrive_and_wait();
      ASSERT_TRUE(status.isOk()) << status.message();
      Communicator communicator(*transport);
      if (rank) {
        store->fail(1, Status(SPRIG_RT_CANCELLED, "rank 1 was killed by signal 9 (Killed)"));
        return;
      }
      messages[0] = allReduce(communicator, numbers).message();
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(messages[0], "rank 1 was killed by signal 9 (Killed)");
}

TEST_P(ProcessRanks, WhoDoesNotComeIsNamed) {
  std::unique_ptr<Store> store = storeOf(3);
  std::vector<std::string> messages = texts(2);
  std::vector<std::thread> threads;
  for (int rank : {0, 1})
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport;
      messages[size_t(rank)] = joinProcesses(optionsOf(store->port(), rank, 3, 300ms), transport).message();
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_THAT(messages, Each(HasSubstr("rank 2 has not come")));
}

TEST_P(ProcessRanks, RankZeroMayHaveTheStore) {
  uint16_t port = 0;
  {
    Socket socket;
    ASSERT_TRUE(Socket::listen("127.0.0.1", port, socket).isOk());
  }
  std::vector<std::string> messages = texts(2);
  std::vector<std::thread> threads;
  for (int rank : {1, 0})
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport;
      ProcessRanksOptions options = optionsOf(port, rank, 2);
      options.firstHasStore = true;
      Status status = joinProcesses(options, transport);
      std::vector<float> numbers(4, 1.f);
      if (status.isOk()) {
        Communicator communicator(*transport);
        status = allReduce(communicator, numbers);
        EXPECT_EQ(numbers[3], 2.f);
      }
      messages[size_t(rank)] = status.message();
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(messages, texts(2));
}

// What ranks share is gone with them, however they end: nothing of it has a name or is open once they have joined.
TEST(SharedMemory, LeavesNothingOpen) {
  carrier = Carrier::sharedMemory;
  std::unique_ptr<Store> store = storeOf(3);
  std::barrier haveCome(3), haveLooked(3);
  std::vector<std::string> open;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport;
      Status status = joinProcesses(optionsOf(store->port(), rank, 3), transport);
      EXPECT_TRUE(status.isOk()) << status.message();
      haveCome.arrive_and_wait();
      std::error_code error;
      if (rank == 0)
        for (const auto &each : std::filesystem::directory_iterator("/proc/self/fd"))
          if (std::string at = std::filesystem::read_symlink(each, error); at.starts_with("/memfd:"))
            open.push_back(at);
      haveLooked.arrive_and_wait();
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(open, std::vector<std::string>());
}

TEST(SharedMemory, OfTwoMachinesIsRefused) {
  carrier = Carrier::sharedMemory;
  std::unique_ptr<Store> store = storeOf(2);
  std::vector<std::string> messages = texts(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport;
      ProcessRanksOptions options = optionsOf(store->port(), rank, 2);
      options.machine = "m" + std::to_string(rank);
      messages[size_t(rank)] = joinProcesses(options, transport).message();
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_THAT(messages, Each("SPRIG_TRANSPORT=shm: ranks 0 and 1 share no memory: they are on two machines, or may not "
                             "see each other"));
}

TEST(Transports, ThatDifferAreRefusedAtOnce) {
  carrier = Carrier::sharedMemory;
  std::unique_ptr<Store> store = storeOf(3);
  std::vector<std::string> messages = texts(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport;
      ProcessRanksOptions options = optionsOf(store->port(), rank, 3);
      if (rank == 2) options.engine = Engine::gloo;
      messages[size_t(rank)] = joinProcesses(options, transport).message();
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_THAT(messages, Each("SPRIG_TRANSPORT is gloo on rank 2, shm on rank 0: all ranks need the same"));
}

#if defined(SPRIG_TEST_GLOO)
// Where each thread has to wait for the core of all others, Gloo's among them.
TEST(Gloo, RanksMayShareOneCore) {
  carrier = Carrier::gloo;
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (size_t core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0); // of threads that start here, too
  expectResultsOfThreads(3, allReduceByEachAlgorithm);
  expectResultsOfThreads(3, everyOtherCollective);
  ::sched_setaffinity(0, sizeof(before), &before);
}

// The second of two ranks, as far as the store sees it.
static StoreClientOptions secondOf(const Store &store) {
  return {.rank = 1,
          .ranks = 2,
          .host = "127.0.0.1",
          .port = store.port(),
          .secret = "s",
          .place = [] { return std::string(); },
          .news = [] {}};
}

// A rank has left an address, and ends before it connects.
TEST(Gloo, AConnectionThatIsBeingMadeEndsWithTheGroup) {
  carrier = Carrier::gloo;
  std::unique_ptr<Store> store = storeOf(2);
  std::string message;
  std::jthread first([&] {
    std::unique_ptr<Transport> transport;
    message = joinProcesses(optionsOf(store->port(), 0, 2), transport).message();
  });
  std::unique_ptr<StoreClient> client;
  ASSERT_TRUE(StoreClient::connect(secondOf(*store), client).isOk());
  std::string address;
  ASSERT_TRUE(client->get("peers/0", 0, address).isOk());
  client->set("peers/1", address);
  std::this_thread::sleep_for(300ms);
  auto begin = std::chrono::steady_clock::now();
  store->fail(1, Status(SPRIG_RT_CANCELLED, "rank 1 was killed by signal 9 (Killed)"));
  first.join();
  EXPECT_EQ(message, "rank 1 was killed by signal 9 (Killed)");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

// In the middle of a message, of which Gloo says nothing to who waits for it. What stands for the second rank sends
// half of one, as Gloo does: bytes in all, kind (one with bytes), slot (of what comes first), offset, bytes, offset.
TEST(Gloo, AConnectionThatEndsInAMessageIsNoticed) {
  carrier = Carrier::gloo;
  std::unique_ptr<Store> store = storeOf(2);
  std::string message;
  std::jthread first([&] {
    std::unique_ptr<Transport> transport;
    Status status = joinProcesses(optionsOf(store->port(), 0, 2), transport);
    if (status.isOk()) {
      Communicator communicator(*transport);
      std::vector<float> numbers(4);
      status = allReduce(communicator, numbers);
    }
    message = status.message();
  });
  std::unique_ptr<StoreClient> client;
  ASSERT_TRUE(StoreClient::connect(secondOf(*store), client).isOk());
  std::vector<Socket> sockets = connectPeers(*client, 1, std::vector{0}, 2, 60s);
  std::this_thread::sleep_for(100ms);
  auto begin = std::chrono::steady_clock::now();
  for (Socket &each : sockets) {
    constexpr uint64_t kBytes = 1000, kHeader[6] = {sizeof kHeader + kBytes, 1, 1, 0, kBytes, 0};
    std::string bytes(reinterpret_cast<const char *>(kHeader), sizeof kHeader);
    EXPECT_TRUE(each.send(bytes.append(kBytes / 2, 'x')));
  }
  sockets.clear();
  first.join();
  EXPECT_THAT(message, testing::StartsWith("rank 0: the connection to rank 1 has ended: "));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}
#endif
