#include "lib/Machine/Access.h"
#include "lib/Machine/Rates.h"
#include <cstdlib>

namespace sprig::machine {
namespace {

// The step is not known here, so that there is one loop for all and no vector of neighbours. Four sums hide the
// latency of the additions.
[[gnu::noinline]] int64_t sum(const int32_t *data, int64_t count, int64_t step) {
  int64_t a = 0, b = 0, c = 0, d = 0, i = 0;
  for (; i + 4 <= count; i += 4, data += 4 * step) {
    a += data[0];
    b += data[step];
    c += data[2 * step];
    d += data[3 * step];
  }
  for (; i < count; ++i, data += step) a += *data;
  return a + b + c + d;
}

void keepInteger(int64_t value) { asm volatile("" : : "r"(value) : "memory"); }

} // namespace

double stridedNs(int64_t count, int64_t stride) {
  MeasuredMemory memory(count * std::abs(stride) * int64_t(sizeof(int32_t)));
  const int32_t *first = memory.as<int32_t>() + (stride < 0 ? (count - 1) * -stride : 0);
  return quickestRound(1, 16, [&](int) { keepInteger(sum(first, count, stride)); }) / double(count) * 1e9;
}

double matrixNs(int64_t size, int64_t columns, bool byColumn) {
  MeasuredMemory memory(size * size * int64_t(sizeof(int32_t)));
  const int32_t *data = memory.as<int32_t>();
  double seconds = quickestRound(1, 12, [&](int) {
    if (byColumn)
      for (int64_t c = 0; c < columns; ++c) keepInteger(sum(data + c, size, size));
    else
      for (int64_t r = 0; r < size; ++r) keepInteger(sum(data + r * size, columns, 1));
  });
  return seconds / double(size * columns) * 1e9;
}

} // namespace sprig::machine
