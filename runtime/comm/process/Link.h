// How messages go between this rank and one other: what an engine (shared memory, Gloo, MPI) has for each of them.
//
// Of the rank's thread alone, but for interrupt(). What cannot be done is thrown (std::exception): the connection is of
// no more use then. Memory that is sent stays as it is until the message is out, or is dropped.
#ifndef SPRIG_RUNTIME_COMM_PROCESS_LINK_H
#define SPRIG_RUNTIME_COMM_PROCESS_LINK_H

#include "runtime/comm/Transport.h"
#include "runtime/comm/process/MessageHeader.h"

#include <chrono>
#include <memory>

namespace sprig::rt::comm {

// What a rank waits for at a link.
struct Goal {
  enum class Kind : uint8_t {
    room, // for one more message
    out,  // the memory of the message of that number, and of all before it, is free
    part, // of the next message, whose stretches are expected to be of so many bytes together
    done, // all is on its way, and comes even if this rank makes no more calls
  };
  Kind kind;
  uint64_t number = 0;
  size_t bytes = 0;
};

// Bytes of a message, in their order; the first part has the header.
struct Part {
  const MessageHeader *header = nullptr;
  std::span<const Bytes> stretches;
  bool isLast = true;
};

class Link {
public:
  virtual ~Link() = default;

  // In which what a rank has sent before it left comes.
  virtual std::chrono::nanoseconds lastWords() const { return std::chrono::seconds(2); }
  // Whether messages travel only while a core is at it.
  virtual bool needsCore() const { return false; }
  // Looks for a moment, and does not sleep.
  virtual bool look(const Goal &) { return false; }
  // Until it is reached, so long has passed or somebody interrupts, also just before; says whether it is reached.
  virtual bool wait(const Goal &goal, std::chrono::nanoseconds most) = 0;
  // Whoever waits, or waits next. From any thread.
  virtual void interrupt() = 0;

  // The next part is of a message of so many bytes, and may come from now on.
  virtual void expect(size_t) {}
  // Whether it does anything.
  virtual bool expects() const { return false; }
  // After `room`. Returns the number of the message; the first is 1.
  virtual uint64_t send(const MessageHeader &header, std::span<const Bytes> stretches) = 0;
  // After `part`; valid until it is given back.
  virtual Part take(std::span<const size_t> sizes) = 0;
  virtual void giveBack() = 0;
  // The group has failed: what is not out yet stays where it is.
  virtual void drop() = 0;
};

class StoreClient;

// What an engine needs to make its links.
struct LinkRequest {
  int rank = 0, ranks = 1;
  StoreClient *store = nullptr; // where ranks leave their addresses
  std::chrono::nanoseconds timeout = {};
  std::string machine;        // as ProcessRanksOptions has it
  std::span<const int> peers; // whom there are links to, in order
};
using Links = std::vector<std::unique_ptr<Link>>; // one for each rank; none to itself, nor to peers of other engines

// What an engine in a library of its own has, by its name; throws what it cannot do.
using ConnectFunction = void(const LinkRequest &request, Links &links);

} // namespace sprig::rt::comm

#endif
