// Where ranks that are processes meet: who is let in, what they hear of each other, and what bytes cannot do.
#include "runtime/comm/ProcessRanks.h"
#include "runtime/comm/store/Frame.h"
#include "runtime/comm/store/PeerSockets.h"
#include "runtime/comm/store/Sockets.h"
#include "runtime/comm/store/Store.h"
#include "runtime/comm/store/StoreClient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <sys/socket.h>
#include <thread>

using namespace sprig::rt::comm;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

std::unique_ptr<Store> storeOf(int ranks, std::chrono::nanoseconds heartbeat = 10s) {
  std::unique_ptr<Store> store;
  Status status = Store::start({.ranks = ranks, .secret = "s", .heartbeat = heartbeat}, store);
  EXPECT_TRUE(status.isOk()) << status.message();
  return store;
}

StoreClientOptions optionsOf(const Store &store, int rank, int ranks, std::chrono::nanoseconds timeout = 60s) {
  return {.rank = rank,
          .ranks = ranks,
          .host = "127.0.0.1",
          .port = store.port(),
          .secret = "s",
          .timeout = timeout,
          .place = [rank] { return "rank " + std::to_string(rank) + " is here"; },
          .news = [] {}};
}

std::unique_ptr<StoreClient> clientOf(const Store &store, int rank, int ranks, std::chrono::nanoseconds timeout = 60s) {
  std::unique_ptr<StoreClient> client;
  Status status = StoreClient::connect(optionsOf(store, rank, ranks, timeout), client);
  EXPECT_TRUE(status.isOk()) << status.message();
  return client;
}

template <typename Condition> bool comesTrue(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(10ms);
  return condition();
}

// What a store that is given these bytes by somebody answers before it ends the connection.
std::string answerOf(const Store &store, std::string bytes) {
  Socket socket;
  Status status = Socket::connect("127.0.0.1", store.port(), 1s, socket);
  EXPECT_TRUE(status.isOk()) << status.message();
  std::string answer;
  auto until = std::chrono::steady_clock::now() + 5s;
  while (socket.send(bytes) && socket.receive(answer) && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  Frame frame;
  bool isBad = false;
  if (!Frame::takeFrom(answer, frame, isBad)) return "";
  EXPECT_EQ(frame.kind, Frame::Kind::refused);
  return FrameFields(frame).text();
}

Frame hello(std::string_view version, std::string_view secret, uint64_t rank, uint64_t ranks) {
  return Frame(Frame::Kind::hello)
      .number(kStoreMagic)
      .number(kStoreProtocol)
      .text(version)
      .text(secret)
      .number(rank)
      .number(ranks);
}

} // namespace

TEST(Store, ValuesComeWhenTheyAreSet) {
  std::unique_ptr<Store> store = storeOf(2);
  std::unique_ptr<StoreClient> first = clientOf(*store, 0, 2), second = clientOf(*store, 1, 2);
  std::thread late([&] {
    std::this_thread::sleep_for(50ms);
    second->set("address", std::string("a\0b", 3));
  });
  std::string value;
  EXPECT_TRUE(first->get("address", 1, value).isOk());
  EXPECT_EQ(value, std::string("a\0b", 3));
  EXPECT_TRUE(first->get("address", 1, value).isOk());
  late.join();
  uint64_t collectives = 0;
  EXPECT_FALSE(first->hasLeft(1, collectives));
  second->leave(7);
  EXPECT_TRUE(comesTrue([&] { return first->hasLeft(1, collectives); }));
  EXPECT_EQ(collectives, 7u);
  second.reset();
  std::this_thread::sleep_for(700ms);
  EXPECT_FALSE(first->hasFailed()) << "who has left may go";
}

TEST(Store, AValueThatDoesNotComeSaysWhereAllAre) {
  std::unique_ptr<Store> store = storeOf(4);
  std::unique_ptr<StoreClient> first = clientOf(*store, 0, 4, 300ms), second = clientOf(*store, 1, 4),
                               third = clientOf(*store, 2, 4);
  third->leave(3);
  uint64_t collectives = 0;
  ASSERT_TRUE(comesTrue([&] { return first->hasLeft(2, collectives); }));
  std::string value;
  const char *expected = "rank 0 has waited 0.3 s for rank 3: rank 0 is here; rank 1 is here; rank 2 has ended after 3 "
                         "collectives; rank 3 has not come";
  EXPECT_EQ(first->get("address", 3, value).message(), expected);
  EXPECT_TRUE(comesTrue([&] { return second->hasFailed(); }));
  EXPECT_EQ(second->failure().message(), expected);
}

