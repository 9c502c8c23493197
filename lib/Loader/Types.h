// Element types of include/sprig and of lib/Data: the same numbers under two names.
// For lib/Loader.
#pragma once
#include "lib/Data/Samples.h"
#include "sprig/dtype.h"

namespace sprig::data {

static_assert(int(sprig::DType::boolean) == int(DType::i1) && int(sprig::DType::u8) == int(DType::u8) &&
              int(sprig::DType::f64) == int(DType::f64));

inline DType fileType(sprig::DType type) { return DType(int(type)); }
inline sprig::DType tensorType(DType type) { return sprig::DType(int(type)); }

/// The type of one sample, which has one dimension less than all have.
inline TensorType sampleType(const Samples &samples) {
  return {tensorType(samples.dtype()), Shape(samples.sampleShape())};
}

} // namespace sprig::data
