// Compressed constants: the encoder of runtime/format/Compression.h.
// For the package writer. The same bytes give the same stream on every machine.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sprig {

/// The stream that `decompress` makes the bytes of, or nothing where it would be longer than `most`. `width`: bytes of
/// an element, 1, 2, 4 or 8.
std::optional<std::vector<uint8_t>> compress(std::span<const uint8_t> bytes, unsigned width, uint64_t most);

} // namespace sprig
