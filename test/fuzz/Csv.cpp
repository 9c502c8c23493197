// Tables as text.
#include "test/fuzz/ArrayChecks.h"
#include "test/fuzz/TextMutator.h"
#include <cstring>

using namespace sprig;
using namespace sprig::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  accepts([&] {
    data::Array array = data::parseCsv(chars(data, size), "fuzz.csv");
    checkSound(array);
    require(array.elements() > 0, "a table has a number");
  });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  static const std::string_view words[] = {
      ",",    ";",   "\t",   " ",           "\n", "\r\n", "\"",  "+",
      "-",    ".",   "e308", "1e9",         "x",  "nan",  "inf", "9223372036854775807",
      "1e-5", "0x1", "-0",   "\xef\xbb\xbf"};
  return mutateAsText(data, size, maxSize, seed, words);
}