TEST(Store, TheFirstFailureCounts) {
  std::unique_ptr<Store> store = storeOf(2);
  std::unique_ptr<StoreClient> first = clientOf(*store, 0, 2), second = clientOf(*store, 1, 2);
  second->fail(Status(SPRIG_RT_BAD_INPUT, "rank 1: no such file"));
  first->fail(Status(SPRIG_RT_CANCELLED, "rank 0: something else"));
  for (StoreClient *each : {first.get(), second.get()}) {
    EXPECT_EQ(each->failure().message(), "rank 1: no such file");
    EXPECT_EQ(each->failure().code(), SPRIG_RT_BAD_INPUT);
  }
  int by = -1;
  EXPECT_EQ(store->failure(by).message(), "rank 1: no such file");
  EXPECT_EQ(by, 1);
}

TEST(Store, AStoreThatGoesIsTold) {
  std::unique_ptr<Store> store = storeOf(2);
  std::unique_ptr<StoreClient> client = clientOf(*store, 0, 2);
  store.reset();
  EXPECT_TRUE(comesTrue([&] { return client->hasFailed(); }));
  EXPECT_EQ(client->failure().message(), "the ranks' store is gone: what had started the ranks has ended");
}

TEST(Store, TheFirstRanksStoreGoesWithIt) {
  std::unique_ptr<Store> store = storeOf(2);
  StoreClientOptions options = optionsOf(*store, 1, 2);
  options.firstHasStore = true;
  std::unique_ptr<StoreClient> client;
  ASSERT_TRUE(StoreClient::connect(options, client).isOk());
  store.reset();
  EXPECT_TRUE(comesTrue([&] { return client->hasFailed(); }));
  EXPECT_EQ(client->failure().message(), "rank 0 is gone, and with it the ranks' store");
}

// A client that says hello and then nothing stands for a rank that is stopped.
TEST(Store, AStoppedRankIsFoundByItsSilence) {
  std::unique_ptr<Store> store = storeOf(2, 1s);
  Socket silent;
  ASSERT_TRUE(Socket::connect("127.0.0.1", store->port(), 1s, silent).isOk());
  std::string bytes = hello("0.1.0", "s", 1, 2).bytes();
  ASSERT_TRUE(silent.send(bytes));
  std::unique_ptr<StoreClient> client = clientOf(*store, 0, 2);
  std::string value;
  Status status = client->get("address", 1, value);
  EXPECT_EQ(status.message(),
            "rank 1 has given no sign of life for 1 s: it is stopped, or its machine cannot be reached");
}

TEST(Store, AConnectionThatEndsIsARankThatIsGone) {
  std::unique_ptr<Store> store = storeOf(2);
  {
    Socket silent;
    ASSERT_TRUE(Socket::connect("127.0.0.1", store->port(), 1s, silent).isOk());
    std::string bytes = hello("0.1.0", "s", 1, 2).bytes();
    ASSERT_TRUE(silent.send(bytes));
    std::this_thread::sleep_for(100ms);
  }
  std::unique_ptr<StoreClient> client = clientOf(*store, 0, 2);
  std::string value;
  Status status = client->get("address", 1, value);
  EXPECT_EQ(status.message(), "rank 1 is gone: its connection to the store has ended");
}

TEST(Store, RefusesByName) {
  std::unique_ptr<Store> store = storeOf(2);
  EXPECT_EQ(answerOf(*store, hello("0.0.9", "s", 0, 2).bytes()),
            "versions differ: the group is of Sprig 0.1.0, this rank of 0.0.9");
  EXPECT_EQ(answerOf(*store, hello("0.1.0", "t", 0, 2).bytes()), "this rank does not know the group's secret");
  for (const char *other : {"", "ss", "st", "sss"})
    EXPECT_EQ(answerOf(*store, hello("0.1.0", other, 0, 2).bytes()), "this rank does not know the group's secret");
  EXPECT_EQ(answerOf(*store, hello("0.1.0", "s", 0, 8).bytes()), "the group has 2 ranks, this one is rank 0 of 8");
  EXPECT_EQ(answerOf(*store, hello("0.1.0", "s", 2, 2).bytes()), "the group has 2 ranks, this one is rank 2 of 2");
  std::unique_ptr<StoreClient> client = clientOf(*store, 0, 2), second;
  EXPECT_THAT(std::string(StoreClient::connect(optionsOf(*store, 0, 2), second).message()),
              HasSubstr("rank 0 has come already"));
  int by = -1;
  EXPECT_TRUE(store->failure(by).isOk()) << "a stranger is not the group's failure";
}

