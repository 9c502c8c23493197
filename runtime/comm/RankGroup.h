// One rank's place in a group: what the collectives of compiled programs run over.
#ifndef SPRIG_RUNTIME_COMM_RANKGROUP_H
#define SPRIG_RUNTIME_COMM_RANKGROUP_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/ProcessRanks.h"
#include "runtime/comm/ThreadRanks.h"

#include <chrono>
#include <memory>
#include <mutex>

namespace sprig::rt::comm {

// An algorithm, or for each tensor the one that `chooseAlgorithm` has for its bytes.
using GivenAlgorithm = std::optional<collective::Algorithm>;

// A collective as programs have it.
struct GroupCall {
  collective::Kind kind;
  sprig_rt_dtype dtype;
  Reduction reduction = Reduction::sum;
  GivenAlgorithm algorithm = {};
  int32_t root = 0;
};

// One of its tensors: the whole, which pieces are of, and what is beside it: this rank's part where `formOf` says that
// there is one, or what allToAll reads, whose size counts, too.
struct GroupTensor {
  Buffers::Buffer whole;
  Buffers::Buffer other = {nullptr, 0};
};

// Of one thread at a time, but for what says otherwise. The rank leaves its group when it goes.
class RankGroup {
public:
  using Clock = std::chrono::steady_clock;

  // Threads of this process as ranks; one each.
  static std::vector<std::shared_ptr<RankGroup>> ofThreads(const ThreadRanksOptions &options);
  // A rank over a transport that others have made; `owner` keeps it.
  static std::shared_ptr<RankGroup> over(std::shared_ptr<void> owner, Transport &transport);
  // Some of a group's ranks, this one among them (PartTransport.h).
  static std::shared_ptr<RankGroup> part(std::shared_ptr<RankGroup> whole, std::vector<int> members, uint64_t number);
  // This process as a rank; returns when all have come.
  static Status ofProcess(const ProcessRanksOptions &options, std::shared_ptr<RankGroup> &group);
  // The same for programs: made at the first use of these ranks, which is at one place of all their programs, and kept
  // as long as this group.
  RankGroup &partOf(const std::vector<int> &members);
  ~RankGroup();

  int rank() const { return transport.rank(); }
  int ranks() const { return transport.ranks(); }

  // Those of one algorithm travel together; `name` is what errors call it. What meets nobody may run at any time.
  Status run(const GroupCall &call, std::span<const GroupTensor> tensors, std::string_view name);
  // The same with what else is to be said of what meets others: the caller's line. Algorithm and sizes are filled in.
  // What reduce and gather make is zeros on ranks other than the root.
  Status run(Call call, GivenAlgorithm algorithm, std::span<const GroupTensor> tensors);
  // Any collective, as Communicator::run does it.
  Status run(const Call &call, const Buffers &buffers);
  // Why the group is of no more use; ok while it is.
  Status failure() const { return transport.failure(); }
  // Whether a run of so many threads may have one more for its collectives.
  bool hasCoreBeside(uint32_t threads) const { return transport.hasCoreBeside(threads); }
  // Whether its ranks are threads of one process.
  bool isWithinProcess() const { return transport.isWithinProcess(); }
  // Whoever waits for this rank is told why it does not come; from any thread.
  void fail(const Status &why);
  // The same, only where the rank is in a collective now.
  void interrupt(const Status &why);
  // While it lives the rank is in a collective of a program, or about to begin one; `isAwaited`: and nothing else.
  class Presence {
  public:
    Presence(RankGroup &group, bool isAwaited) : group(group), isAwaited(isAwaited) { group.isInside = true; }
    ~Presence();

  private:
    RankGroup &group;
    bool isAwaited;
    Clock::time_point begin = Clock::now();
  };
  // A run has waited for its collectives, and nothing else was to be done.
  void hasWaited(Clock::duration time) { exposedNs += uint64_t(time / std::chrono::nanoseconds(1)); }

  // What collectives of programs took, waiting for other ranks included, and how much of that runs waited for.
  struct Times {
    uint64_t collectives, nanoseconds, exposedNanoseconds;
  };
  Times times() const { return {collectives, totalNs, exposedNs}; }

private:
  RankGroup(std::shared_ptr<void> owner, Transport &transport);
  void copyParts(collective::Kind kind, sprig_rt_dtype dtype, std::span<const GroupTensor> tensors) const;
  Status meet(Call call, GivenAlgorithm algorithm, std::span<const GroupTensor> tensors);
  std::shared_ptr<void> owner; // of the transport
  Transport &transport;
  Communicator communicator;
  std::vector<Buffers::Buffer> together, inputs; // of a message, kept for their memory
  std::atomic<bool> isInside = false;
  std::atomic<uint64_t> collectives = 0, totalNs = 0, exposedNs = 0;
  // Of the thread whose collective is under way.
  std::atomic<bool> ownUse = false, *isUsed = &ownUse; // by parts: of the whole
  struct Turn {
    explicit Turn(RankGroup &group) : group(group), isTaken(!group.isUsed->exchange(true)) {}
    ~Turn() {
      if (isTaken) *group.isUsed = false;
    }
    RankGroup &group;
    bool isTaken;
  };
  Status isTaken() const;
  std::mutex partsMutex;
  std::vector<std::pair<std::vector<int>, std::shared_ptr<RankGroup>>> parts; // which do not own this one
};

} // namespace sprig::rt::comm

#endif
