#include "lib/Frontend/Ops/Windows.h"
#include <algorithm>

namespace sprig::frontend {

namespace {
/// As the dialect's isModest: sums and products of a few cannot overflow.
constexpr int64_t kMost = int64_t(1) << 30;
} // namespace

Shape perAxis(const Emitter &r, const Ints &values, int spatial, int64_t least, const char *what) {
  if (values.rank() != 1 && values.rank() != spatial)
    r.fail("has " + std::to_string(values.rank()) + " numbers as " + what + ", " +
           describe(static_cast<const Shape &>(values)) + ", for " + std::to_string(spatial) + " spatial axes");
  Shape result;
  for (int i = 0; i < spatial; ++i) {
    int64_t value = values[values.rank() == 1 ? 0 : i];
    if (value < least || value > kMost)
      r.fail("has " + std::string(what) + " " + std::to_string(value) + "; expected " + std::to_string(least) +
             " to 2^30");
    result.push_back(value);
  }
  return result;
}

Windows Windows::of(const Emitter &r, const TensorType &input, const Shape &spatial, const Shape &window,
                    const Ints &stride, const Ints &padding, const Ints &dilation, bool ceil) {
  int count = spatial.rank();
  Windows w;
  w.window = window;
  w.strides = perAxis(r, stride, count, 1, "stride");
  w.dilations = perAxis(r, dilation, count, 1, "dilation");
  Shape low = perAxis(r, padding, count, 0, "padding"), high = low;
  for (int i = 0; i < count; ++i) {
    int64_t reach = w.dilations[i] * (window[i] - 1) + 1, padded = spatial[i] + 2 * low[i];
    if (window[i] < 1 || window[i] > kMost) r.fail("has a window of " + std::to_string(window[i]));
    if (reach > padded)
      r.fail("slides a window that spans " + std::to_string(reach) + " over " + std::to_string(padded) +
             " elements (padding included) of spatial axis " + std::to_string(i) + " of " + describe(input));
    int64_t outputs = (padded - reach) / w.strides[i] + 1;
    if (ceil && (padded - reach) % w.strides[i] && outputs * w.strides[i] < spatial[i] + low[i]) {
      high[i] = outputs * w.strides[i] + reach - spatial[i] - low[i];
      ++outputs;
    }
    w.outputs.push_back(outputs);
  }
  w.padding = low;
  for (int64_t amount : high) w.padding.push_back(amount);
  return w;
}

Batched Batched::of(const Emitter &r, const Operand &x, int spatial) {
  Tensor input = r.tensorOf(x, "input");
  const TensorType &type = input.type(r.at);
  int rank = type.shape.rank();
  if (rank != spatial + 1 && rank != spatial + 2)
    r.fail("takes [N, C, ...] or [C, ...] with " + std::to_string(spatial) + " spatial " +
           (spatial == 1 ? "axis" : "axes") + ", got " + describe(type));
  bool isAlone = rank == spatial + 1;
  return {isAlone ? r.unsqueeze(input, 0) : input, isAlone};
}

} // namespace sprig::frontend
