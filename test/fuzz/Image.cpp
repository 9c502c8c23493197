// PNG and JPEG files in all numbers of channels. The mutator mends the checksums of PNG's chunks, so that what it
// changed is looked at.
#include "lib/Data/Image.h"
#include "test/fuzz/Fuzz.h"
#include <cstring>
#include <zlib.h>

using namespace sprig;
using namespace sprig::fuzz;

namespace {

constexpr size_t kSignature = 8;

uint32_t bigEndian(const uint8_t *at) { return uint32_t(at[0]) << 24 | uint32_t(at[1]) << 16 | at[2] << 8 | at[3]; }

bool isPng(const uint8_t *data, size_t size) { return size >= 24 && std::memcmp(data, "\x89PNG", 4) == 0; }

// Sides that a file of any length may have; those of real images are for the limits' own tests.
bool isSmall(const uint8_t *data, size_t size) {
  if (isPng(data, size)) return uint64_t(bigEndian(data + 16)) * bigEndian(data + 20) <= 1 << 20;
  for (size_t at = 0; at + 9 < size; ++at) // a JPEG's frame: marker, length, precision, height, width
    if (data[at] == 0xff && data[at + 1] >= 0xc0 && data[at + 1] <= 0xcf &&
        uint64_t(data[at + 5] << 8 | data[at + 6]) * uint64_t(data[at + 7] << 8 | data[at + 8]) > 1 << 20)
      return false;
  return true;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!isSmall(data, size)) return -1;
  for (int channels : {1, 3, 4})
    accepts([&] {
      data::Image image = data::parseImage(chars(data, size), "fuzz.png", channels);
      require(image.channels == channels && image.height > 0 && image.width > 0, "an image has sides");
      require(int64_t(image.planes.size()) == image.channels * image.height * image.width, "an image has its planes");
    });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  Choices choose(seed);
  size_t result = LLVMFuzzerMutate(data, size, choose.oneIn(4) ? maxSize : size);
  if (!isPng(data, result) || choose.oneIn(8)) return result;
  for (size_t at = kSignature; at + 12 <= result;) {
    size_t length = bigEndian(data + at);
    if (length > result - at - 12) break;
    uint32_t sum = uint32_t(crc32(0, data + at + 4, uInt(length + 4)));
    for (int i = 0; i < 4; ++i) data[at + 8 + length + size_t(i)] = uint8_t(sum >> (24 - 8 * i));
    at += 12 + length;
  }
  return result;
}
