// ONNX TensorProto files: what is read is written and read again the same. Their sequences and optionals.
#include "lib/Data/Holders.h"
#include "test/fuzz/ArrayChecks.h"

using namespace sprig;
using namespace sprig::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  accepts([&] {
    data::Array array = data::parseTensorProto(chars(data, size), "fuzz.pb");
    checkSound(array);
    requireSame(data::parseTensorProto(data::formatTensorProto(array), "again.pb"), array, "writing a TensorProto",
                /*named=*/true);
  });
  for (auto holder : {data::Holder::sequence, data::Holder::optional, data::Holder::optionalSequence})
    accepts([&] {
      for (const data::Array &array : data::parseStored(chars(data, size), holder, "fuzz.pb").arrays) checkSound(array);
    });
  return 0;
}
