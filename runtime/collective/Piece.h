// A rank's piece of an array, as programs state it: the shape of the whole, then where the piece begins in each
// dimension. A flat piece is one of the whole's elements as a vector, in row-major order and with zeros behind its end,
// so that all ranks' pieces have one size; programs state the shape of the whole. For all who verify pieces, since the
// numbers come from files and texts, and who cut arrays and put them together.
#ifndef SPRIG_RUNTIME_COLLECTIVE_PIECE_H
#define SPRIG_RUNTIME_COLLECTIVE_PIECE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sprig::rt::collective {

// The first dimension in which a piece of this shape does not lie in its whole, -1: it lies in it. `numbers` are two
// for each dimension, and any.
inline int dimOutside(std::span<const int64_t> shape, std::span<const int64_t> numbers) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t size = shape[dim], whole = numbers[dim], first = numbers[shape.size() + dim];
    if (size < 0 || first < 0 || whole < size || first > whole - size) return int(dim);
  }
  return -1;
}

// Whether a whole has at most 2^48 elements, as every tensor; its dimensions are not negative.
inline bool isCountable(std::span<const int64_t> whole) {
  constexpr int64_t most = int64_t(1) << 48;
  int64_t elements = 1;
  for (int64_t size : whole)
    if (size == 0) return true;
  for (int64_t size : whole) {
    if (size > most / elements) return false;
    elements *= size;
  }
  return true;
}

// Elements of a whole that is countable.
inline int64_t elementsOf(std::span<const int64_t> whole) {
  int64_t elements = 1;
  for (int64_t size : whole) elements *= size;
  return elements;
}

// Elements of every rank's flat piece.
inline int64_t flatPieceOf(int64_t elements, int64_t ranks) { return elements / ranks + (elements % ranks != 0); }

// Whether so many elements are a flat piece of a whole of this shape, by some number of ranks.
inline bool isFlatPiece(int64_t piece, std::span<const int64_t> whole) {
  bool isShape = std::none_of(whole.begin(), whole.end(), [](int64_t size) { return size < 0; });
  if (!isShape || !isCountable(whole)) return false;
  int64_t elements = elementsOf(whole);
  if (piece < 1 || elements < 1) return piece == elements;
  return flatPieceOf(elements, flatPieceOf(elements, piece)) == piece; // by the fewest ranks that have all of it
}

// A rank's flat piece of an array of these bytes.
inline std::vector<char> cutFlat(std::span<const char> whole, size_t elementBytes, int64_t ranks, int64_t rank) {
  size_t bytes = size_t(flatPieceOf(int64_t(whole.size() / elementBytes), ranks)) * elementBytes;
  size_t begin = std::min(whole.size(), bytes * size_t(rank)), size = std::min(bytes, whole.size() - begin);
  std::span<const char> own = whole.subspan(begin, size);
  std::vector<char> piece(own.begin(), own.end());
  piece.resize(bytes);
  return piece;
}

// An array of so many bytes in the flat pieces of all ranks, one after the other.
inline std::span<const char> joinFlat(std::span<const char> pieces, size_t bytes) { return pieces.first(bytes); }

} // namespace sprig::rt::collective

#endif
