#include "runtime/format/Compression.h"

#include <algorithm>
#include <cstring>

namespace sprig::rt::format {

// Bytes that a match takes from itself repeat.
static void copyMatch(uint8_t *to, uint64_t distance, uint64_t length) {
  if (distance >= length) {
    std::memcpy(to, to - distance, length);
    return;
  }
  for (uint64_t done = 0; done < length;) {
    uint64_t step = std::min(distance + done, length - done);
    std::memcpy(to + done, to - distance, step);
    done += step;
  }
}

bool decompress(std::span<const uint8_t> from, unsigned width, std::span<uint8_t> to) {
  RangeDecoder decoder(from);
  Symbols symbols(decoder, width);
  uint64_t place = 0, distance = 1;
  bool ended = false;
  while (place < to.size()) {
    if (decoder.ranOut()) return false;
    if (!symbols.isMatch(place)) {
      to[place] = symbols.literal(place, place ? to[place - 1] : 0, ended ? to[place - distance] : 0, ended);
      ++place;
      ended = false;
      continue;
    }
    uint64_t given = symbols.distance(place);
    if (given) distance = given;
    uint64_t length = symbols.length(given != 0) + (given ? kShortestMatch - 1 : 0);
    if (distance > place || length > to.size() - place) return false;
    copyMatch(to.data() + place, distance, length);
    place += length;
    ended = true;
  }
  return !decoder.ranOut();
}

} // namespace sprig::rt::format
