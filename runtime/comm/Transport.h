// What carries a rank's messages to others, and knows how they fare. One for each rank; threads of one process are the
// first (ThreadRanks.h).
//
// Messages between two ranks arrive in the order in which they are sent. Memory that is sent stays as it is until the
// message has been taken; whoever takes one has its bytes until it gives them back.
#ifndef SPRIG_RUNTIME_COMM_TRANSPORT_H
#define SPRIG_RUNTIME_COMM_TRANSPORT_H

#include "runtime/base/Status.h"
#include "runtime/collective/Collective.h"
#include "runtime/comm/Reduction.h"

#include <optional>

namespace sprig::rt::comm {

using core::Status;

// A collective that a rank has come to: what all ranks have to agree on, and the caller's line. Texts stay as they are
// as long as the group lives.
struct Call {
  collective::Kind kind = collective::Kind::allReduce;
  collective::Algorithm algorithm = collective::Algorithm::ring;
  Reduction reduction = Reduction::sum;
  sprig_rt_dtype dtype = SPRIG_RT_F32;
  int32_t root = 0;
  // What the next three say of the buffers is filled in by who runs the call.
  int64_t elements = 0;
  uint32_t buffers = 0;
  uint64_t layout = 0; // a hash of their shapes
  uint64_t name = 0;   // a hash of what a program calls it; 0: of no program
  // Of what a rank says about the call to come (its root's type): that one's kind. Not counted for people.
  std::optional<collective::Kind> announces = {};
  const char *file = "";
  int32_t line = 0;

  // Whether ranks that make these calls do the same; lines may differ.
  bool matches(const Call &other) const;
  // "all_reduce of 10 f32 (sum, ring) at train.cpp:12", "all_reduce of 3 buffers, 10 f32 (...)"
  std::string text() const;
};

struct Bytes {
  const std::byte *begin;
  size_t size;
};

class Transport {
public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // This rank is at its next call, which stays until end(). Fails where another rank is at another one of that number.
  virtual Status begin(const Call &call) = 0;
  virtual void end() = 0;

  // Offers a message: several stretches, whose list is copied. `number` counts the messages to the peer.
  virtual Status send(int peer, std::span<const Bytes> stretches, uint64_t &number) = 0;
  // Until the peer has taken the message of that number and all before it.
  virtual Status awaitTaken(int peer, uint64_t number) = 0;
  // The next message of the peer, when it is there.
  virtual Status take(int peer, std::span<const Bytes> &stretches) = 0;
  // Gives back what was taken last.
  virtual void giveBack(int peer) = 0;

  // The group is of no more use: whoever waits gets this error, and whoever calls it afterwards. The first one counts.
  // Returns when nobody looks at this rank's memory any more.
  virtual void fail(const Status &why) = 0;
};

} // namespace sprig::rt::comm

#endif
