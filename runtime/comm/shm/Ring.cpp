#include "runtime/comm/shm/Ring.h"

#include <cstring>
#include <stdexcept>

namespace sprig::rt::comm {
namespace {

// What a record begins with. Parts are cut so that elements of 16 bytes stay whole.
struct Record {
  uint32_t bytes, header; // after the header comes what fills it up to kAligned
  uint32_t isLast;
  uint32_t isSkipped; // to the end of the ring
};
constexpr size_t kAligned = 16, kLine = 64, kLeastPart = 4096;
static_assert(sizeof(Record) == kAligned && sizeof(MessageHeader) + kLine < kLeastPart);

constexpr size_t upTo(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

// As far as its file's name goes.
size_t usedOf(const MessageHeader &header) {
  return offsetof(MessageHeader, file) + ::strnlen(header.file, sizeof header.file - 1) + 1;
}

void gather(std::byte *to, std::span<const Bytes> stretches, size_t from, size_t count) {
  for (const Bytes &stretch : stretches) {
    if (!count) return;
    if (from >= stretch.size) {
      from -= stretch.size;
      continue;
    }
    size_t here = std::min(stretch.size - from, count);
    std::memcpy(to, stretch.begin + from, here);
    to += here;
    count -= here;
    from = 0;
  }
}

} // namespace

bool RingWriter::write(const MessageHeader *header, std::span<const Bytes> stretches, size_t total, size_t &from) {
  size_t headerBytes = header ? usedOf(*header) : 0, front = sizeof(Record) + upTo(headerBytes, kAligned);
  size_t count = std::min(total - from, kPartBytes);
  size_t toEnd = kRingBytes - written % kRingBytes, skipped = 0;
  if (upTo(front + count, kLine) > toEnd) {
    if (toEnd >= kLeastPart)
      count = (toEnd - front) / kAligned * kAligned;
    else
      skipped = toEnd;
  }
  uint64_t end = written + skipped + upTo(front + count, kLine);
  if (end - taken > kRingBytes && end - (taken = memory.head.taken.load()) > kRingBytes) {
    // Said before it is looked a last time, as the reader first gives back and then looks who waits.
    memory.head.awaitsRoom.store(1);
    taken = memory.head.taken.load();
    if (end - taken > kRingBytes) return false;
  }
  std::byte *at = memory.bytes + written % kRingBytes;
  if (skipped) {
    Record skip{0, 0, 0, 1};
    std::memcpy(at, &skip, sizeof skip);
    at = memory.bytes;
  }
  Record record{uint32_t(count), uint32_t(headerBytes), from + count == total, 0};
  std::memcpy(at, &record, sizeof record);
  if (header) std::memcpy(at + sizeof record, header, headerBytes);
  gather(at + front, stretches, from, count);
  from += count;
  written = end;
  memory.head.written.store(end);
  return true;
}

Part RingReader::take(std::span<const size_t> sizes) {
  uint64_t written = memory.head.written.load();
  auto isInside = [&](uint64_t bytes) {
    return bytes <= kRingBytes - taken % kRingBytes && taken + bytes <= written && written - taken <= kRingBytes;
  };
  auto read = [&] {
    Record record;
    if (!isInside(sizeof record)) throw std::runtime_error("a record beyond the end of shared memory");
    std::memcpy(&record, memory.bytes + taken % kRingBytes, sizeof record);
    return record;
  };
  Record record = read();
  if (record.isSkipped) {
    taken += kRingBytes - taken % kRingBytes;
    record = read();
  }
  size_t front = sizeof record + upTo(record.header, kAligned), size = upTo(front + record.bytes, kLine);
  if (record.isSkipped || record.header > sizeof header || !isInside(size))
    throw std::runtime_error("a record in shared memory that no rank writes");
  const std::byte *at = memory.bytes + taken % kRingBytes;
  next = taken + size;
  if (record.header) {
    header = {};
    std::memcpy(&header, at + sizeof record, record.header);
    reached = 0;
  }
  // Bytes of no stretch, of a message of other sizes, come as one more.
  stretches.clear();
  at += front;
  size_t first = 0, left = record.bytes;
  for (size_t each : sizes) {
    size_t end = first + each;
    if (left && reached < end) {
      size_t here = std::min(end - reached, left);
      stretches.push_back({at, here});
      at += here;
      left -= here;
      reached += here;
    }
    first = end;
  }
  if (left) stretches.push_back({at, left});
  return {record.header ? &header : nullptr, stretches, record.isLast != 0};
}

void RingReader::giveBack(SharedBell &writer) {
  taken = next;
  memory.head.taken.store(taken);
  // Told when there is room for a few parts, so that who sleeps wakes for more than one.
  if (!memory.head.awaitsRoom.load() || memory.head.written.load() - taken > kRingBytes / 2) return;
  memory.head.awaitsRoom.store(0);
  writer.ringSleepers();
}

} // namespace sprig::rt::comm
