// Reductions, running sums, the largest elements.
#include "lib/Export/ONNX/Exporter.h"

namespace sprig::onnxexport {

namespace {

/// Axes are an input since opset 13 for sums, since 18 for all.
Ref reduced(Site &n, const char *op, const Ref &x, bool axesAreInput) {
  Ints axes = n.integers("axes");
  Attributes attributes{attr("keepdims", int64_t(n.flag("keep_dims")))};
  Refs operands{x};
  if (axesAreInput || n.opset() >= 18)
    operands.push_back(n.ints(axes));
  else
    attributes.push_back(attr("axes", axes));
  return n.emit(op, operands, std::move(attributes));
}

bool reduce(Site &n) {
  if (n.integers("axes").empty()) return n.out(n.emit("Identity", {n.in(0)}));
  std::string kind = n.word("kind");
  const char *op = kind == "sum"    ? "ReduceSum"
                   : kind == "prod" ? "ReduceProd"
                   : kind == "max"  ? "ReduceMax"
                                    : "ReduceMin";
  Ref x = n.in(0);
  if (x.dtype == DType::boolean && !n.can(op, x.dtype))
    return n.out(n.cast(reduced(n, op, n.cast(x, DType::u8), false), DType::boolean));
  return n.out(reduced(n, op, x, kind == "sum"));
}

bool reduceMean(Site &n) {
  if (n.integers("axes").empty()) return n.out(n.emit("Identity", {n.in(0)}));
  // The sum of narrow integers wraps before it is divided.
  DType type = n.type(0).dtype;
  if (!n.can("ReduceMean", type) || (!isFloat(type) && size(type) < 4)) return false;
  return n.out(reduced(n, "ReduceMean", n.in(0), false));
}

bool argReduce(Site &n) {
  return n.out(n.emit(n.word("kind") == "max" ? "ArgMax" : "ArgMin", {n.in(0)},
                      {attr("axis", n.integer("axis")), attr("keepdims", int64_t(n.flag("keep_dims"))),
                       attr("select_last_index", int64_t(n.flag("last_index")))},
                      DType::i64));
}

bool cumulative(Site &n) {
  if (n.word("kind") != "sum") n.refuse("runs a product; ONNX has running sums only before opset 26");
  return n.out(n.emit("CumSum", {n.in(0), n.integer64(n.integer("axis"))},
                      {attr("exclusive", int64_t(n.flag("exclusive"))), attr("reverse", int64_t(n.flag("reverse")))}));
}

bool topK(Site &n) {
  Refs results = n.emitAll(
      "TopK", {n.in(0), n.ints({n.integer("k")})},
      {attr("axis", n.integer("axis")), attr("largest", int64_t(n.flag("largest", true))), attr("sorted", int64_t(1))},
      {n.type(0).dtype, DType::i64});
  n.out(results[0], 0);
  return n.out(results[1], 1);
}

} // namespace

void addReductions(Table &t) {
  t.add("nn.reduce", reduce);
  t.add("nn.reduce_mean", reduceMean);
  t.add("nn.arg_reduce", argReduce);
  t.add("nn.cumulative", cumulative);
  t.add("nn.top_k", topK);
}

} // namespace sprig::onnxexport