// Who says nothing costs no time, and keeps nobody out for long.
TEST(Store, ManyStrangersAreBorne) {
  std::unique_ptr<Store> store = storeOf(1);
  std::vector<Socket> strangers(400);
  for (Socket &each : strangers) ASSERT_TRUE(Socket::connect("127.0.0.1", store->port(), 1s, each).isOk());
  timespec before, after;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  std::this_thread::sleep_for(500ms);
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  double seconds = double(after.tv_sec - before.tv_sec) + double(after.tv_nsec - before.tv_nsec) * 1e-9;
  EXPECT_LT(seconds, 0.1) << "the store turns around without work";
  auto begin = std::chrono::steady_clock::now();
  std::unique_ptr<StoreClient> client = clientOf(*store, 0, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 900ms) << "a rank waits for strangers";
}

// Those that come in where ranks connect with each other, too.
TEST(PeerSockets, StrangersAreLetGo) {
  std::unique_ptr<Store> store = storeOf(3);
  std::vector<std::unique_ptr<StoreClient>> clients;
  for (int rank = 0; rank < 3; ++rank) clients.push_back(clientOf(*store, rank, 3));
  std::vector<std::vector<Socket>> sockets(3);
  std::vector<std::jthread> threads;
  auto begin = [&](int rank) {
    threads.emplace_back([&, rank] {
      std::vector<int> peers;
      for (int peer = 0; peer < 3; ++peer)
        if (peer != rank) peers.push_back(peer);
      try {
        sockets[size_t(rank)] = connectPeers(*clients[size_t(rank)], rank, peers, 2, 20s);
      } catch (const std::exception &error) {
        ADD_FAILURE() << error.what();
      }
    });
  };
  begin(0);
  begin(1);
  Frame address;
  ASSERT_TRUE(clients[2]->get("peers/0", 0, address.body).isOk());
  auto port = uint16_t(FrameFields(address).number());
  std::vector<Socket> strangers(300);
  for (size_t i = 0; i < strangers.size(); ++i) {
    ASSERT_TRUE(Socket::connect("127.0.0.1", port, 1s, strangers[i]).isOk());
    constexpr linger kReset = {1, 0};
    std::string bytes = i % 3 ? std::string(i % 3 == 1 ? 1000 : 3, 'x')
                              : Frame(Frame::Kind::hello).number(0x52505053).text("?").number(2).number(0).bytes();
    if (i % 2) strangers[i].send(bytes);
    if (i % 4 > 1) {
      ::setsockopt(strangers[i].number(), SOL_SOCKET, SO_LINGER, &kReset, sizeof kReset);
      strangers[i].close();
    }
  }
  begin(2);
  threads.clear();
  for (Socket &each : strangers) {
    std::string answer;
    EXPECT_TRUE(comesTrue([&] { return !each || !each.receive(answer); })) << "a stranger is kept";
    EXPECT_EQ(answer, "");
  }
  for (int rank = 0; rank < 3; ++rank)
    for (size_t i = 0; i < sockets[size_t(rank)].size(); ++i) {
      std::string bytes = std::to_string(rank) + std::to_string(i % 2);
      EXPECT_TRUE(sockets[size_t(rank)][i].send(bytes));
    }
  for (int rank = 0; rank < 3; ++rank) {
    ASSERT_EQ(sockets[size_t(rank)].size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      int peer = int(i / 2) + (int(i / 2) >= rank);
      std::string bytes;
      while (bytes.size() < 2 && sockets[size_t(rank)][i].receive(bytes)) std::this_thread::sleep_for(1ms);
      EXPECT_EQ(bytes, std::to_string(peer) + std::to_string(i % 2));
    }
  }
}

TEST(Store, ARankWhoseProcessHasEndedIsNotWaitedFor) {
  std::unique_ptr<Store> store = storeOf(2);
  store->noteEnd(1);
  int by = -1;
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(store->failure(by).isOk()) << "nobody waits for it";
  std::unique_ptr<StoreClient> client = clientOf(*store, 0, 2);
  std::string value;
  EXPECT_EQ(client->get("address", 1, value).message(), "rank 1 has ended, and never came to the group");
  EXPECT_EQ(store->failure(by).message(), "rank 1 has ended, and never came to the group");
  EXPECT_EQ(by, 1);
}

