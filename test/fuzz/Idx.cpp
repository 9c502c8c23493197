// IDX files, as MNIST's.
#include "test/fuzz/ArrayChecks.h"

using namespace sprig;
using namespace sprig::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = chars(data, size);
  accepts([&] {
    data::Array array = data::parseIdx(file, "fuzz.idx");
    checkSound(array);
    require(data::isIdx(file), "what is read as IDX is known as IDX");
  });
  return 0;
}
