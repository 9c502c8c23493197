#include "runtime/comm/ThreadRanks.h"
#include "runtime/comm/RankLimits.h"
#include "runtime/comm/Futex.h"
#include "runtime/comm/StatusCopy.h"

#include <thread>

namespace sprig::rt::comm {

using Clock = std::chrono::steady_clock;

class ThreadRanks::Rank : public Transport {
public:
  Rank(ThreadRanks &group, int number) : group(group), number(number) {}
  int rank() const override { return number; }
  int ranks() const override { return group.options.ranks; }
  bool hasCoreBeside(uint32_t threads) const override {
    if (int given = group.options.collectiveThreads) return given > 0;
    return hasCores(uint64_t(group.options.ranks) * (threads + 1));
  }
  bool isWithinProcess() const override { return true; }

  Status begin(const Call &call) override;
  void end() override;
  Status send(int peer, std::span<const Bytes> stretches, uint64_t &message) override;
  Status awaitTaken(int peer, uint64_t message) override;
  Status take(int peer, std::span<const size_t> sizes, std::span<const Bytes> &stretches, bool &isLast) override;
  void giveBack(int peer) override;
  void fail(const Status &why) override { group.fail(number, why); }
  Status failure() const override { return group.failure(); }
  void leave() override { group.leave(number); }

private:
  ThreadRanks &group;
  int number;
};

ThreadRanks::ThreadRanks(const ThreadRanksOptions &given)
    : options(given), channels(size_t(given.ranks) * size_t(given.ranks)), bells(size_t(given.ranks)),
      at(size_t(given.ranks)) {
  if (options.spinMicroseconds < 0)
    options.spinMicroseconds = hasCores(unsigned(options.ranks)) ? kSpinMicroseconds : 0;
  for (int rank = 0; rank < options.ranks; ++rank) transports.push_back(std::make_unique<Rank>(*this, rank));
}

ThreadRanks::~ThreadRanks() = default;

Transport &ThreadRanks::transport(int rank) { return *transports[size_t(rank)]; }

std::vector<Status> ThreadRanks::run(const std::function<Status(Transport &)> &body) {
  std::vector<Status> ended(static_cast<size_t>(options.ranks));
  auto runRank = [&](int rank) {
    Status &status = ended[size_t(rank)];
    try {
      status = body(transport(rank));
    } catch (const std::bad_alloc &) {
      status = Status(SPRIG_RT_OUT_OF_MEMORY, core::concat("rank ", rank, ": out of memory"));
    }
    if (!status.isOk()) fail(rank, status);
    leave(rank);
  };
  std::vector<std::thread> threads;
  int started = 0;
  try {
    threads.reserve(ended.size());
    for (; started < options.ranks; ++started) threads.emplace_back(runRank, started);
  } catch (const std::exception &error) {
    Status &status = ended[size_t(started)];
    status = Status(SPRIG_RT_OUT_OF_MEMORY, core::concat("no thread for rank ", started, ": ", error.what()));
    fail(started, status);
  }
  for (std::thread &thread : threads) thread.join();
  return ended;
}

// The bell is rung before it is asked who sleeps, and whoever sleeps has said so before it looked a last time.
void ThreadRanks::ring(int rank) {
  Bell &bell = bells[size_t(rank)];
  bell.count.fetch_add(1);
  if (bell.asleep.load()) wakeAll(bell.count, Sleepers::own);
}

void ThreadRanks::ringAll() {
  for (int rank = 0; rank < options.ranks; ++rank) ring(rank);
}

template <typename Condition> Status ThreadRanks::await(int rank, int peer, Condition condition) {
  if (condition()) return {};
  auto begin = Clock::now();
  if (lookFor(options.spinMicroseconds, condition)) return {};
  auto deadline = Clock::time_point::max();
  if (options.timeout.count() && options.timeout < deadline - begin) deadline = begin + options.timeout;
  Bell &bell = bells[size_t(rank)];
  for (;;) {
    bell.asleep.store(1);
    uint32_t seen = bell.count.load();
    bool holds = condition(), hasLeft = false;
    if (!holds && isBroken) {
      bell.asleep.store(0);
      return failure();
    }
    if (!holds) {
      std::lock_guard lock(mutex);
      hasLeft = at[size_t(peer)].hasLeft;
    }
    if (!holds && !hasLeft) sleepOn(bell.count, seen, deadline, Sleepers::own);
    bell.asleep.store(0);
    // What it has sent before it left is there.
    if (holds || condition()) return {};
    if (hasLeft) {
      Status status;
      {
        std::lock_guard lock(mutex);
        status = hasEnded(rank, at[size_t(rank)], peer, at[size_t(peer)].counted);
      }
      fail(rank, status);
      return failure();
    }
    if (Clock::now() >= deadline) return timedOut(rank, peer);
  }
}

Status ThreadRanks::timedOut(int rank, int peer) {
  std::string where;
  {
    std::lock_guard lock(mutex);
    for (int each = 0; each < options.ranks; ++each) where += (each ? "; " : "") + at[size_t(each)].text(each);
  }
  fail(rank, hasWaited(rank, peer, options.timeout, where));
  return failure();
}

// What the peer sends is of another call than the one that this rank is in.
Status ThreadRanks::otherCall(int rank, int peer) {
  Status status;
  {
    std::lock_guard lock(mutex);
    status = Status(SPRIG_RT_INVALID_ARGUMENT, core::concat("collectives differ: ", at[size_t(rank)].text(rank), "; ",
                                                            at[size_t(peer)].text(peer)));
  }
  fail(rank, status);
  return failure();
}

void ThreadRanks::leave(int rank) {
  {
    std::lock_guard lock(mutex);
    at[size_t(rank)].hasLeft = true;
  }
  ringAll();
}

void ThreadRanks::fail(int rank, const Status &why) {
  {
    std::lock_guard lock(mutex);
    if (broken.isOk()) {
      broken = copyOf(why);
      brokenBy = rank;
    }
  }
  isBroken = true;
  ringAll();
  // Whoever was reading this rank's memory when the group broke ends that; nobody begins it.
  for (int to = 0; to < options.ranks; ++to)
    while (channel(rank, to).isRead) std::this_thread::yield();
}

Status ThreadRanks::failure() const {
  std::lock_guard lock(mutex);
  return copyOf(broken);
}

int ThreadRanks::failedRank() const {
  std::lock_guard lock(mutex);
  return brokenBy;
}

Status ThreadRanks::Rank::begin(const Call &call) {
  if (group.isBroken) return group.failure();
  Status mismatch;
  {
    std::lock_guard lock(group.mutex);
    Position &own = group.at[size_t(number)];
    own.enter(call);
    for (int other = 0; other < ranks(); ++other) {
      const Position &position = group.at[size_t(other)];
      if (other == number || position.number != own.number || position.call.matches(call)) continue;
      mismatch = differ(number, own, other, position);
      own.isInside = false;
      break;
    }
  }
  if (mismatch.isOk()) return {};
  fail(mismatch);
  return group.failure();
}

void ThreadRanks::Rank::end() {
  std::lock_guard lock(group.mutex);
  group.at[size_t(number)].isInside = false;
}

Status ThreadRanks::Rank::send(int peer, std::span<const Bytes> stretches, uint64_t &message) {
  Channel &to = group.channel(number, peer);
  uint64_t place = to.sent.load(std::memory_order_relaxed);
  SPRIG_RETURN_IF_ERROR(group.await(number, peer, [&] { return place - to.taken < Channel::kDepth; }));
  to.messages[place % Channel::kDepth].assign(stretches.begin(), stretches.end());
  to.calls[place % Channel::kDepth] = group.at[size_t(number)].number; // of this thread alone
  to.sent = place + 1;
  message = place + 1;
  group.ring(peer);
  return {};
}

Status ThreadRanks::Rank::awaitTaken(int peer, uint64_t message) {
  Channel &to = group.channel(number, peer);
  return group.await(number, peer, [&] { return to.taken >= message; });
}

Status ThreadRanks::Rank::take(int peer, std::span<const size_t>, std::span<const Bytes> &stretches, bool &isLast) {
  Channel &from = group.channel(peer, number);
  SPRIG_RETURN_IF_ERROR(group.await(number, peer, [&] { return from.sent > from.taken; }));
  if (from.calls[from.taken % Channel::kDepth] != group.at[size_t(number)].number) return group.otherCall(number, peer);
  // Said before it is asked whether the group is whole: the sender says that it is not, and then looks who reads.
  from.isRead = true;
  if (group.isBroken) {
    from.isRead = false;
    return group.failure();
  }
  stretches = from.messages[from.taken % Channel::kDepth];
  isLast = true;
  return {};
}

void ThreadRanks::Rank::giveBack(int peer) {
  Channel &from = group.channel(peer, number);
  from.isRead = false;
  ++from.taken;
  group.ring(peer);
}

} // namespace sprig::rt::comm
