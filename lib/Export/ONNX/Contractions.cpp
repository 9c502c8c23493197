// Matrix products and convolutions.
#include "lib/Export/ONNX/Exporter.h"
#include <numeric>

namespace sprig::onnxexport {

namespace {

Ref lastTwoExchanged(Site &n, const Ref &value, int64_t rank) {
  Ints order(size_t(rank), 0);
  std::iota(order.begin(), order.end(), int64_t(0));
  std::swap(order[size_t(rank) - 1], order[size_t(rank) - 2]);
  return n.transpose(value, order);
}

/// Gemm where the operand is a matrix; a product with the transposed weight for other ranks.
bool linear(Site &n) {
  bool hasBias = n.inputs() > 2;
  if (n.rank() == 2) {
    Refs operands{n.in(0), n.in(1)};
    if (hasBias) operands.push_back(n.in(2));
    return n.out(n.emit("Gemm", operands, {attr("transB", int64_t(1))}));
  }
  Ref product = n.emit("MatMul", {n.in(0), lastTwoExchanged(n, n.in(1), 2)});
  return n.out(hasBias ? n.emit("Add", {product, n.in(2)}) : product);
}

bool matmul(Site &n) {
  bool left = n.flag("transpose_lhs"), right = n.flag("transpose_rhs");
  Ref a = n.in(0), b = n.in(1);
  if ((left || right) && n.rank(0) == 2 && n.rank(1) == 2 && n.can("Gemm", a.dtype))
    return n.out(n.emit("Gemm", {a, b}, {attr("transA", int64_t(left)), attr("transB", int64_t(right))}));
  if (left) a = lastTwoExchanged(n, a, n.rank(0));
  if (right) b = lastTwoExchanged(n, b, n.rank(1));
  return n.out(n.emit("MatMul", {a, b}));
}

Ints windowOf(const Site &n) {
  const Shape &filter = n.type(1).shape;
  return Ints(filter.begin() + 2, filter.end());
}

bool convolution(Site &n, const char *op, Attributes more) {
  if (n.flag("channels_last")) n.refuse("has its channels last; ONNX has them after the batch");
  Attributes attributes{attr("kernel_shape", windowOf(n)), attr("strides", n.integers("strides")),
                        attr("dilations", n.integers("dilations")), attr("pads", n.integers("padding")),
                        attr("group", n.integer("groups", 1))};
  for (auto &attribute : more) attributes.push_back(std::move(attribute));
  Refs operands{n.in(0), n.in(1)};
  if (n.bias) operands.push_back(*n.bias);
  return n.out(n.emit(op, operands, std::move(attributes)));
}
bool conv(Site &n) { return convolution(n, "Conv", {}); }
bool convTranspose(Site &n) {
  return convolution(n, "ConvTranspose", {attr("output_padding", n.integers("output_padding"))});
}

} // namespace

void addContractions(Table &t) {
  t.add("nn.linear", linear);
  t.add("nn.matmul", matmul);
  t.add("nn.conv", conv);
  t.add("nn.conv_transpose", convTranspose);
}

} // namespace sprig::onnxexport
