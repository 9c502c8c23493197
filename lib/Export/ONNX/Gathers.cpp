// Elements picked and placed by index.
#include "lib/Export/ONNX/Exporter.h"

namespace sprig::onnxexport {

namespace {

bool gather(Site &n) {
  bool single = n.node.op->text == "nn.gather_elements";
  return n.out(n.emit(single ? "GatherElements" : "Gather", {n.in(0), n.in(1)}, {attr("axis", n.integer("axis"))}));
}

bool gatherNd(Site &n) {
  return n.out(
      n.emit("GatherND", {n.in(0), n.cast(n.in(1), DType::i64)}, {attr("batch_dims", n.integer("batch_dims"))}));
}

/// none is the default, max and min came with opset 18.
Attributes combining(Site &n) {
  std::string kind = n.word("kind");
  if ((kind == "max" || kind == "min") && n.opset() < 18)
    n.refuse("combines by " + kind + "; ONNX does so from opset 18 on, and the model is to have opset " +
             std::to_string(n.opset()));
  return {attr("reduction", kind)};
}

bool scatterElements(Site &n) {
  Attributes attributes = combining(n);
  attributes.push_back(attr("axis", n.integer("axis")));
  return n.out(n.emit("ScatterElements", {n.in(0), n.in(1), n.in(2)}, std::move(attributes)));
}

bool scatterNd(Site &n) {
  return n.out(n.emit("ScatterND", {n.in(0), n.cast(n.in(1), DType::i64), n.in(2)}, combining(n)));
}

} // namespace

void addGathers(Table &t) {
  t.add("nn.gather", gather);
  t.add("nn.gather_elements", gather);
  t.add("nn.gather_nd", gatherNd);
  t.add("nn.scatter_elements", scatterElements);
  t.add("nn.scatter_nd", scatterNd);
}

} // namespace sprig::onnxexport
