// Messages to and from another process by MPI. Short ones come with their header; the bytes of long ones follow from
// where they are. MPI moves them while somebody asks, so a wait asks until it is reached.
#include "runtime/comm/Futex.h"
#include "runtime/comm/RankLimits.h"
#include "runtime/comm/mpi/MpiLibrary.h"
#include "runtime/comm/mpi/MpiWorld.h"
#include "runtime/comm/process/HeaderFirst.h"

#include <deque>
#include <sched.h>
#include <thread>

namespace sprig::rt::comm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostBytes = 1 << 30; // of one message of MPI's, which counts with an int
constexpr int kHeaderTag = 1, kRestTag = 2;

class MpiLink : public Link {
public:
  MpiLink(int peer, bool spins);
  ~MpiLink() override;

  bool look(const Goal &goal) override;
  bool wait(const Goal &goal, std::chrono::nanoseconds most) override;
  void interrupt() override { isInterrupted = true; }
  uint64_t send(const MessageHeader &header, std::span<const Bytes> stretches) override;
  Part take(std::span<const size_t> sizes) override {
    return coming.take(coming.hasRest ? rest.bytes.data() : ready().bytes.data(), sizes);
  }
  void giveBack() override;
  void drop() override {
    isDropped = true;
    world.breakUp();
  }

private:
  struct Buffer {
    std::vector<std::byte> bytes;
    std::vector<MPI_Request> requests; // under way
  };
  struct Long {
    uint64_t number;
    Buffer buffer; // without bytes where the sender's own memory goes out
  };
  bool isReached(const Goal &goal);
  bool isOver(Buffer &buffer);
  void receiveHeader(Buffer &buffer);
  template <typename Begin> void begin(Buffer &buffer, std::byte *at, size_t size, Begin begin);
  Buffer &ready() { return incoming[taken % kReady]; }

  MpiWorld &world = MpiWorld::get();
  int peer;
  bool spins;
  std::vector<Buffer> incoming = std::vector<Buffer>(kReady), outgoing = std::vector<Buffer>(kDepth);
  uint64_t sent = 0, taken = 0;
  std::deque<Long> longs;
  FirstAndRest coming;
  Buffer rest; // of a long message that comes
  std::atomic<bool> isInterrupted = false;
  bool isDropped = false;
};

MpiLink::MpiLink(int peer, bool spins) : peer(peer), spins(spins) {
  for (Buffer &buffer : incoming) receiveHeader(buffer);
  for (Buffer &buffer : outgoing) buffer.bytes.resize(kFirstBytes);
}

