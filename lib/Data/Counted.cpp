#include "lib/Data/Counted.h"
#include "lib/Data/CountedName.h"
#include "sprig/error.h"
#include <algorithm>
#include <cstring>

namespace sprig::data {

static void cut(Array &array, size_t dimension, int64_t count) {
  if (count < 0 || count > array.shape[dimension])
    badInput("output '" + array.name + "' is " + describe(array) + ", but says that " + std::to_string(count) +
             " count in dimension " + std::to_string(dimension));
  size_t outer = 1, inner = size_t(size(array.dtype));
  for (size_t d = 0; d < dimension; ++d) outer *= size_t(array.shape[d]);
  for (size_t d = dimension + 1; d < array.shape.size(); ++d) inner *= size_t(array.shape[d]);
  size_t all = size_t(array.shape[dimension]) * inner, kept = size_t(count) * inner;
  for (size_t o = 0; kept > 0 && o < outer; ++o)
    std::memmove(array.bytes.data() + o * kept, array.bytes.data() + o * all, kept);
  array.bytes.resize(outer * kept);
  array.shape[dimension] = count;
}

void cutToCounts(std::vector<Array> &outputs) {
  std::vector<const Array *> counts;
  for (Array &array : outputs)
    for (size_t d = 0; d < array.shape.size(); ++d) {
      std::string name = countName(array.name, int64_t(d));
      auto found = std::ranges::find(outputs, name, &Array::name);
      if (found == outputs.end() || found->dtype != DType::i64 || !found->shape.empty()) continue;
      cut(array, d, found->integerAt(0));
      counts.push_back(&*found);
    }
  std::vector<Array> kept;
  for (Array &array : outputs)
    if (std::ranges::find(counts, &array) == counts.end()) kept.push_back(std::move(array));
  outputs = std::move(kept);
}

} // namespace sprig::data
