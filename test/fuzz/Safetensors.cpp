// safetensors files: what is read is written and read again the same, and is the same where it lies.
#include "test/fuzz/ArrayChecks.h"
#include "test/fuzz/TextMutator.h"
#include <cstring>

using namespace sprig;
using namespace sprig::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = chars(data, size);
  accepts([&] {
    std::vector<data::Array> arrays = data::parseSafetensors(file, "fuzz.safetensors");
    for (const data::Array &array : arrays) {
      checkSound(array);
      checkInPlace(file, array.name, array);
    }
    auto again = data::parseSafetensors(data::formatSafetensors(arrays), "again.safetensors");
    require(again.size() == arrays.size(), "writing safetensors keeps the number of arrays");
    for (size_t i = 0; i < arrays.size(); ++i) requireSame(again[i], arrays[i], "writing safetensors", /*named=*/true);
  });
  return 0;
}

// Changes words of the header and mends its length.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  static const std::string_view words[] = {"dtype",
                                           "shape",
                                           "data_offsets",
                                           "__metadata__",
                                           "F64",
                                           "F32",
                                           "F16",
                                           "BF16",
                                           "I64",
                                           "I8",
                                           "BOOL",
                                           "[",
                                           "]",
                                           "{",
                                           "}",
                                           ":",
                                           ",",
                                           "\"",
                                           "null"};
  Choices choose(seed);
  uint64_t header = 0;
  if (size >= 8) std::memcpy(&header, data, 8);
  if (size < 8 || header > size - 8 || choose.oneIn(4)) return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<char *>(data) + 8, header),
      rest(reinterpret_cast<char *>(data) + 8 + header, size - 8 - header);
  text = mutateText(text, words, choose);
  header = text.size();
  std::string whole = std::string(reinterpret_cast<char *>(&header), 8) + text + rest;
  if (whole.size() > maxSize) return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, whole.data(), whole.size());
  return whole.size();
}
