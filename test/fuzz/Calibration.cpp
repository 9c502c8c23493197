// What is kept of a machine's measurements: a file that is not sound is as good as none, and a sound one gives a model
// whose rates are numbers.
#include "lib/Machine/MachineFile.h"
#include "lib/Machine/MachineModel.h"
#include "test/fuzz/TextMutator.h"
#include <cmath>

using namespace sprig;
using namespace sprig::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = chars(data, size);
  auto calibration = machine::calibrationFromText({file.data(), file.size()});
  if (!calibration) return 0;
  std::string text = machine::calibrationToText(*calibration);
  auto again = machine::calibrationFromText(text);
  require(again && machine::calibrationToText(*again) == text, "measurements that are written read back the same");
  machine::MachineModel model = machine::modelOf(*calibration);
  for (int threads : {1, 2, 64})
    for (int64_t bytes : {int64_t(0), int64_t(1), int64_t(1) << 20, INT64_MAX}) {
      double seconds = model.seconds(1e9, double(bytes), bytes, threads);
      require(std::isfinite(seconds) && seconds >= 0, "a machine's model says how long work takes");
      require(!std::isnan(calibration->bandwidthAt(bytes)), "a rate is a number");
    }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  static const std::string_view words[] = {"{",    "}",    "[", "]",  ",",    ":",     "\"",
                                           "null", "true", "0", "-1", "1e18", "1e-300"};
  return mutateAsText(data, size, maxSize, seed, words);
}
