// .npz files. The mutator changes the archive's members and headers and then mends checksums of what is stored, so that
// the changes reach the arrays past libzip's own checks.
#include "test/fuzz/ArrayChecks.h"
#include <cstring>
#include <map>
#include <zlib.h>

using namespace sprig;
using namespace sprig::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = chars(data, size);
  accepts([&] {
    std::vector<data::Array> arrays = data::parseNpz(file, "fuzz.npz");
    std::map<std::string, int> uses;
    for (const data::Array &array : arrays) ++uses[array.name];
    bool unique = true;
    for (const data::Array &array : arrays) {
      checkSound(array);
      // Writing changes names that are not UTF-8.
      unique &= uses[array.name] == 1 && !array.name.ends_with(".npy") &&
                std::all_of(array.name.begin(), array.name.end(), [](char c) { return c > 0; });
      if (uses[array.name] == 1) accepts([&] { checkInPlace(file, array.name, array); });
    }
    if (!unique || arrays.empty()) return;
    std::vector<data::Array> again = data::parseNpz(data::formatNpz(arrays), "again.npz");
    require(again.size() == arrays.size(), "writing .npz keeps the number of arrays");
    for (size_t i = 0; i < arrays.size(); ++i) requireSame(again[i], arrays[i], "writing .npz", /*named=*/true);
  });
  return 0;
}

namespace {

uint32_t read32(const uint8_t *at) {
  uint32_t value;
  std::memcpy(&value, at, 4);
  return value;
}

// Puts the checksum of each stored member into its own header and into those of the directory that point to it.
void mendChecksums(uint8_t *data, size_t size) {
  std::map<uint32_t, uint32_t> sums;
  for (size_t at = 0; at + 30 <= size; ++at) {
    if (read32(data + at) != 0x04034b50 || data[at + 8] != 0) continue;
    size_t start = at + 30 + data[at + 26] + 256 * data[at + 27] + data[at + 28] + 256 * data[at + 29];
    size_t length = read32(data + at + 18);
    if (start > size || length > size - start) continue;
    uint32_t sum = uint32_t(crc32(0, data + start, uInt(length)));
    std::memcpy(data + at + 14, &sum, 4);
    sums[uint32_t(at)] = sum;
  }
  for (size_t at = 0; at + 46 <= size; ++at)
    if (read32(data + at) == 0x02014b50)
      if (auto sum = sums.find(read32(data + at + 42)); sum != sums.end()) std::memcpy(data + at + 16, &sum->second, 4);
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  Choices choose(seed);
  // Most members keep their place: a change of length alone moves what the directory points to.
  size_t result = choose.oneIn(4) ? LLVMFuzzerMutate(data, size, maxSize) : LLVMFuzzerMutate(data, size, size);
  if (!choose.oneIn(8)) mendChecksums(data, result);
  return result;
}
