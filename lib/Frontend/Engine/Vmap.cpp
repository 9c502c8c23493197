// A function's graph, recorded for one slice, on all slices at once.
#include "sprig/vmap.h"
#include "lib/Frontend/Record.h"
#include <algorithm>
#include <map>

namespace sprig {

using namespace frontend;

namespace {

/// How an operation takes an axis more in front.
enum class Rule {
  elementwise, ///< operands broadcast, from the last axis on
  axis,        ///< the attribute "axis" counts one more; of several operands all have the new axis
  axes,        ///< the same with the list "axes"
  reshape,     ///< the result's type says it all
  broadcast,
  transpose,
  slice,
  pad,
  matmul,
  linear,
  gather,
};

const std::map<std::string, Rule> &rules() {
  static const auto &table = *[] {
    auto *result = new std::map<std::string, Rule>{{"nn.reduce", Rule::axes},
                                                   {"nn.reduce_mean", Rule::axes},
                                                   {"nn.softmax", Rule::axis},
                                                   {"nn.log_softmax", Rule::axis},
                                                   {"nn.arg_reduce", Rule::axis},
                                                   {"nn.cumulative", Rule::axis},
                                                   {"nn.top_k", Rule::axis},
                                                   {"nn.concat", Rule::axis},
                                                   {"nn.gather_elements", Rule::axis},
                                                   {"nn.scatter_elements", Rule::axis},
                                                   {"nn.reshape", Rule::reshape},
                                                   {"nn.broadcast", Rule::broadcast},
                                                   {"nn.transpose", Rule::transpose},
                                                   {"nn.slice", Rule::slice},
                                                   {"nn.pad", Rule::pad},
                                                   {"nn.matmul", Rule::matmul},
                                                   {"nn.linear", Rule::linear},
                                                   {"nn.gather", Rule::gather}};
    for (const char *name : {"add",          "sub",           "mul",   "div",  "rem",      "mod",         "pow",
                             "max",          "min",           "and",   "or",   "xor",      "shl",         "shr",
                             "compare",      "select",        "cast",  "abs",  "neg",      "sign",        "exp",
                             "log",          "log1p",         "expm1", "sqrt", "rsqrt",    "reciprocal",  "floor",
                             "ceil",         "round",         "sin",   "cos",  "tan",      "asin",        "acos",
                             "atan",         "sinh",          "cosh",  "tanh", "asinh",    "acosh",       "atanh",
                             "erf",          "sigmoid",       "relu",  "not",  "in_range", "class_index", "is_nan",
                             "is_inf",       "stop_gradient", "silu",  "mish", "softplus", "softsign",    "hard_swish",
                             "hard_sigmoid", "gelu",          "elu",   "celu", "selu",     "leaky_relu"})
      (*result)[std::string("nn.") + name] = Rule::elementwise;
    return result;
  }();
  return table;
}

Shape prepended(int64_t first, const Shape &shape) {
  Shape result{first};
  for (int64_t n : shape) result.push_back(n);
  return result;
}

/// One operation with everything that says what it does.
struct Operation {
  GraphNode node;
  std::vector<Tensor> operands;
  std::vector<TensorType> results;

  Attr &attr(const char *name) {
    return *std::find_if(node.attrs.begin(), node.attrs.end(),
                         [&](const Attr &a) { return std::strcmp(a.name, name) == 0; });
  }
  /// On its operands alone, as a graph of one node.
  Graph graph() const {
    Graph one;
    for (const Tensor &operand : operands) one.types.push_back(operand.type());
    one.inputCount = uint32_t(operands.size());
    one.nodes.push_back(node);
    one.nodes[0].operands.clear();
    for (uint32_t i = 0; i < one.inputCount; ++i) one.nodes[0].operands.push_back(i);
    one.nodes[0].firstResult = one.inputCount;
    for (const TensorType &type : results) {
      one.outputs.push_back(uint32_t(one.types.size()));
      one.types.push_back(type);
    }
    return one;
  }
  std::vector<Tensor> record(Source at) const { return replay(graph(), operands, at); }
};

/// Carries a graph out on `count` slices.
class Batching {
public:
  Batching(const Graph &graph, int64_t count, Source at) : graph(graph), count(count), at(at) {}

