// Where a zip archive has a member that is stored as it is. Every offset is checked: files come from anywhere.
#include "lib/Data/InPlace.h"
#include <algorithm>

namespace sprig::data {
namespace {

class MappedArchive {
public:
  explicit MappedArchive(std::span<const char> bytes) : bytes(bytes) {}

  std::optional<std::span<const char>> find(const std::string &name) {
    uint64_t at = 0, count = 0;
    if (!directory(at, count)) return std::nullopt;
    for (; count > 0 && is(at, 0x02014b50, 46); --count) {
      uint64_t flags = read(at + 8, 2), method = read(at + 10, 2), nameSize = read(at + 28, 2);
      uint64_t extraSize = read(at + 30, 2), comment = read(at + 32, 2);
      uint64_t packed = read(at + 20, 4), size = read(at + 24, 4), local = read(at + 42, 4);
      uint64_t next = at + 46 + nameSize + extraSize + comment;
      if (!holds(at, next - at)) return std::nullopt;
      if (std::string_view(bytes.data() + at + 46, nameSize) == name) {
        wide(at + 46 + nameSize, extraSize, {&size, &packed, &local});
        bool plain = method == 0 && !(flags & 1) && packed == size;
        return plain ? content(local, size) : std::nullopt;
      }
      at = next;
    }
    return std::nullopt;
  }

private:
  std::span<const char> bytes;

  bool holds(uint64_t at, uint64_t count) const { return at <= bytes.size() && count <= bytes.size() - at; }
  // Little-endian; 0 after the end.
  uint64_t read(uint64_t at, int count) const {
    if (!holds(at, uint64_t(count))) return 0;
    uint64_t value = 0;
    for (int i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + uint64_t(i)]);
    return value;
  }
  bool is(uint64_t at, uint64_t signature, uint64_t size) const { return holds(at, size) && read(at, 4) == signature; }

  // The central directory, by the record at the file's end, in front of which stands that of Zip64.
  bool directory(uint64_t &at, uint64_t &count) const {
    constexpr uint64_t kEnd = 22, kComment = 65535, kLocator = 20;
    if (bytes.size() < kEnd) return false;
    uint64_t last = bytes.size() - kEnd, end = last;
    for (uint64_t back = 0; read(end, 4) != 0x06054b50; end = last - back)
      if (++back > std::min(last, kComment)) return false;
    count = read(end + 10, 2);
    at = read(end + 16, 4);
    if (count != 0xffff && at != 0xffffffff) return true;
    if (end < kLocator || !is(end - kLocator, 0x07064b50, kLocator)) return false;
    uint64_t wideEnd = read(end - kLocator + 8, 8);
    if (!is(wideEnd, 0x06064b50, 56)) return false;
    count = read(wideEnd + 32, 8);
    at = read(wideEnd + 48, 8);
    return true;
  }

  // Values that do not fit 32 bits stand in an extra field, in this order.
  void wide(uint64_t extra, uint64_t extraSize, std::initializer_list<uint64_t *> values) const {
    for (uint64_t at = extra; at + 4 <= extra + extraSize; at += 4 + read(at + 2, 2)) {
      if (read(at, 2) != 1) continue;
      uint64_t value = at + 4;
      for (uint64_t *each : values)
        if (*each == 0xffffffff) {
          *each = read(value, 8);
          value += 8;
        }
      return;
    }
  }

  std::optional<std::span<const char>> content(uint64_t local, uint64_t size) const {
    if (!is(local, 0x04034b50, 30)) return std::nullopt;
    uint64_t start = local + 30 + read(local + 26, 2) + read(local + 28, 2);
    if (!holds(start, size)) return std::nullopt;
    return bytes.subspan(start, size);
  }
};

} // namespace

std::optional<std::span<const char>> storedMember(std::span<const char> archive, const std::string &name) {
  return MappedArchive(archive).find(name);
}

} // namespace sprig::data
