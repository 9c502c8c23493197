// .npy files: what is read is written and read again the same, and is the same where it lies.
#include "test/fuzz/ArrayChecks.h"

using namespace sprig;
using namespace sprig::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = chars(data, size);
  accepts([&] {
    data::Array array = data::parseNpy(file, "fuzz.npy");
    checkSound(array);
    requireSame(data::parseNpy(data::formatNpy(array), "again.npy"), array, "writing .npy", /*named=*/false);
    checkInPlace(file, "", array);
  });
  return 0;
}