  /// `inputs`: the sliced ones, `captured`: what all slices share.
  std::vector<Tensor> run(std::span<const Tensor> inputs, std::span<const Tensor> captured) {
    for (const Tensor &input : inputs) values.push_back({input, true});
    for (const Tensor &tensor : captured) values.push_back({tensor, false});
    for (const GraphNode &node : graph.nodes) carryOut(node);
    std::vector<Tensor> results;
    for (uint32_t output : graph.outputs) results.push_back(sliced(output));
    return results;
  }

private:
  struct Entry {
    Tensor tensor;
    bool isSliced; ///< has the slices as its first axis
  };
  const TensorType &typeOf(uint32_t number) const { return graph.types[number]; } ///< of a slice

  Tensor reshaped(const Tensor &x, const Shape &shape) const {
    const TensorType &type = x.type();
    return type.shape == shape ? x : record(opName("nn.reshape"), {x}, {}, {type.dtype, shape}, at);
  }
  /// A value as one of all slices, if need be as often as there are slices.
  Tensor sliced(uint32_t number) const {
    const Entry &e = values[number];
    if (e.isSliced) return e.tensor;
    const TensorType &type = typeOf(number);
    return record(opName("nn.broadcast"), {e.tensor}, {}, {type.dtype, prepended(count, type.shape)}, at);
  }
  /// A sliced value whose slices have `rank` axes, the new ones in front, of size 1.
  Tensor lifted(uint32_t number, int rank) const {
    const Entry &e = values[number];
    if (!e.isSliced) return e.tensor;
    const Shape &own = typeOf(number).shape;
    Shape shape{count};
    for (int i = own.rank(); i < rank; ++i) shape.push_back(1);
    for (int64_t n : own) shape.push_back(n);
    return reshaped(e.tensor, shape);
  }

  void carryOut(const GraphNode &node) {
    Operation op{node, {}, {}};
    if (!op.node.source.line) op.node.source = at;
    bool isSliced = false;
    for (uint32_t operand : node.operands) isSliced |= values[operand].isSliced;
    if (node.op->text == "nn.philox" || node.op->text == "nn.dropout")
      fail(op.node.source, "vmap",
           "draws random numbers, which would be the same for all slices; draw them outside, "
           "for all slices, and give them as an input");
    for (uint32_t i = 0; i < node.resultCount; ++i) op.results.push_back(typeOf(node.firstResult + i));
    LayerScope scope(node.layer);
    std::vector<Tensor> made;
    if (!isSliced) {
      for (uint32_t operand : node.operands) op.operands.push_back(values[operand].tensor);
      made = op.record(at);
    } else {
      for (TensorType &type : op.results) {
        if (type.shape.rank() == Shape::kMaxRank)
          fail(op.node.source, "vmap",
               "has no axis left for the slices of " + describe(type) + " of " + node.op->text + "; at most " +
                   std::to_string(Shape::kMaxRank - 1) + " are possible");
        type.shape = prepended(count, type.shape);
      }
      auto rule = rules().find(node.op->text);
      made = rule != rules().end() && applies(rule->second, op, node) ? op.record(at) : oneByOne(node);
    }
    for (Tensor &each : made) values.push_back({std::move(each), isSliced});
  }

