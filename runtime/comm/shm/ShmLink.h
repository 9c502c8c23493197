// A rank's messages to and from one other by shared memory.
#ifndef SPRIG_RUNTIME_COMM_SHM_SHMLINK_H
#define SPRIG_RUNTIME_COMM_SHM_SHMLINK_H

#include "runtime/comm/shm/ShmRank.h"

namespace sprig::rt::comm {

class ShmLink : public Link {
public:
  // What comes lies in own memory, what goes and the bell in the peer's.
  ShmLink(std::shared_ptr<ShmRank> rank, std::shared_ptr<std::byte> incoming, std::shared_ptr<std::byte> outgoing,
          std::shared_ptr<std::byte> peer);
  ~ShmLink() override { drop(); }

  std::chrono::nanoseconds lastWords() const override { return std::chrono::milliseconds(1); } // it is there
  bool needsCore() const override { return true; }
  bool look(const Goal &goal) override;
  bool wait(const Goal &goal, std::chrono::nanoseconds most) override;
  void interrupt() override { rank->interrupt(); }
  uint64_t send(const MessageHeader &header, std::span<const Bytes> stretches) override;
  Part take(std::span<const size_t> sizes) override { return reader.take(sizes); }
  void giveBack() override { reader.giveBack(peerBell()); }
  void drop() override;

  // Writes what there is room for; whether nothing is left. Under the rank's lock.
  bool pump();

private:
  static constexpr uint64_t kDepth = 16; // messages that are not out
  struct Message {
    MessageHeader header;
    std::vector<Bytes> stretches;
    size_t total = 0, from = 0;
    bool isBegun = false;
  };
  bool isReached(const Goal &goal);
  SharedBell &peerBell() const { return reinterpret_cast<ShmHead *>(peer.get())->bell; }

  std::shared_ptr<ShmRank> rank;
  std::shared_ptr<std::byte> incoming, outgoing, peer;
  RingReader reader;
  RingWriter writer;
  Message messages[kDepth]; // kept for their memory
  uint64_t sent = 0, out = 0;
};

} // namespace sprig::rt::comm

#endif
