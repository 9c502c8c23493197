// Bytes from one rank to another in memory that both have: records, each a part of a message, in a ring with one writer
// and one reader.
//
// What a reader finds is checked, since another process has written it.
#ifndef SPRIG_RUNTIME_COMM_SHM_RING_H
#define SPRIG_RUNTIME_COMM_SHM_RING_H

#include "runtime/comm/Futex.h"
#include "runtime/comm/process/Link.h"

namespace sprig::rt::comm {

// Where others tell a rank that there is news. The memory of zeros that it lies in is one that nobody has rung.
struct SharedBell {
  std::atomic<uint32_t> count;
  std::atomic<uint32_t> asleep; // how many threads have said that they look a last time

  // After the news itself, so either it is seen or the sleeper is.
  void ringSleepers() {
    if (asleep.load()) ring();
  }
  void ring() {
    count.fetch_add(1);
    wakeAll(count, Sleepers::all);
  }
};

// Small enough for a cache that both sides have, and a part is a few microseconds of copying.
constexpr size_t kRingBytes = 512 << 10, kPartBytes = 64 << 10;

struct alignas(64) RingHead {
  std::atomic<uint64_t> written;
  std::atomic<uint32_t> awaitsRoom; // the writer, who is to be told
  alignas(64) std::atomic<uint64_t> taken;
};

struct RingMemory {
  RingHead head;
  alignas(64) std::byte bytes[kRingBytes];
};

class RingWriter {
public:
  explicit RingWriter(RingMemory &memory) : memory(memory) {}

  // A part of a message, whose first has a header: some of the stretches' bytes from `from` on, which moves. Returns
  // false where there is no room, of which the reader tells then.
  bool write(const MessageHeader *header, std::span<const Bytes> stretches, size_t total, size_t &from);

private:
  RingMemory &memory;
  uint64_t written = 0, taken = 0; // as far as known
};

class RingReader {
public:
  explicit RingReader(RingMemory &memory) : memory(memory) {}

  bool hasPart() const { return memory.head.written.load() > taken; }
  // Cut where stretches of these sizes end. Throws what no rank writes.
  Part take(std::span<const size_t> sizes);
  // Rings the writer, if it waits for room.
  void giveBack(SharedBell &writer);

private:
  RingMemory &memory;
  uint64_t taken = 0, next = 0;
  size_t reached = 0; // bytes of the message
  MessageHeader header = {};
  std::vector<Bytes> stretches;
};

} // namespace sprig::rt::comm

#endif
