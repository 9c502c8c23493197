// nn.pad: each element of the result by the place in the operand that its mode gives it, dimension by dimension.
#include "lib/Frontend/Generic/Call.h"
#include "lib/Frontend/Generic/Strides.h"
#include <cstring>
#include <vector>

namespace sprig::frontend::generic {

namespace {
/// The place in the operand of position i of a dimension of `count` elements, before or after which it may lie.
int64_t place(std::string_view mode, int64_t i, int64_t count) {
  if (mode == "edge") return std::clamp<int64_t>(i, 0, count - 1);
  bool wraps = mode == "wrap";
  int64_t period = wraps ? count : std::max<int64_t>(1, 2 * (count - 1));
  int64_t rest = i % period, cycle = rest < 0 ? rest + period : rest;
  return wraps ? cycle : std::min(cycle, 2 * (count - 1) - cycle);
}

struct Padding {
  Shape sizes, results, fromStrides, toStrides;
  std::vector<int64_t> places[Shape::kMaxRank];
  int64_t bytes;

  void copy(char *to, const char *from, int dim) {
    if (dim == sizes.rank()) {
      std::memcpy(to, from, bytes);
      return;
    }
    for (int64_t i = 0; i < results[dim]; ++i)
      copy(to + i * toStrides[dim] * bytes, from + places[dim][i] * fromStrides[dim] * bytes, dim + 1);
  }
};
} // namespace

bool runPad(const Call &call, int) {
  std::string_view mode = call.word("mode");
  const Shape &sizes = call.shape(), &results = call.resultType().shape;
  Shape low = call.integers("low");
  int64_t bytes = size(call.resultType().dtype), elements = call.resultType().elements();
  if (elements == 0) return true;
  Shape toStrides = rowMajor(results);
  if (mode == "constant") {
    fill(call.out(), call.in(1), bytes, elements);
    int64_t offset = 0;
    for (int d = 0; d < sizes.rank(); ++d) offset += low[d] * toStrides[d];
    copyBetween(call.out() + offset * bytes, toStrides, call.in(), rowMajor(sizes), sizes, bytes);
    return true;
  }
  if (call.type().elements() == 0) return false;
  Padding padding{sizes, results, rowMajor(sizes), toStrides, {}, bytes};
  for (int d = 0; d < sizes.rank(); ++d)
    for (int64_t i = 0; i < results[d]; ++i) padding.places[d].push_back(place(mode, i - low[d], sizes[d]));
  padding.copy(call.out(), call.in(), 0);
  return true;
}

} // namespace sprig::frontend::generic
