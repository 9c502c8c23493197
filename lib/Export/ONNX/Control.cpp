// Branches and loops. ONNX's bodies see the values around them, so what is the same in every step needs no argument.
#include "lib/Export/ONNX/Exporter.h"

namespace sprig::onnxexport {

namespace {

/// Writes the region into `body` and its results after the others.
void finish(Site &n, size_t region, Body &body, const Refs &inputs) {
  Refs outputs;
  n.region(region, body, inputs, outputs);
  const Graph &graph = *n.node.regions[region];
  for (size_t i = 0; i < outputs.size(); ++i) n.addOutput(body, outputs[i], n.regionDims(region, graph.outputs[i]));
}

Ref argument(Site &n, Body &body, size_t region, uint32_t value, const char *what) {
  Ref ref{n.exporter.unique(n.name(what)), n.node.regions[region]->types[value].dtype};
  n.addInput(body, ref, n.regionDims(region, value));
  return ref;
}

std::vector<DType> resultTypes(const Site &n) {
  std::vector<DType> types;
  for (uint32_t i = 0; i < n.node.resultCount; ++i) types.push_back(n.resultType(i).dtype);
  return types;
}

void outAll(Site &n, const Refs &results) {
  for (size_t i = 0; i < results.size(); ++i) n.out(results[i], i);
}

bool cond(Site &n) {
  Refs values;
  for (size_t i = 1; i < n.inputs(); ++i) values.push_back(n.in(i));
  Body then, otherwise;
  then.proto.set_name(n.exporter.unique(n.name("then")));
  otherwise.proto.set_name(n.exporter.unique(n.name("else")));
  finish(n, 0, then, values);
  finish(n, 1, otherwise, values);
  outAll(n, n.emitAll("If", {n.in(0)},
                      {attr("then_branch", std::move(then.proto)), attr("else_branch", std::move(otherwise.proto))},
                      resultTypes(n)));
  return true;
}

/// Scan takes the carried values, then the inputs; here the inputs come first.
bool scan(Site &n) {
  Ints segments = n.integers("operandSegmentSizes");
  if (segments.size() != 3) n.refuse("does not say which of its operands are carried");
  size_t inputs = size_t(segments[0]), carried = size_t(segments[1]), outputs = n.node.resultCount - carried;
  if (!inputs) n.refuse("has no input to scan over; ONNX's Scan has one at least");
  Body body;
  body.proto.set_name(n.exporter.unique(n.name("step")));
  Refs arguments(n.inputs()), operands;
  for (size_t i = inputs; i < inputs + carried; ++i) {
    arguments[i] = argument(n, body, 0, uint32_t(i), "carry");
    operands.push_back(n.in(i));
  }
  for (size_t i = 0; i < inputs; ++i) {
    arguments[i] = argument(n, body, 0, uint32_t(i), "slice");
    operands.push_back(n.in(i));
  }
  for (size_t i = inputs + carried; i < n.inputs(); ++i) arguments[i] = n.in(i);
  finish(n, 0, body, arguments);
  Attributes attributes{attr("num_scan_inputs", int64_t(inputs)), attr("body", std::move(body.proto))};
  if (n.flag("reverse")) {
    attributes.push_back(attr("scan_input_directions", Ints(inputs, 1)));
    if (outputs) attributes.push_back(attr("scan_output_directions", Ints(outputs, 1)));
  }
  outAll(n, n.emitAll("Scan", operands, std::move(attributes), resultTypes(n)));
  return true;
}

/// Loop asks for its condition before the first step and after each one.
bool whileLoop(Site &n) {
  Ints segments = n.integers("operandSegmentSizes");
  if (segments.size() != 2) n.refuse("does not say which of its operands are carried");
  size_t carried = size_t(segments[0]);
  Refs initial, outer;
  for (size_t i = 0; i < n.inputs(); ++i) (i < carried ? initial : outer).push_back(n.in(i));
  auto withOuter = [&](Refs values) {
    values.insert(values.end(), outer.begin(), outer.end());
    return values;
  };
  Refs first;
  n.region(0, n.scope.body, withOuter(initial), first);

  Body body;
  body.proto.set_name(n.exporter.unique(n.name("step")));
  n.addInput(body, {n.exporter.unique(n.name("iteration")), DType::i64}, {});
  n.addInput(body, {n.exporter.unique(n.name("go_on")), DType::boolean}, {});
  Refs arguments, next, condition;
  for (size_t i = 0; i < carried; ++i) arguments.push_back(argument(n, body, 1, uint32_t(i), "carry"));
  n.region(1, body, withOuter(arguments), next);
  n.region(0, body, withOuter(next), condition);
  n.addOutput(body, condition[0], {});
  const Graph &step = *n.node.regions[1];
  for (size_t i = 0; i < carried; ++i) n.addOutput(body, next[i], n.regionDims(1, step.outputs[i]));

  Ref most = graph::find(n.node.attrs, "max_steps") ? n.integer64(n.integer("max_steps")) : Ref();
  Refs operands{most, first[0]};
  operands.insert(operands.end(), initial.begin(), initial.end());
  if (most.name.empty()) operands[0].dtype = DType::i64;
  outAll(n, n.emitAll("Loop", operands, {attr("body", std::move(body.proto))}, resultTypes(n)));
  return true;
}

//===- What has no form
//-------------------------------------------------------------------------------------------------===//

bool random(Site &n) {
  n.refuse("is random, which ONNX models for inference are not; for a network, call eval() before it is exported");
}
bool gradient(Site &n) { n.refuse("is a part of a gradient, which has no form in ONNX"); }

} // namespace

void addControl(Table &t) {
  t.add("nn.cond", cond);
  t.add("nn.scan", scan);
  t.add("nn.while", whileLoop);
}

void addRefusals(Table &t) {
  for (const char *op : {"nn.philox", "nn.dropout"}) t.add(op, random);
  for (const char *op : {"nn.gradient", "nn.jvp", "nn.pool_grad", "nn.conv_filter_grad"}) t.add(op, gradient);
}

} // namespace sprig::onnxexport