// Of a failed group MPI may still read and write what was under way: that memory stays.
MpiLink::~MpiLink() {
  if (isDropped) {
    for (auto *list : {&incoming, &outgoing}) new std::vector<Buffer>(std::move(*list));
    new std::deque<Long>(std::move(longs));
    new Buffer(std::move(rest));
    return;
  }
  std::lock_guard lock(world.mutex);
  for (Buffer &buffer : incoming)
    for (MPI_Request &request : buffer.requests) {
      ::MPI_Cancel(&request);
      ::MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

template <typename Begin> void MpiLink::begin(Buffer &buffer, std::byte *at, size_t size, Begin begin) {
  std::lock_guard lock(world.mutex);
  for (size_t from = 0; from < size; from += kMostBytes) {
    MPI_Request &request = buffer.requests.emplace_back(MPI_REQUEST_NULL);
    checkMpi(begin(at + from, int(std::min(kMostBytes, size - from)), &request), "MPI");
  }
}

void MpiLink::receiveHeader(Buffer &buffer) {
  buffer.bytes.resize(kFirstBytes);
  begin(buffer, buffer.bytes.data(), buffer.bytes.size(), [&](void *at, int count, MPI_Request *request) {
    return ::MPI_Irecv(at, count, MPI_BYTE, peer, kHeaderTag, world.ranksOfSprig, request);
  });
}

bool MpiLink::isOver(Buffer &buffer) {
  if (buffer.requests.empty()) return true;
  int isDone = 0;
  std::lock_guard lock(world.mutex);
  checkMpi(::MPI_Testall(int(buffer.requests.size()), buffer.requests.data(), &isDone, MPI_STATUSES_IGNORE),
           "MPI_Testall");
  if (isDone) buffer.requests.clear();
  return isDone;
}

bool MpiLink::isReached(const Goal &goal) {
  switch (goal.kind) {
  case Goal::Kind::room: return isOver(outgoing[sent % kDepth]);
  case Goal::Kind::out: // what is short has been copied
    for (; !longs.empty() && longs.front().number <= goal.number; longs.pop_front())
      if (!isOver(longs.front().buffer)) return false;
    return true;
  case Goal::Kind::part: return isOver(coming.hasRest ? rest : ready());
  case Goal::Kind::done:
    for (Buffer &buffer : outgoing)
      if (!isOver(buffer)) return false;
    return true;
  }
  return false;
}

bool MpiLink::look(const Goal &goal) {
  return lookFor(spins ? kSpinMicroseconds : 0, [&] { return isReached(goal); });
}

// Nobody wakes who sleeps, so it sleeps for longer the longer it waits.
bool MpiLink::wait(const Goal &goal, std::chrono::nanoseconds most) {
  using namespace std::chrono_literals;
  auto begin = Clock::now();
  for (;;) {
    if (isReached(goal)) return true;
    auto waited = Clock::now() - begin;
    if (isInterrupted.exchange(false) || waited >= most) return false;
    if (waited < 5ms)
      ::sched_yield();
    else
      std::this_thread::sleep_for(std::clamp<Clock::duration>(waited / 100, 50us, 1ms));
  }
}

uint64_t MpiLink::send(const MessageHeader &message, std::span<const Bytes> from) {
  auto sendAs = [&](int tag) {
    return [this, tag](void *at, int count, MPI_Request *request) {
      return ::MPI_Isend(at, count, MPI_BYTE, peer, tag, world.ranksOfSprig, request);
    };
  };
  Buffer &buffer = outgoing[sent % kDepth];
  begin(buffer, buffer.bytes.data(), writeFirst(message, from, buffer.bytes.data()), sendAs(kHeaderTag));
  ++sent;
  if (isShort(message)) return sent;
  Long &rest = longs.emplace_back();
  rest.number = sent;
  begin(rest.buffer, placeOfLong(message.size, from, rest.buffer.bytes), message.size, sendAs(kRestTag));
  return sent;
}

void MpiLink::giveBack() {
  if (coming.hasRest) {
    coming.hasRest = false;
    return;
  }
  receiveHeader(incoming[taken++ % kReady]);
  coming.hasRest = !isShort(coming.header);
  if (!coming.hasRest) return;
  size_t size = coming.header.size;
  if (rest.bytes.size() < size) rest.bytes.resize(size);
  begin(rest, rest.bytes.data(), size, [&](void *at, int count, MPI_Request *request) {
    return ::MPI_Irecv(at, count, MPI_BYTE, peer, kRestTag, world.ranksOfSprig, request);
  });
}

} // namespace
} // namespace sprig::rt::comm

using namespace sprig::rt::comm;

extern "C" __attribute__((visibility("default"))) const char *sprig_rt_mpi_version() { return SPRIG_RT_VERSION; }

extern "C" __attribute__((visibility("default"))) void sprig_rt_mpi_place(MpiPlace &place) {
  MpiWorld &world = MpiWorld::get();
  place = {world.rank, world.ranks, world.isOneMachine};
}

extern "C" __attribute__((visibility("default"))) void sprig_rt_mpi_tell(void *bytes, size_t size) {
  MpiWorld &world = MpiWorld::get();
  std::lock_guard lock(world.mutex);
  checkMpi(::MPI_Bcast(bytes, int(size), MPI_BYTE, 0, world.ranksOfSprig), "MPI_Bcast");
}

extern "C" __attribute__((visibility("default"))) void sprig_rt_mpi_leave(bool isWhole) {
  MpiWorld &world = MpiWorld::get();
  if (!isWhole) world.breakUp();
  std::lock_guard lock(world.mutex);
  world.end();
}

extern "C" __attribute__((visibility("default"))) void sprig_rt_mpi_connect(const LinkRequest &request, Links &links) {
  bool spins = hasCores(unsigned(request.ranks));
  for (int peer : request.peers) links[size_t(peer)] = std::make_unique<MpiLink>(peer, spins);
}