  /// The operation on all slices; false where it has no such form.
  bool applies(Rule rule, Operation &op, const GraphNode &node) const {
    auto isSliced = [&](size_t i) { return values[node.operands[i]].isSliced; };
    auto rankOf = [&](uint32_t number) { return typeOf(number).shape.rank(); };
    auto takeAll = [&] {
      for (uint32_t operand : node.operands) op.operands.push_back(sliced(operand));
    };
    auto takeLifted = [&](int rank) {
      for (uint32_t operand : node.operands) op.operands.push_back(lifted(operand, rank));
    };
    auto prepend = [&](const char *name, int64_t first, int64_t more) {
      Shape shape{first};
      for (int64_t n : op.attr(name).integers) shape.push_back(n + more);
      op.attr(name).integers = shape;
    };
    switch (rule) {
    case Rule::elementwise: {
      int rank = 0;
      for (uint32_t operand : node.operands) rank = std::max(rank, rankOf(operand));
      takeLifted(rank);
      return true;
    }
    case Rule::axis:
      takeAll();
      ++op.attr("axis").integer;
      return true;
    case Rule::axes:
      takeAll();
      for (int i = 0; i < op.attr("axes").integers.rank(); ++i) ++op.attr("axes").integers[i];
      return true;
    case Rule::reshape: takeAll(); return true;
    case Rule::broadcast: takeLifted(op.results[0].shape.rank() - 1); return true;
    case Rule::transpose:
      takeAll();
      prepend("permutation", 0, 1);
      return true;
    case Rule::slice:
      takeAll();
      prepend("starts", 0, 0);
      prepend("sizes", count, 0);
      prepend("steps", 1, 0);
      return true;
    case Rule::pad:
      if (isSliced(1)) return false;
      op.operands = {sliced(node.operands[0]), values[node.operands[1]].tensor};
      prepend("low", 0, 0);
      prepend("high", 0, 0);
      return true;
    case Rule::matmul: takeLifted(std::max(rankOf(node.operands[0]), rankOf(node.operands[1]))); return true;
    case Rule::linear:
      for (size_t i = 1; i < node.operands.size(); ++i)
        if (isSliced(i)) return false;
      for (uint32_t operand : node.operands) op.operands.push_back(values[operand].tensor);
      return true;
    case Rule::gather: return gathers(op, node);
    }
    return false;
  }

  bool gathers(Operation &op, const GraphNode &node) const {
    const Entry &x = values[node.operands[0]], &indices = values[node.operands[1]];
    if (x.isSliced && indices.isSliced) return false;
    if (x.isSliced)
      ++op.attr("axis").integer;
    else if (op.attr("axis").integer != 0)
      return false; // the slices would come behind other axes
    op.operands = {x.tensor, indices.tensor};
    return true;
  }

  /// The operation on one slice after the other, as one nn.scan.
  std::vector<Tensor> oneByOne(const GraphNode &node) const {
    Graph body;
    std::vector<Tensor> operands;
    GraphNode step = node;
    if (!step.source.line) step.source = at;
    size_t counts[2] = {};
    for (bool slicedOnes : {true, false}) // the region's order
      for (size_t i = 0; i < node.operands.size(); ++i) {
        const Entry &e = values[node.operands[i]];
        if (e.isSliced != slicedOnes) continue;
        step.operands[i] = body.inputCount++;
        body.types.push_back(typeOf(node.operands[i]));
        operands.push_back(e.tensor);
        ++counts[!slicedOnes];
      }
    step.firstResult = body.inputCount;
    std::vector<TensorType> results;
    for (uint32_t i = 0; i < node.resultCount; ++i) {
      const TensorType &type = typeOf(node.firstResult + i);
      body.outputs.push_back(uint32_t(body.types.size()));
      body.types.push_back(type);
      results.push_back({type.dtype, prepended(count, type.shape)});
    }
    Source line = step.source;
    body.nodes.push_back(std::move(step));
    std::string segments = "array<i32: " + std::to_string(counts[0]) + ", 0, " + std::to_string(counts[1]) + ">";
    AttrList attrs{Attr::other("operandSegmentSizes", intern(segments).c_str()), Attr::of("steps", count)};
    return recordAll(opName("nn.scan"), operands, std::move(attrs), results, line,
                     {std::make_shared<const Graph>(std::move(body))});
  }

