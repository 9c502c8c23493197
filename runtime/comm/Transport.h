// What carries a rank's messages to others, and knows how they fare. One for each rank: threads of one process
// (ThreadRanks.h), or processes (ProcessRanks.h).
//
// Messages between two ranks arrive in the order in which they are sent. Memory that is sent stays as it is until the
// message has been taken; whoever takes one has its bytes until it gives them back.
#ifndef SPRIG_RUNTIME_COMM_TRANSPORT_H
#define SPRIG_RUNTIME_COMM_TRANSPORT_H

#include "runtime/base/Status.h"
#include "runtime/comm/Call.h"

#include <chrono>
#include <span>

namespace sprig::rt::comm {

using core::Status;

struct Bytes {
  const std::byte *begin;
  size_t size;
};

// How long ranks wait: what is below zero, or more than can be counted in nanoseconds, is as long as it takes, which is
// zero.
inline std::chrono::nanoseconds boundedTimeout(std::chrono::milliseconds timeout) {
  constexpr auto kLongest = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds::max());
  if (timeout.count() < 0 || timeout > kLongest) return std::chrono::nanoseconds::zero();
  return timeout;
}

class Transport {
public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  // Of a part of a group; of a whole one 0.
  virtual uint64_t partNumber() const { return 0; }
  // Whether each rank of this machine may have a thread more than so many: its messages need no core while they travel.
  virtual bool hasCoreBeside(uint32_t) const { return true; }
  // Whether all ranks are threads of one process.
  virtual bool isWithinProcess() const { return false; }

  // This rank is at its next call, which stays until end(). Fails where another rank is at another one of that number.
  virtual Status begin(const Call &call) = 0;
  virtual void end() = 0;

  // Offers a message: several stretches, whose list is copied. `number` counts the messages to the peer.
  virtual Status send(int peer, std::span<const Bytes> stretches, uint64_t &number) = 0;
  // Until the peer has taken the message of that number and all before it.
  virtual Status awaitTaken(int peer, uint64_t number) = 0;
  // A message of so many bytes is what the rank takes next of the peer: whoever has to make room for it does so now,
  // before this rank's own message is on its way. May be said again; where nobody expects(), it is left out.
  virtual bool expects(int) const { return false; }
  virtual Status expect(int, size_t) { return {}; }
  // The next message of the peer, when it is there; stretches of these sizes are expected. All of it, or the bytes that
  // are there: then it is not the last part, and after giveBack() the next is taken by the same call. Parts are cut
  // between elements; a stretch of one ends where one of the message does, or before.
  virtual Status take(int peer, std::span<const size_t> sizes, std::span<const Bytes> &stretches, bool &isLast) = 0;
  // Gives back what was taken last.
  virtual void giveBack(int peer) = 0;

  // The group is of no more use: whoever waits gets this error, and whoever calls it afterwards. The first one counts.
  // From any thread. When the rank's own call to it or to end() returns, nobody looks at its memory any more.
  virtual void fail(const Status &why) = 0;
  // Why the group is of no more use; ok while it is.
  virtual Status failure() const = 0;
  // The rank makes no more calls: whoever waits for it is told.
  virtual void leave() = 0;
};

} // namespace sprig::rt::comm

#endif
