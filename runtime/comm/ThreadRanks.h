// Threads of one process as ranks. A message is a list of pointers: whoever takes it reads the sender's memory in
// place, so a byte is moved once.
#ifndef SPRIG_RUNTIME_COMM_THREADRANKS_H
#define SPRIG_RUNTIME_COMM_THREADRANKS_H

#include "runtime/comm/Position.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace sprig::rt::comm {

struct ThreadRanksOptions {
  int ranks = 1;
  // A rank that waits for longer fails the group; zero: it waits as long as it takes.
  std::chrono::nanoseconds timeout = std::chrono::minutes(5);
  // Looks for what it waits for before it sleeps; negative: for a while if each rank may have a core for itself.
  int spinMicroseconds = -1;
  // Whether a rank's collectives may have a thread beside its own: 1 yes, -1 no, 0 where there is a core for each.
  int collectiveThreads = 0;
};

// The ranks of a group. Outlives its transports.
class ThreadRanks {
public:
  explicit ThreadRanks(const ThreadRanksOptions &options);
  ~ThreadRanks();

  int ranks() const { return options.ranks; }
  // Of one thread at a time.
  Transport &transport(int rank);

  // Runs the body on a new thread for each rank, which leaves behind it; returns when all have ended, and what each
  // gave. A rank that gives an error, or for which there is no thread, fails the group. Bodies throw std::bad_alloc
  // alone.
  std::vector<Status> run(const std::function<Status(Transport &)> &body);

  // The rank makes no more calls: whoever waits for it is told, with the reason if there is one.
  void leave(int rank);
  void fail(int rank, const Status &why);
  // Why the group is of no more use, and the rank whose fault it is; ok and -1 while it is.
  Status failure() const;
  int failedRank() const;

private:
  class Rank;
  // From one rank to another: a queue with one writer and one reader.
  struct Channel {
    static constexpr uint64_t kDepth = 16; // messages that a rank may be ahead of another; a power of two
    std::vector<Bytes> messages[kDepth];
    uint64_t calls[kDepth] = {}; // the number of the call that each is of
    alignas(64) std::atomic<uint64_t> sent = 0;
    alignas(64) std::atomic<uint64_t> taken = 0;
    std::atomic<bool> isRead = false; // the reader looks at the sender's memory
  };

  Channel &channel(int from, int to) { return channels[size_t(from) * size_t(options.ranks) + size_t(to)]; }
  void ring(int rank);
  void ringAll();
  // Until the condition holds, which the peer makes true.
  template <typename Condition> Status await(int rank, int peer, Condition condition);
  Status timedOut(int rank, int peer);
  Status otherCall(int rank, int peer);

  // Where others tell a rank that there is news.
  struct alignas(64) Bell {
    std::atomic<uint32_t> count = 0;
    std::atomic<uint32_t> asleep = 0;
  };

  ThreadRanksOptions options;
  std::vector<Channel> channels;
  std::vector<Bell> bells;
  std::vector<std::unique_ptr<Rank>> transports;
  std::atomic<bool> isBroken = false;
  mutable std::mutex mutex; // what follows
  std::vector<Position> at;
  Status broken;
  int brokenBy = -1;
};

} // namespace sprig::rt::comm

#endif
