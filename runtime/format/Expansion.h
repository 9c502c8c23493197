// Constants that take more room in memory than in a package: what they are made of, and how. For the compiler, which
// keeps only what expands to the very bytes, and the loader, which checks first and expands once.
#ifndef SPRIG_RUNTIME_FORMAT_EXPANSION_H
#define SPRIG_RUNTIME_FORMAT_EXPANSION_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sprig::rt::format {

// The numbers are those of the file.
enum class ExpansionForm : uint8_t {
  Compressed, // a stream (Compression.h)
  Scaled,     // a byte for each element, and for each channel what it is multiplied by and counts from
  Filter,     // a filter in frequencies (ShortFilter.h), of f32
};

// What a stream has in place of the elements; the numbers are those of the file.
enum class Arrangement : uint8_t {
  Plain,
  Differences, // of integers, each less the one before
  SignsApart,  // elements whose highest bit is zero; behind them these bits, eight in a byte, the first in the lowest
};

struct Expansion {
  ExpansionForm form = ExpansionForm::Compressed;
  uint64_t offset = 0, size = 0;                // of what it is made of, in the constants section
  uint8_t dtype = 0;                            // Scaled: f32 or i32
  uint8_t width = 1;                            // Compressed: bytes of an element, 1, 2, 4 or 8
  Arrangement arrangement = Arrangement::Plain; // Compressed
  // Scaled: of the elements, and what a step along each dimension adds to the channel's number.
  // Filter: outputs, channels, height, width, lines, columns, outputs of a panel.
  std::vector<uint64_t> shape, strides;
  std::vector<double> down, across; // Filter: the matrices

  bool operator==(const Expansion &) const = default;
};

// Of Scaled: how many channels there are, and where their scales (f32; of i32 none) and lowest values (i16) lie.
struct ScaledLayout {
  uint64_t elements = 0, channels = 0, scales = 0, lowest = 0, size = 0;
};
ScaledLayout scaledLayout(const Expansion &expansion);

// Bytes of a stream of so many bytes of elements.
uint64_t arrangedBytes(const Expansion &expansion, uint64_t bytes);

// What is wrong with an expansion to `bytes` bytes, "" where nothing is: then `expand` reads and writes no other bytes.
std::string checkExpansion(const Expansion &expansion, uint64_t bytes);

// `from`: expansion.size bytes, aligned to 4. False where a stream is damaged.
bool expand(const Expansion &expansion, std::span<const uint8_t> from, std::span<uint8_t> to);

} // namespace sprig::rt::format

#endif
