// Softmax and normalisations.
#include "lib/Export/ONNX/Exporter.h"

namespace sprig::onnxexport {

namespace {

bool softmax(Site &n) {
  bool isLog = n.node.op->text == "nn.log_softmax";
  Ref result = n.emit(isLog ? "LogSoftmax" : "Softmax", {n.in(0)}, {attr("axis", n.integer("axis"))});
  // Rows of -inf alone are zeros, where ONNX's operator has NaN.
  if (n.flag("masked", false))
    result = n.emit("Where", {n.emit("IsNaN", {result}, {}, DType::boolean), n.scalar(0, n.type(0).dtype), result});
  return n.out(result);
}

bool batchNorm(Site &n) {
  return n.out(n.emit("BatchNormalization", {n.in(0), n.in(1), n.in(2), n.in(3), n.in(4)},
                      {realAttr("epsilon", n.real("epsilon"))}));
}

bool layerNorm(Site &n) {
  Refs operands{n.in(0), n.in(1)};
  if (n.inputs() > 2) operands.push_back(n.in(2));
  return n.out(n.emit("LayerNormalization", operands,
                      {attr("axis", n.integer("axis")), realAttr("epsilon", n.real("epsilon"))}));
}

bool groupNorm(Site &n) {
  int64_t groups = n.integer("groups"), channels = n.type(0).shape[1];
  if (n.rank() < 3) return false;
  Attributes attributes{realAttr("epsilon", n.real("epsilon"))};
  const char *op = "InstanceNormalization";
  if (groups != channels) {
    // Before opset 21 scale and shift belong to groups, not to channels.
    if (n.opset() < 21) return false;
    op = "GroupNormalization";
    attributes.push_back(attr("num_groups", groups));
  }
  if (!n.can(op, n.type(0).dtype)) return false;
  return n.out(n.emit(op, {n.in(0), n.in(1), n.in(2)}, std::move(attributes)));
}

} // namespace

void addNorms(Table &t) {
  t.add("nn.softmax", softmax);
  t.add("nn.log_softmax", softmax);
  t.add("nn.batch_norm", batchNorm);
  t.add("nn.layer_norm", layerNorm);
  t.add("nn.group_norm", groupNorm);
}

} // namespace sprig::onnxexport
