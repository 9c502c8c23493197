// Sliding windows.
#include "lib/Export/ONNX/Exporter.h"
#include <algorithm>

namespace sprig::onnxexport {

namespace {

Attributes windowAttributes(const Site &n, const Ints &pads) {
  return {attr("kernel_shape", n.integers("window")), attr("strides", n.integers("strides")), attr("pads", pads)};
}

bool allOnes(const Ints &values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 1; });
}

/// Sums are convolutions with ones, a filter for each channel: the same additions in the same order.
bool sumPool(Site &n) {
  const Shape &shape = n.type(0).shape;
  Ints filter{shape[1], 1};
  for (int64_t size : n.integers("window")) filter.push_back(size);
  Attributes attributes = windowAttributes(n, n.integers("padding"));
  attributes.push_back(attr("dilations", n.integers("dilations")));
  attributes.push_back(attr("group", shape[1]));
  return n.out(n.emit("Conv", {n.in(0), n.filled(1, n.type(0).dtype, filter)}, std::move(attributes)));
}

bool pool(Site &n) {
  if (n.flag("channels_last")) n.refuse("has its channels last; ONNX has them after the batch");
  std::string kind = n.word("kind");
  if (kind == "sum") return sumPool(n);
  if (kind != "max") return false;
  Attributes attributes = windowAttributes(n, n.integers("padding"));
  attributes.push_back(attr("dilations", n.integers("dilations")));
  return n.out(n.emit("MaxPool", {n.in(0)}, std::move(attributes)));
}

bool argMaxPool(Site &n) {
  Attributes attributes = windowAttributes(n, n.integers("padding"));
  attributes.push_back(attr("dilations", n.integers("dilations")));
  attributes.push_back(attr("storage_order", int64_t(n.flag("column_major"))));
  return n.out(n.emitAll("MaxPool", {n.in(0)}, std::move(attributes), {n.type(0).dtype, DType::i64})[1]);
}

/// Counts all of the padding, or none. Padding that rounding up has added does not count: it becomes ceil_mode, where
/// that gives the same size.
bool avgPool(Site &n) {
  Ints window = n.integers("window"), strides = n.integers("strides"), dilations = n.integers("dilations");
  Ints padding = n.integers("padding"), counted = n.integers("counted_padding");
  if (!allOnes(dilations) && n.opset() < 19) return false;
  size_t spatial = window.size();
  bool none = std::all_of(counted.begin(), counted.end(), [](int64_t amount) { return amount == 0; });
  Attributes attributes;
  if (none || counted == padding) {
    attributes = windowAttributes(n, padding);
    attributes.push_back(attr("count_include_pad", int64_t(!none)));
  } else {
    for (size_t i = 0; i < spatial; ++i) {
      int64_t in = n.type(0).shape[int(i) + 2], out = n.resultType().shape[int(i) + 2];
      int64_t room = in + counted[i] + counted[spatial + i] - (window[i] - 1) * dilations[i] - 1;
      int64_t up = (room + strides[i] - 1) / strides[i] + 1;
      if ((up - 1) * strides[i] >= in + counted[i]) --up;
      if (counted[i] != padding[i] || up != out) return false;
    }
    attributes = windowAttributes(n, counted);
    attributes.push_back(attr("count_include_pad", int64_t(1)));
    attributes.push_back(attr("ceil_mode", int64_t(1)));
  }
  if (!allOnes(dilations)) attributes.push_back(attr("dilations", dilations));
  return n.out(n.emit("AveragePool", {n.in(0)}, std::move(attributes)));
}

} // namespace

void addPools(Table &t) {
  t.add("nn.pool", pool);
  t.add("nn.arg_max_pool", argMaxPool);
  t.add("nn.avg_pool", avgPool);
}

} // namespace sprig::onnxexport
