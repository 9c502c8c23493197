#include "lib/Target/Package/Compress.h"
#include "runtime/format/Compression.h"
#include <cstring>

using namespace sprig;
using namespace sprig::rt::format;

namespace {

/// Where earlier bytes begin like those at a place: chains of places with the same hash of four bytes.
class Matches {
public:
  explicit Matches(std::span<const uint8_t> bytes)
      : bytes(bytes), heads(size_t(1) << kBits, -1), before(bytes.size(), -1) {}

  struct Match {
    uint64_t distance = 0, length = 0;
  };
  uint64_t lengthAt(uint64_t place, uint64_t distance) const {
    uint64_t length = 0, most = bytes.size() - place;
    const uint8_t *here = bytes.data() + place, *there = here - distance;
    while (length < most && here[length] == there[length]) ++length;
    return length;
  }
  Match longest(uint64_t place) const {
    Match best;
    if (place + kShortestMatch > bytes.size()) return best;
    int64_t at = heads[hashAt(place)];
    for (int tries = 0; at >= 0 && tries < kTries && best.length < kEnough; ++tries, at = before[size_t(at)]) {
      uint64_t distance = place - uint64_t(at);
      if (best.length && bytes[place + best.length] != bytes[uint64_t(at) + best.length]) continue;
      uint64_t length = lengthAt(place, distance);
      if (length > best.length) best = {distance, length};
      if (place + best.length == bytes.size()) break;
    }
    return best;
  }
  void add(uint64_t place) {
    if (place + kShortestMatch > bytes.size()) return;
    int64_t &head = heads[hashAt(place)];
    before[place] = head;
    head = int64_t(place);
  }

private:
  static constexpr int kBits = 16, kTries = 24;
  static constexpr uint64_t kEnough = 512;
  size_t hashAt(uint64_t place) const {
    uint32_t four;
    std::memcpy(&four, bytes.data() + place, sizeof four);
    return (four * 2654435761u) >> (32 - kBits);
  }

  std::span<const uint8_t> bytes;
  std::vector<int64_t> heads, before;
};

} // namespace

std::optional<std::vector<uint8_t>> sprig::compress(std::span<const uint8_t> bytes, unsigned width, uint64_t most) {
  RangeEncoder encoder;
  Symbols symbols(encoder, width);
  Matches matches(bytes);
  uint64_t place = 0, distance = 1;
  bool ended = false;
  while (place < bytes.size()) {
    if (encoder.size() > most) return std::nullopt;
    Matches::Match match = matches.longest(place);
    // The same distance again costs next to nothing.
    uint64_t again = distance <= place ? matches.lengthAt(place, distance) : 0;
    bool isAgain = again >= 2 && again + 4 >= match.length;
    if (isAgain) match = {distance, again};
    bool isMatch = isAgain || match.length >= kShortestMatch;
    symbols.isMatch(place, isMatch);
    if (!isMatch) {
      symbols.literal(place, place ? bytes[place - 1] : 0, ended ? bytes[place - distance] : 0, ended, bytes[place]);
      matches.add(place++);
      ended = false;
      continue;
    }
    symbols.distance(place, isAgain ? 0 : match.distance);
    symbols.length(!isAgain, isAgain ? match.length : match.length - kShortestMatch + 1);
    distance = match.distance;
    ended = true;
    for (uint64_t end = place + match.length; place < end; ++place) matches.add(place);
  }
  std::vector<uint8_t> stream = encoder.finish();
  return stream.size() > most ? std::nullopt : std::optional(std::move(stream));
}
