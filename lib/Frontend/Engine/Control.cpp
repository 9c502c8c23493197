// Control flow as recorded operations whose regions are graphs.
#include "sprig/control.h"
#include "lib/Graph/GraphRewriter.h"
#include "lib/Frontend/Record.h"
#include <algorithm>

namespace sprig {

using namespace frontend;

namespace {

/// A region, and what it uses of outside.
struct Region {
  Graph graph;
  std::vector<Tensor> captured;
};

Region trace(std::span<const TensorType> inputs, const std::function<TensorList(std::span<const Tensor>)> &f,
             Source at) {
  Region region;
  region.graph = traceRegion(inputs, f, region.captured, at);
  return region;
}

/// What several regions use of outside, each tensor once.
std::vector<Tensor> united(std::initializer_list<const Region *> regions) {
  std::vector<Tensor> all;
  for (const Region *region : regions)
    for (const Tensor &tensor : region->captured)
      if (std::none_of(all.begin(), all.end(), [&](const Tensor &t) { return t.raw() == tensor.raw(); }))
        all.push_back(tensor);
  return all;
}

/// The region with all of `captured` as its inputs after its own ones.
std::shared_ptr<const Graph> widened(const Region &region, std::span<const Tensor> captured) {
  GraphRewriter rewriter(region.graph);
  uint32_t own = region.graph.inputCount - uint32_t(region.captured.size());
  for (uint32_t i = 0; i < own; ++i) rewriter.map(i, rewriter.addInput(region.graph.types[i]));
  for (const Tensor &tensor : captured) {
    uint32_t input = rewriter.addInput(tensor.type());
    for (size_t k = 0; k < region.captured.size(); ++k)
      if (region.captured[k].raw() == tensor.raw()) rewriter.map(own + uint32_t(k), input);
  }
  rewriter.copy();
  return std::make_shared<const Graph>(std::move(rewriter.to));
}

std::vector<TensorType> typesOf(std::span<const Tensor> tensors, const char *op, Source at) {
  std::vector<TensorType> types;
  for (const Tensor &tensor : tensors) {
    requireDefined(tensor, op, "a value", at);
    types.push_back(tensor.type());
  }
  return types;
}

std::vector<TensorType> outputTypes(const Graph &graph) {
  std::vector<TensorType> types;
  for (uint32_t output : graph.outputs) types.push_back(graph.types[output]);
  return types;
}

void requirePredicate(const TensorType &type, const char *op, Source at) {
  if (!(type == TensorType{DType::boolean, {}}))
    fail(at, op, "the condition is " + describe(type) + ", expected a boolean scalar (i1)");
}

void requireSame(const std::vector<TensorType> &got, const std::vector<TensorType> &wanted, const char *op,
                 const std::string &what, const std::string &like, Source at) {
  if (got.size() != wanted.size())
    fail(at, op,
         what + " gives " + std::to_string(got.size()) + " tensors, " + like + " " + std::to_string(wanted.size()));
  for (size_t i = 0; i < got.size(); ++i)
    if (!(got[i] == wanted[i]))
      fail(at, op,
           what + " gives " + describe(got[i]) + " at place " + std::to_string(i) + ", " + like + " " +
               describe(wanted[i]));
}

/// "array<i32: 1, 2>"
Attr segments(std::initializer_list<size_t> sizes) {
  std::string text = "array<i32: ";
  for (size_t size : sizes) text += (text.back() == ' ' ? "" : ", ") + std::to_string(size);
  return Attr::other("operandSegmentSizes", intern(text + ">").c_str());
}

void append(std::vector<Tensor> &list, std::span<const Tensor> more) {
  list.insert(list.end(), more.begin(), more.end());
}

} // namespace

TensorList condAll(const Operand &predicate, const std::function<TensorList()> &yes,
                   const std::function<TensorList()> &no) {
  Source at = predicate.at;
  if (predicate.kind != Operand::Kind::tensor) return predicate.integer || predicate.real ? yes() : no();
  requireDefined(predicate.tensor, "cond", "the condition", at);
  requirePredicate(predicate.tensor.type(), "cond", at);
  Region then = trace({}, [&](std::span<const Tensor>) { return yes(); }, at);
  Region otherwise = trace({}, [&](std::span<const Tensor>) { return no(); }, at);
  std::vector<TensorType> types = outputTypes(then.graph);
  requireSame(outputTypes(otherwise.graph), types, "cond", "the second branch", "the first", at);
  std::vector<Tensor> captured = united({&then, &otherwise}), operands{predicate.tensor};
  append(operands, captured);
  return recordAll(opName("nn.cond"), operands, {}, types, at, {widened(then, captured), widened(otherwise, captured)});
}

TensorList whileLoopAll(const std::function<Tensor(std::span<const Tensor>)> &condition,
                        const std::function<TensorList(std::span<const Tensor>)> &body, std::span<const Tensor> initial,
                        const WhileOptions &options, Source at) {
  if (options.maxSteps < 0)
    fail(at, "whileLoop", "maxSteps is " + std::to_string(options.maxSteps) + ", expected at least 0");
  std::vector<TensorType> types = typesOf(initial, "whileLoop", at);
  Region test = trace(types, [&](std::span<const Tensor> v) { return TensorList{condition(v)}; }, at);
  requirePredicate(outputTypes(test.graph)[0], "whileLoop", at);
  Region step = trace(types, body, at);
  requireSame(outputTypes(step.graph), types, "whileLoop", "the body", "the loop carries", at);
  std::vector<Tensor> captured = united({&test, &step}), operands(initial.begin(), initial.end());
  append(operands, captured);
  AttrList attrs{segments({initial.size(), captured.size()})};
  if (options.maxSteps) attrs.push_back(Attr::of("max_steps", options.maxSteps));
  return recordAll(opName("nn.while"), operands, std::move(attrs), types, at,
                   {widened(test, captured), widened(step, captured)});
}

ScanResult
scanAll(const std::function<std::pair<TensorList, TensorList>(std::span<const Tensor>, std::span<const Tensor>)> &step,
        std::span<const Tensor> carry, std::span<const Tensor> inputs, const ScanOptions &options, Source at) {
  std::vector<TensorType> carried = typesOf(carry, "scan", at), types;
  if (inputs.empty()) fail(at, "scan", "has no input, so no number of steps; expected at least one");
  for (const TensorType &type : typesOf(inputs, "scan", at)) {
    if (type.shape.empty() || type.shape[0] != inputs[0].type().shape[0])
      fail(at, "scan",
           "inputs " + describe(inputs[0].type()) + " and " + describe(type) + " differ in their first axis");
    TensorType slice{type.dtype, {}};
    for (int axis = 1; axis < type.shape.rank(); ++axis) slice.shape.push_back(type.shape[axis]);
    types.push_back(slice);
  }
  int64_t steps = inputs[0].type().shape[0];
  types.insert(types.end(), carried.begin(), carried.end());
  size_t outputs = 0;
  Region body = trace(
      types,
      [&](std::span<const Tensor> v) {
        auto [next, out] = step(v.subspan(inputs.size()), v.first(inputs.size()));
        outputs = out.size();
        append(next, out);
        return next;
      },
      at);
  std::vector<TensorType> results = outputTypes(body.graph);
  requireSame({results.begin(), results.end() - int64_t(outputs)}, carried, "scan", "the step", "the scan carries", at);
  for (size_t i = carried.size(); i < results.size(); ++i) {
    Shape stacked{steps};
    for (int64_t n : results[i].shape) stacked.push_back(n);
    results[i].shape = stacked;
  }
  if (steps == 0) {
    ScanResult result{{carry.begin(), carry.end()}, {}};
    for (size_t i = carried.size(); i < results.size(); ++i) result.outputs.push_back(splat(0, results[i], at, "scan"));
    return result;
  }
  std::vector<Tensor> operands(inputs.begin(), inputs.end());
  append(operands, carry);
  append(operands, body.captured);
  AttrList attrs{segments({inputs.size(), carry.size(), body.captured.size()}), Attr::of("steps", steps)};
  if (options.reverse) attrs.push_back(Attr::unit("reverse"));
  auto region = std::make_shared<const Graph>(std::move(body.graph));
  TensorList all = recordAll(opName("nn.scan"), operands, std::move(attrs), results, at, {region});
  ScanResult result;
  result.carry.assign(all.begin(), all.begin() + int64_t(carry.size()));
  result.outputs.assign(all.begin() + int64_t(carry.size()), all.end());
  return result;
}

} // namespace sprig
