// Indices that are only known now: of two types, counted from the end where negative, checked against a bound.
// For gathers and scatters.
#pragma once
#include "lib/Frontend/Generic/Call.h"
#include "lib/Frontend/Generic/Strides.h"
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

/// Calls body(i, place) for the elements of operand 1, which are indices along the attribute `axis` of operand 0: in
/// order, each with the place in operand 0 that it points to.
template <typename Body> void forIndicesAlongAxis(const Call &call, Body body) {
  const Shape &shape = call.shape(), &sizes = call.shape(1);
  const int axis = int(call.integer("axis"));
  const Shape strides = rowMajor(shape);
  const Indices indices(call, 1);
  int64_t index[Shape::kMaxRank] = {}, offset = 0; // of the position, without its axis
  for (int64_t i = 0, count = call.type(1).elements(); i < count; ++i) {
    body(i, offset + indices.at(i, shape[axis]) * strides[axis]);
    for (int d = sizes.rank() - 1; d >= 0; --d) {
      int64_t stride = d == axis ? 0 : strides[d];
      offset += stride;
      if (++index[d] < sizes[d]) break;
      offset -= stride * sizes[d];
      index[d] = 0;
    }
  }
}

} // namespace sprig::frontend::generic
