// What holds of every array that a reader took.
#pragma once
#include "lib/Data/ArrayFile.h"
#include "lib/Data/InPlace.h"
#include "test/fuzz/Fuzz.h"
#include <algorithm>

namespace sprig::fuzz {

inline void checkSound(const data::Array &array) {
  auto bytes = data::byteSize(array.dtype, array.shape);
  require(bytes && uint64_t(*bytes) == array.bytes.size(), "an array has the bytes that its type and shape take");
  if (array.dtype == data::DType::i1)
    require(std::all_of(array.bytes.begin(), array.bytes.end(), [](char b) { return b == 0 || b == 1; }),
            "a boolean is 0 or 1");
}

/// Names are kept by formats that have them.
inline void requireSame(const data::Array &got, const data::Array &want, const std::string &what, bool named) {
  require(got.dtype == want.dtype && got.shape == want.shape && got.bytes == want.bytes &&
              (!named || got.name == want.name),
          what + " gives the same array");
}

/// What is mapped instead of read is the same.
inline void checkInPlace(std::span<const char> file, const std::string &member, const data::Array &want) {
  auto place = data::findInPlace(file, member, "in place");
  if (!place) return;
  require(place->dtype == want.dtype && place->shape == want.shape &&
              std::equal(want.bytes.begin(), want.bytes.end(), place->bytes),
          "an array in place is the one that is read");
}

} // namespace sprig::fuzz