// What is no frame, from a stranger, ends his connection alone; from a rank it is the group's failure.
TEST(Store, BytesAreCheckedBeforeUse) {
  std::unique_ptr<Store> store = storeOf(2);
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    std::string bytes(1 + random() % 200, 0);
    for (char &byte : bytes) byte = char(random());
    bytes[3] = char(0x7f); // longer than any frame
    EXPECT_EQ(answerOf(*store, bytes + std::string(8, 'x')), "");
  }
  std::string cut = hello("0.1.0", "s", 0, 2).bytes();
  for (size_t size = Frame::kHeader; size < cut.size(); size += 3) {
    // The frame's length says what is there: its fields do not.
    Frame frame(Frame::Kind::hello);
    frame.body = cut.substr(Frame::kHeader, size - Frame::kHeader);
    EXPECT_EQ(answerOf(*store, frame.bytes()), "") << size;
  }
  int by = -1;
  EXPECT_TRUE(store->failure(by).isOk());
  Socket rank;
  ASSERT_TRUE(Socket::connect("127.0.0.1", store->port(), 1s, rank).isOk());
  std::string bytes = hello("0.1.0", "s", 1, 2).bytes() + Frame(Frame::Kind::fail).number(99).bytes();
  ASSERT_TRUE(rank.send(bytes));
  for (int i = 0; i < 500 && store->failure(by).isOk(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_THAT(std::string(store->failure(by).message()), HasSubstr("rank 1 sent the store what it cannot be"));
  EXPECT_EQ(by, 1);
}

TEST(Store, APortInUseIsNamed) {
  std::unique_ptr<Store> store = storeOf(2), second;
  Status status = Store::start({.ranks = 2, .port = store->port(), .secret = "s"}, second);
  EXPECT_EQ(status.message(),
            "cannot listen at 127.0.0.1:" + std::to_string(store->port()) + ": Address already in use");
}

TEST(ProcessRanks, EnvironmentIsRead) {
  for (const char *name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) ::unsetenv(name);
  ProcessRanksOptions options;
  EXPECT_FALSE(isRankProcess());
  EXPECT_THAT(std::string(readEnvironment(options).message()), HasSubstr("RANK is not set"));
  ::setenv("RANK", "1", 1);
  EXPECT_EQ(readEnvironment(options).message(), "WORLD_SIZE is not set, beside RANK");
  ::setenv("WORLD_SIZE", "4x", 1);
  EXPECT_EQ(readEnvironment(options).message(), "WORLD_SIZE: expected a number from 1 to 1024, found '4x'");
  ::setenv("WORLD_SIZE", "1", 1);
  EXPECT_EQ(readEnvironment(options).message(), "RANK: expected a number from 0 to 0, found '1'");
  ::setenv("WORLD_SIZE", "4", 1);
  ::setenv("MASTER_PORT", "1234", 1);
  EXPECT_EQ(readEnvironment(options).message(), "");
  EXPECT_EQ(options.rank, 1);
  EXPECT_EQ(options.ranks, 4);
  EXPECT_EQ(options.port, 1234);
  EXPECT_EQ(options.host, "127.0.0.1");
  ::setenv("SPRIG_TRANSPORT", "pigeon", 1);
  EXPECT_EQ(readEnvironment(options).message(), "SPRIG_TRANSPORT: expected auto, shm, gloo or mpi, found 'pigeon'");
  ::setenv("SPRIG_TRANSPORT", "shm", 1);
  EXPECT_EQ(readEnvironment(options).message(), "");
  EXPECT_EQ(options.engine, Engine::sharedMemory);
  for (const char *name : {"RANK", "WORLD_SIZE", "MASTER_PORT", "SPRIG_TRANSPORT"}) ::unsetenv(name);
  ::setenv("SLURM_PROCID", "0", 1);
  ::setenv("SLURM_NTASKS", "2", 1);
  for (auto [nodes, first] : {std::pair("node[007-009,11],b", "node007"), {"a,b", "a"}, {"alone", "alone"}}) {
    ::setenv("SLURM_STEP_NODELIST", nodes, 1);
    EXPECT_EQ(readEnvironment(options).message(), "");
    EXPECT_EQ(options.host, first);
  }
  for (const char *name : {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NODELIST"}) ::unsetenv(name);
}
