// Indices that are only known now: of two types, counted from the end where negative, checked against a bound.
// For gathers and scatters.
#pragma once
#include "lib/Frontend/Generic/Call.h"
#include "sprig/rt/kernel.h"

namespace sprig::frontend::generic {

class Indices {
public:
  Indices(const Call &call, size_t operand)
      : call(call), data(call.in(operand)), isNarrow(call.type(operand).dtype == DType::i32) {}
  /// Index i as a place below `bound`; throws where it is none.
  int64_t at(int64_t i, int64_t bound) const {
    int64_t index = isNarrow ? reinterpret_cast<const int32_t *>(data)[i] : reinterpret_cast<const int64_t *>(data)[i];
    int64_t place = index < 0 ? index + bound : index;
    if (uint64_t(place) >= uint64_t(bound)) fail(call, SPRIG_RT_KERNEL_INDEX_OUT_OF_RANGE, index, bound);
    return place;
  }

private:
  const Call &call;
  const char *data;
  bool isNarrow;
};

} // namespace sprig::frontend::generic
