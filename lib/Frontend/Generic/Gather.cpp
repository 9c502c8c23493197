// nn.gather, nn.gather_elements and nn.gather_nd.
#include "lib/Frontend/Generic/Indices.h"
#include <cstring>

namespace sprig::frontend::generic {

/// The product of the sizes [begin, end).
static int64_t product(const Shape &shape, int begin, int end) {
  int64_t result = 1;
  for (int d = begin; d < end; ++d) result *= shape[d];
  return result;
}

static void copyElement(char *to, const char *from, int64_t bytes) {
  switch (bytes) {
  case 4: std::memcpy(to, from, 4); return;
  case 8: std::memcpy(to, from, 8); return;
  default: std::memcpy(to, from, bytes);
  }
}

bool runGather(const Call &call, int) {
  const Shape &shape = call.shape();
  int axis = int(call.integer("axis"));
  int64_t outer = product(shape, 0, axis), bound = shape[axis], count = call.type(1).elements();
  int64_t slice = product(shape, axis + 1, shape.rank()) * size(call.type().dtype);
  if (call.resultType().elements() == 0) return true;
  Indices indices(call, 1);
  char *to = call.out();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < count; ++i, to += slice)
      copyElement(to, call.in() + (o * bound + indices.at(i, bound)) * slice, slice);
  return true;
}

bool runGatherElements(const Call &call, int) {
  const int64_t bytes = size(call.type().dtype);
  forIndicesAlongAxis(
      call, [&](int64_t i, int64_t place) { copyElement(call.out() + i * bytes, call.in() + place * bytes, bytes); });
  return true;
}

bool runGatherNd(const Call &call, int) {
  const Shape &shape = call.shape(), &sizes = call.shape(1);
  int batch = int(call.integer("batch_dims")), depth = int(sizes.back());
  int64_t batches = product(shape, 0, batch), tuples = product(sizes, batch, sizes.rank() - 1);
  int64_t slice = product(shape, batch + depth, shape.rank()) * size(call.type().dtype);
  int64_t batchBytes = product(shape, batch, shape.rank()) * size(call.type().dtype);
  if (call.resultType().elements() == 0) return true;
  Indices indices(call, 1);
  char *to = call.out();
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t t = 0; t < tuples; ++t, to += slice) {
      int64_t place = 0;
      for (int d = 0; d < depth; ++d)
        place = place * shape[batch + d] + indices.at((b * tuples + t) * depth + d, shape[batch + d]);
      copyElement(to, call.in() + b * batchBytes + place * slice, slice);
    }
  return true;
}

} // namespace sprig::frontend::generic
