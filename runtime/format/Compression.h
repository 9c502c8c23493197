// How constants are compressed that their elements repeat or count up: by LZ77 over the whole constant, whose symbols a
// binary adaptive range coder writes (as LZMA's does). For the compiler, which encodes, and the loader, which decodes:
// `Symbols` is written once for both. Bits are the same on every machine.
#ifndef SPRIG_RUNTIME_FORMAT_COMPRESSION_H
#define SPRIG_RUNTIME_FORMAT_COMPRESSION_H

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace sprig::rt::format {

// Of a zero, in 2048ths.
using Probability = uint16_t;

// Decodes; what it is asked to code is not looked at. Behind the end it reads zeros, and says so.
class RangeDecoder {
public:
  explicit RangeDecoder(std::span<const uint8_t> bytes) : bytes(bytes) {
    for (int i = 0; i < 5; ++i) code = code << 8 | next();
  }

  bool bit(Probability &zero, bool = false) {
    uint32_t bound = (range >> 11) * zero;
    bool one = code >= bound;
    if (one) {
      code -= bound, range -= bound;
      zero = Probability(zero - (zero >> 5));
    } else {
      range = bound;
      zero = Probability(zero + ((2048 - zero) >> 5));
    }
    fill();
    return one;
  }
  bool even(bool = false) {
    range >>= 1;
    bool one = code >= range;
    if (one) code -= range;
    fill();
    return one;
  }
  bool ranOut() const { return missing > 0; }

private:
  uint8_t next() {
    if (at < bytes.size()) return bytes[at++];
    ++missing;
    return 0;
  }
  void fill() {
    if (range >= uint32_t(1) << 24) return;
    range <<= 8;
    code = code << 8 | next();
  }

  std::span<const uint8_t> bytes;
  size_t at = 0;
  size_t missing = 0;
  uint32_t range = 0xffffffff, code = 0;
};

class RangeEncoder {
public:
  bool bit(Probability &zero, bool one) {
    uint32_t bound = (range >> 11) * zero;
    if (one) {
      low += bound, range -= bound;
      zero = Probability(zero - (zero >> 5));
    } else {
      range = bound;
      zero = Probability(zero + ((2048 - zero) >> 5));
    }
    empty();
    return one;
  }
  bool even(bool one) {
    range >>= 1;
    if (one) low += range;
    empty();
    return one;
  }
  size_t size() const { return bytes.size() + held; }
  std::vector<uint8_t> finish() {
    for (int i = 0; i < 5; ++i) shift();
    return std::move(bytes);
  }

private:
  void empty() {
    for (; range < uint32_t(1) << 24; range <<= 8) shift();
  }
  // A byte of ones waits for a carry into it.
  void shift() {
    if (low < 0xff000000 || low > 0xffffffff) {
      for (uint8_t carry = uint8_t(low >> 32); held; --held, cache = 0xff) bytes.push_back(uint8_t(cache + carry));
      cache = uint8_t(low >> 24);
    }
    ++held;
    low = low << 8 & 0xffffffff;
  }

  std::vector<uint8_t> bytes;
  uint64_t low = 0, held = 1;
  uint32_t range = 0xffffffff;
  uint8_t cache = 0;
};

// A match at a new distance is of this many bytes or more; at the distance of the one before, of one or more.
inline constexpr uint64_t kShortestMatch = 4;

// What a stream is made of. Each call codes what it is given and returns what it is.
template <typename Coder> class Symbols {
public:
  // `width`: bytes of an element, a power of two up to 8. What a byte is follows from its place in that.
  Symbols(Coder &coder, unsigned width) : coder(coder), lanes(width - 1), literals(width) {
    for (Literal &literal : literals) {
      for (auto &of : literal.plain)
        for (Probability &each : of) each = kUnknown;
      for (auto &of : literal.expected)
        for (Probability &each : of) each = kUnknown;
    }
  }

  bool isMatch(uint64_t place, bool value = false) {
    return wasMatch = coder.bit(matches[place & lanes][wasMatch], value);
  }
  // `before`: the byte in front. `expected`: the byte at the distance of the last match, which tells where that has
  // just ended: a sign may have turned.
  uint8_t literal(uint64_t place, uint8_t before, uint8_t expected, bool ended, uint8_t value = 0) {
    auto &of = literals[place & lanes];
    unsigned node = 1;
    for (int i = 7; i >= 0; --i) {
      Probability &zero = ended ? of.expected[expected >> i & 1][node] : of.plain[before][node];
      bool one = coder.bit(zero, value >> i & 1);
      ended &= one == bool(expected >> i & 1);
      node = node << 1 | unsigned(one);
    }
    return uint8_t(node);
  }
  // Bytes of a match beyond the fewest that it may have, plus one.
  uint64_t length(bool isNewDistance, uint64_t value = 1) { return number(lengths[isNewDistance], value); }
  // 0: that of the match before.
  uint64_t distance(uint64_t place, uint64_t value = 0) {
    if (!coder.bit(isNew[place & lanes], value != 0)) return 0;
    return number(distances, value);
  }

private:
  static constexpr Probability kUnknown = 1024;
  struct Literal {
    Probability plain[256][256], expected[2][256];
  };
  struct Number {
    Probability magnitude[32], first[32][8], last[4];
    Number() {
      for (Probability &each : magnitude) each = kUnknown;
      for (auto &of : first)
        for (Probability &each : of) each = kUnknown;
      for (Probability &each : last) each = kUnknown;
    }
  };

  // Below 2^32: how many bits, then those below the highest. The first three and the last four tell something.
  uint64_t number(Number &model, uint64_t value) {
    unsigned bits = unsigned(std::bit_width(value)) - 1, node = 1;
    for (int i = 4; i >= 0; --i) node = node << 1 | unsigned(coder.bit(model.magnitude[node & 31], bits >> i & 1));
    bits = node & 31;
    uint64_t result = 1;
    for (unsigned i = bits; i-- > 0;) {
      bool one = value >> i & 1;
      one = result < 8 ? coder.bit(model.first[bits][result], one)
            : i < 4    ? coder.bit(model.last[i], one)
                       : coder.even(one);
      result = result << 1 | uint64_t(one);
    }
    return result;
  }

  Coder &coder;
  uint64_t lanes;
  bool wasMatch = false;
  Probability isNew[8] = {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  Probability matches[8][2] = {{kUnknown, kUnknown}, {kUnknown, kUnknown}, {kUnknown, kUnknown}, {kUnknown, kUnknown},
                               {kUnknown, kUnknown}, {kUnknown, kUnknown}, {kUnknown, kUnknown}, {kUnknown, kUnknown}};
  Number lengths[2], distances;
  std::vector<Literal> literals;
};

// Fills `to`; false where the stream is not one of that many bytes.
bool decompress(std::span<const uint8_t> from, unsigned width, std::span<uint8_t> to);

} // namespace sprig::rt::format

#endif
