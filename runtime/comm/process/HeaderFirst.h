// Messages whose header goes first: the bytes of a short one come behind it, those of a long one by themselves.
// For the links of engines that have messages of their own (Gloo, MPI). Each is in a library of its own, so all is
// here.
#ifndef SPRIG_RUNTIME_COMM_PROCESS_HEADERFIRST_H
#define SPRIG_RUNTIME_COMM_PROCESS_HEADERFIRST_H

#include "runtime/comm/process/Link.h"

#include <cstring>

namespace sprig::rt::comm {

constexpr size_t kShortBytes = 8192; // that come with their header
constexpr size_t kFirstBytes = sizeof(MessageHeader) + kShortBytes;
constexpr size_t kReady = 4;  // buffers in which messages may come
constexpr size_t kDepth = 16; // messages that a rank may be ahead of another

inline bool isShort(const MessageHeader &header) { return header.size <= kShortBytes; }

inline void gather(std::span<const Bytes> stretches, std::byte *to) {
  for (const Bytes &stretch : stretches) {
    if (stretch.size) std::memcpy(to, stretch.begin, stretch.size);
    to += stretch.size;
  }
}

// What goes first, into kFirstBytes; says how many they are.
inline size_t writeFirst(const MessageHeader &header, std::span<const Bytes> stretches, std::byte *to) {
  std::memcpy(to, &header, sizeof header);
  if (!isShort(header)) return sizeof header;
  gather(stretches, to + sizeof header);
  return sizeof header + header.size;
}

// Where the bytes of a long message lie together: in the sender's memory, or gathered into `copy`. They are only read.
inline std::byte *placeOfLong(size_t size, std::span<const Bytes> stretches, std::vector<std::byte> &copy) {
  if (stretches.size() == 1) return const_cast<std::byte *>(stretches.front().begin);
  if (copy.size() < size) copy.resize(size);
  gather(stretches, copy.data());
  return copy.data();
}

// What comes from another rank: of a long message the header is a part by itself.
class FirstAndRest {
public:
  bool hasRest = false; // whether the bytes of a long message are what is taken next
  MessageHeader header; // of what is taken

  // `from` is what has come: what went first, or the rest.
  Part take(const std::byte *from, std::span<const size_t> sizes) {
    Part part;
    if (!hasRest) {
      std::memcpy(&header, from, sizeof header);
      part.header = &header;
      part.isLast = isShort(header);
      from += sizeof header;
    }
    stretches.clear();
    if (part.isLast)
      for (size_t each : sizes) {
        stretches.push_back({from, each});
        from += each;
      }
    part.stretches = stretches;
    return part;
  }

private:
  std::vector<Bytes> stretches;
};

} // namespace sprig::rt::comm

#endif
