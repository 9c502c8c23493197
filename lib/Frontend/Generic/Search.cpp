// nn.arg_reduce and nn.top_k.
#include "lib/Frontend/Generic/Axis.h"
#include "lib/Frontend/Generic/Scratch.h"
#include "lib/Frontend/Generic/Types.h"
#include <numeric>
#include <vector>

namespace sprig::frontend::generic {

bool runArgReduce(const Call &call, int) {
  AxisView view(call.shape(), int(call.integer("axis")));
  bool largest = call.word("kind") == "max", last = call.has("last_index");
  if (view.length == 0) return false;
  if (isHalf(call.type().dtype)) return throughF32(call, [](const Call &wide) { return runArgReduce(wide, 0); });
  return withNumber(call.type().dtype, [&](auto number) {
    using T = decltype(number);
    const T *from = reinterpret_cast<const T *>(call.in());
    int64_t *to = reinterpret_cast<int64_t *>(call.out());
    view.forLines([&](int64_t base) {
      int64_t best = 0;
      T value = from[base];
      for (int64_t i = 1; i < view.length && !isNaN(value); ++i) { // the first NaN wins
        T next = from[base + i * view.inner];
        bool better = largest ? next > value : next < value;
        if (better || (last && next == value) || isNaN(next)) {
          value = next;
          best = i;
        }
      }
      *to++ = best;
    });
  });
}

namespace {
template <typename T> void selectTop(const Call &call) {
  AxisView view(call.shape(), int(call.integer("axis")));
  int64_t count = call.integer("k");
  bool largest = call.integer("largest", 1);
  const T *from = reinterpret_cast<const T *>(call.in());
  T *values = reinterpret_cast<T *>(call.out(0));
  int64_t *indices = reinterpret_cast<int64_t *>(call.out(1));
  std::vector<int64_t> order(view.length);
  for (int64_t outer = 0; outer < view.outer; ++outer)
    for (int64_t inner = 0; inner < view.inner; ++inner) {
      const T *line = from + outer * view.length * view.inner + inner;
      std::iota(order.begin(), order.end(), 0);
      // NaN is larger than every number; equal elements come in the order of their indices.
      auto before = [&](int64_t a, int64_t b) {
        T x = line[a * view.inner], y = line[b * view.inner];
        if (isNaN(x) || isNaN(y)) {
          if (isNaN(x) == isNaN(y)) return a < b;
          return isNaN(x) == largest;
        }
        if (x == y) return a < b;
        return largest ? x > y : x < y;
      };
      std::partial_sort(order.begin(), order.begin() + count, order.end(), before);
      for (int64_t i = 0; i < count; ++i) {
        int64_t place = (outer * count + i) * view.inner + inner;
        values[place] = line[order[i] * view.inner];
        indices[place] = order[i];
      }
    }
}
} // namespace

bool runTopK(const Call &call, int) {
  if (call.results.size() != 2) return false;
  if (call.resultType().elements() == 0) return true;
  if (isHalf(call.type().dtype)) return throughF32(call, [](const Call &wide) { return runTopK(wide, 0); });
  return withNumber(call.type().dtype, [&](auto number) { selectTop<decltype(number)>(call); });
}

} // namespace sprig::frontend::generic
