// IDX, the format of MNIST's files: 0, 0, type, rank, then dimensions of 32 bits and elements, all big-endian.
#include "include/sprig/error.h"
#include "lib/Data/ArrayFile.h"
#include <algorithm>
#include <cstdio>

namespace sprig::data {
namespace {

struct IdxType {
  unsigned char code;
  DType dtype;
};
constexpr IdxType kIdxTypes[] = {{0x08, DType::u8},  {0x09, DType::i8},  {0x0b, DType::i16},
                                 {0x0c, DType::i32}, {0x0d, DType::f32}, {0x0e, DType::f64}};

const IdxType *typeOf(unsigned char code) {
  auto type =
      std::find_if(std::begin(kIdxTypes), std::end(kIdxTypes), [&](const IdxType &t) { return t.code == code; });
  return type == std::end(kIdxTypes) ? nullptr : type;
}

uint64_t bigEndian(std::span<const char> bytes, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

} // namespace

bool isIdx(std::span<const char> bytes) {
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) return false;
  // A safetensors file whose header is a multiple of 64 KiB starts with two zeros as well, but then its upper four
  // bytes are zeros too, where an IDX file has its number of samples.
  bool noSamples = bytes.size() >= 8 && bigEndian(bytes, 4) == 0;
  return !(noSamples && bytes.size() > 8 && bytes[8] == '{');
}

Array parseIdx(std::span<const char> bytes, const std::string &file) {
  auto fail = [&](const std::string &what) { badInput(file + ": not a sound IDX file: " + what); };
  if (!isIdx(bytes)) fail("it does not start with two zero bytes");
  auto code = static_cast<unsigned char>(bytes[2]);
  size_t rank = static_cast<unsigned char>(bytes[3]);
  const IdxType *type = typeOf(code);
  if (!type) {
    char text[8];
    std::snprintf(text, sizeof text, "0x%02x", code);
    fail(std::string("unknown element type ") + text + ", expected 0x08, 0x09 or 0x0b to 0x0e");
  }
  if (rank == 0 || rank > 16) fail(std::to_string(rank) + " dimensions, expected 1 to 16");
  size_t start = 4 + 4 * rank;
  if (bytes.size() < start)
    fail("its header of " + std::to_string(start) + " bytes ends past the file of " + std::to_string(bytes.size()));
  Array array;
  array.dtype = type->dtype;
  for (size_t d = 0; d < rank; ++d) array.shape.push_back(int64_t(bigEndian(bytes, 4 + 4 * d)));
  auto expected = byteSize(array.dtype, array.shape);
  if (!expected || uint64_t(*expected) != bytes.size() - start)
    fail("an array of " + describe(array) + " takes " + (expected ? std::to_string(*expected) : "too many") +
         " bytes, the file has " + std::to_string(bytes.size() - start));
  array.bytes.assign(bytes.begin() + ptrdiff_t(start), bytes.end());
  if (size(array.dtype) > 1) swapBytes(array.bytes, size(array.dtype));
  return array;
}

} // namespace sprig::data
