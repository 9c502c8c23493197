// Fake quantisation, as a pair of QuantizeLinear and DequantizeLinear.
#include "lib/Export/ONNX/Exporter.h"
#include <algorithm>

namespace sprig::onnxexport {

namespace {

/// The axis of the operand that a scale or zero point has a number for each place of; -1: it is one number; nothing
/// where it has another form.
std::optional<int64_t> axisOf(Site &n, size_t operand) {
  const Shape &shape = n.type(operand).shape;
  int64_t count = n.type(operand).elements();
  if (count == 1) return -1;
  for (int d = 0; d < shape.rank(); ++d)
    if (shape[d] == count) return d + n.rank() - shape.rank();
  return std::nullopt;
}

/// One number, or a row of `size` for an axis: as long as the other one is.
Ref parameter(Site &n, size_t operand, int64_t size) {
  if (size < 0) return n.reshape(n.in(operand), Dims());
  Ref row = n.reshape(n.in(operand), fixed({n.type(operand).elements()}));
  return n.type(operand).elements() == size ? row : n.expand(row, fixed({size}));
}

bool fakeQuantize(Site &n) {
  auto scaleAxis = axisOf(n, 1), zeroAxis = axisOf(n, 2);
  if (!scaleAxis || !zeroAxis || (*scaleAxis >= 0 && *zeroAxis >= 0 && *scaleAxis != *zeroAxis))
    n.refuse("has scale " + describe(n.type(1)) + " and zero point " + describe(n.type(2)) + " for " +
             describe(n.type(0)) + "; ONNX has one number, or one for each place of an axis");
  int64_t axis = std::max(*scaleAxis, *zeroAxis);
  if (axis >= 0 && n.dims(0)[size_t(axis)].first != n.dims(0)[size_t(axis)].second)
    n.refuse("has a scale for each place of an axis that follows the batch");
  if (sprig::size(n.type(2).dtype) == 2 && n.opset() < 21)
    n.refuse("quantises to " + describe(n.type(2)) +
             "; ONNX has integers of 16 bits there from opset 21 on, and the model is to have opset " +
             std::to_string(n.opset()));
  int64_t size = axis < 0 ? -1 : n.type(0).shape[int(axis)];
  Ref x = n.in(0), scale = parameter(n, 1, size), zero = parameter(n, 2, size);
  DType type = n.resultType().dtype;
  if (sprig::size(type) == 2 && n.opset() < 19) { // halves have no quantisers there
    type = DType::f32;
    x = n.cast(x, type);
    scale = n.cast(scale, type);
  }
  Attributes attributes;
  if (axis >= 0) attributes.push_back(attr("axis", axis));
  Ref integers = n.emit("QuantizeLinear", {x, scale, zero}, attributes, zero.dtype);
  // Fewer integers than the type has. Of a weight that the scale was made for none is further out.
  Ref none{"", zero.dtype};
  auto bound = [&](const char *name) {
    int64_t value = n.integer(name, INT64_MIN);
    return value == INT64_MIN ? none : n.scalar(double(value), zero.dtype);
  };
  Ref low = bound("low"), high = bound("high");
  if (!low.name.empty() || !high.name.empty()) integers = n.emit("Clip", {integers, low, high});
  return n.out(n.cast(n.emit("DequantizeLinear", {integers, scale, zero}, attributes, type), n.resultType().dtype));
}

} // namespace

void addQuantization(Table &t) { t.add("nn.fake_quantize", fakeQuantize); }

} // namespace sprig::onnxexport