  const Graph &graph;
  const int64_t count;
  const Source at;
  std::vector<Entry> values;
};

} // namespace

std::vector<Tensor> vmapAll(const TensorFunction &f, std::span<const Tensor> inputs, Source at) {
  if (inputs.empty()) fail(at, "vmap", "takes one input or more, whose first axis has the slices");
  std::vector<TensorType> types;
  for (const Tensor &input : inputs) {
    requireDefined(input, "vmap", "an input", at);
    const TensorType &type = input.type(), &first = inputs[0].type();
    if (type.shape.empty() || type.shape[0] != first.shape[0])
      fail(at, "vmap",
           type.shape.empty() ? "has no first axis to slice in " + describe(type)
                              : "inputs " + describe(first) + " and " + describe(type) + " differ in their first axis");
    if (type.shape[0] == 0) fail(at, "vmap", "has no slice in " + describe(type));
    types.push_back({type.dtype, Shape(type.shape.data() + 1, type.shape.size() - 1)});
  }
  std::vector<Tensor> captured;
  Graph graph = traceRegion(types, f, captured, at);
  return Batching(graph, inputs[0].type().shape[0], at).run(inputs, captured);
}

namespace {
/// The rows of a unit matrix, each of this type.
Tensor unitRows(const TensorType &type, Source at) {
  int64_t n = type.elements();
  const TensorType index{DType::i64, {n, n}};
  Tensor row = record(opName("nn.iota"), {}, {Attr::of("axis", 0)}, index, at);
  Tensor column = record(opName("nn.iota"), {}, {Attr::of("axis", 1)}, index, at);
  Tensor isOn = record(opName("nn.compare"), {row, column}, {Attr::word("predicate", "predicate eq")},
                       {DType::boolean, index.shape}, at);
  Tensor flat = record(opName("nn.cast"), {isOn}, {}, {type.dtype, index.shape}, at);
  return record(opName("nn.reshape"), {flat}, {}, {type.dtype, prepended(n, type.shape)}, at);
}
} // namespace

Tensor jacobian(const std::function<Tensor(Tensor)> &f, const Tensor &x, Source at) {
  requireDefined(x, "jacobian", "what the derivative is taken by", at);
  Tensor root = x.requireGrad(at), y = f(root);
  requireDefined(y, "jacobian", "the function's result", at);
  const TensorType own = y.type();
  if (!isFloat(own.dtype)) fail(at, "jacobian", "the function gives " + describe(own) + ", expected floats");
  if (own.elements() == 0) fail(at, "jacobian", "the function gives " + describe(own) + ", which has no elements");
  auto pullBack = [&](std::span<const Tensor> seed) {
    return grad({&y, 1}, {&root, 1}, {.createGraph = true, .seeds = {seed[0]}}, at);
  };
  Tensor seeds = unitRows(own, at), rows = vmapAll(pullBack, {&seeds, 1}, at)[0];
  Shape shape = own.shape;
  if (shape.rank() + x.rank(at) > Shape::kMaxRank)
    fail(at, "jacobian",
         "has more than " + std::to_string(Shape::kMaxRank) + " axes, those of " + describe(own) + " and of " +
             describe(x.type(at)));
  for (int64_t n : x.shape(at)) shape.push_back(n);
  return record(opName("nn.reshape"), {rows}, {}, {x.dtype(at), shape}, at);
}

Tensor hessian(const std::function<Tensor(Tensor)> &f, const Tensor &x, Source at) {
  auto gradient = [&](Tensor v) {
    Tensor root = v.requireGrad(at), y = f(root);
    requireDefined(y, "hessian", "the function's result", at);
    return grad(y, root, {.createGraph = true}, at);
  };
  return jacobian(gradient, x, at);
}

} // namespace sprig
