// A function's graph, recorded for one slice, on all slices at once.
#include "sprig/vmap.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Engine/Hash.h"
#include "lib/Frontend/Record.h"
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace sprig {

using namespace frontend;

namespace {

/// How an operation that is not elementwise takes an axis more in front.
enum class Rule {
  axis,    ///< the attribute "axis" counts one more; of several operands all have the new axis
  axes,    ///< the same with the list "axes"
  reshape, ///< the result's type says it all
  broadcast,
  transpose,
  slice,
  pad,
  matmul,
  linear,
  after, ///< the first operand, when the others are there
  norm,  ///< "axis" counts one more; scale and shift broadcast
  // What the results say too:
  gather,
  batch,    ///< slices are more samples of the first operand, where they share the others
  channels, ///< the same; else both operands' slices are groups of channels
};

const std::map<std::string, Rule> &rules() {
  static const auto &table = *new std::map<std::string, Rule>{{"nn.reduce", Rule::axes},
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
                                                              {"nn.after", Rule::after},
                                                              {"nn.gather", Rule::gather},
                                                              {"nn.layer_norm", Rule::norm},
                                                              {"nn.rms_norm", Rule::norm},
                                                              {"nn.group_norm", Rule::batch},
                                                              {"nn.batch_norm", Rule::batch},
                                                              {"nn.pool", Rule::batch},
                                                              {"nn.avg_pool", Rule::batch},
                                                              {"nn.conv_transpose", Rule::batch},
                                                              {"nn.conv", Rule::channels},
                                                              {"nn.conv_filter_grad", Rule::channels}};
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

  Attr *find(const char *name) {
    auto found = std::find_if(node.attrs.begin(), node.attrs.end(),
                              [&](const Attr &a) { return std::strcmp(a.name, name) == 0; });
    return found == node.attrs.end() ? nullptr : &*found;
  }
  Attr &attr(const char *name) { return *find(name); }
  std::vector<Tensor> record() const {
    if (node.constant) return replay(graphOf(node, {}, results), {}, node.source);
    return recordAll(*node.op, operands, node.attrs, results, node.source, node.regions);
  }
};

/// Of an elementwise operation, the operands that may have one element where others have several: a bit for each.
using Broadcasts = uint64_t;

std::optional<Broadcasts> askForBroadcasts(const Graph &graph, const GraphNode &node) {
  std::vector<TensorType> operands, results;
  for (uint32_t operand : node.operands) operands.push_back({graph.types[operand].dtype, {2, 3}});
  for (uint32_t i = 0; i < node.resultCount; ++i) results.push_back({graph.types[node.firstResult + i].dtype, {2, 3}});
  if (!isElementwise(graphOf(node, operands, results))) return std::nullopt;
  Broadcasts broadcasts = 0;
  for (size_t i = 0; operands.size() > 1 && i < operands.size(); ++i) {
    operands[i].shape = {1, 3};
    broadcasts |= Broadcasts(isElementwise(graphOf(node, operands, results))) << i;
    operands[i].shape = {2, 3};
  }
  return broadcasts;
}

/// None of an operation that is not elementwise. The dialect says which ones are, for attributes and types of elements:
/// a loss without reduction is, its mean is not. Shapes do not count, so that each kind of operation is asked for once
/// in a process, and a program without vmap never loads the compiler for it.
std::optional<Broadcasts> broadcastsOf(const Graph &graph, const GraphNode &node) {
  static std::mutex mutex;
  static auto &kinds = *new std::unordered_map<Hash, std::optional<Broadcasts>>;
  constexpr size_t kMostKinds = 4096; // of ever new attributes
  Hash kind;
  kind.mix(node);
  for (uint32_t operand : node.operands) kind.mix(uint64_t(graph.types[operand].dtype));
  for (uint32_t i = 0; i < node.resultCount; ++i) kind.mix(uint64_t(graph.types[node.firstResult + i].dtype));
  std::lock_guard lock(mutex);
  if (auto known = kinds.find(kind); known != kinds.end()) return known->second;
  if (kinds.size() >= kMostKinds) kinds.clear();
  return kinds[kind] = askForBroadcasts(graph, node);
}

/// Carries a graph out on `count` slices.
class Batching {
public:
  Batching(const Graph &graph, int64_t count, Source at) : graph(graph), count(count), at(at) {}

  /// `inputs`: the sliced ones, `captured`: what all slices share.
  std::vector<Tensor> run(std::span<const Tensor> inputs, std::span<const Tensor> captured) {
    for (const Tensor &input : inputs) values.push_back({input, true});
    for (const Tensor &tensor : captured) values.push_back({tensor, false});
    return carryOutAll();
  }

private:
  /// The outputs on all slices; values has the inputs.
  std::vector<Tensor> carryOutAll() {
    for (const GraphNode &node : graph.nodes) carryOut(node);
    std::vector<Tensor> results;
    for (uint32_t output : graph.outputs) results.push_back(sliced(output));
    return results;
  }

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
      made = op.record();
    } else {
      for (TensorType &type : op.results) {
        if (type.shape.rank() == Shape::kMaxRank)
          fail(op.node.source, "vmap",
               "has no axis left for the slices of " + describe(type) + " of " + node.op->text + "; at most " +
                   std::to_string(Shape::kMaxRank - 1) + " are possible");
        type.shape = prepended(count, type.shape);
      }
      auto rule = rules().find(node.op->text);
      if (rule != rules().end() && rule->second >= Rule::gather)
        made = amongOthers(rule->second, op, node);
      else if (rule != rules().end() ? applies(rule->second, op, node) : appliesToElements(op, node))
        made = op.record();
      if (made.empty()) made = byParts(node);
      if (made.empty()) made = oneByOne(node);
    }
    for (Tensor &each : made) values.push_back({std::move(each), isSliced});
  }

  /// An elementwise operation on all slices; false for others.
  bool appliesToElements(Operation &op, const GraphNode &node) const {
    if (!node.regions.empty() || node.operands.size() > 64) return false;
    int rank = typeOf(node.firstResult).shape.rank();
    std::optional<Broadcasts> broadcasts = isBroadcast(node) ? broadcastsOf(graph, node) : std::nullopt;
    for (size_t i = 0; broadcasts && i < node.operands.size(); ++i)
      op.operands.push_back(*broadcasts >> i & 1 ? lifted(node.operands[i], rank) : sliced(node.operands[i]));
    return broadcasts.has_value();
  }

  /// Whether the result has the shape that the operands broadcast to.
  bool isBroadcast(const GraphNode &node) const {
    const Shape &shape = typeOf(node.firstResult).shape;
    for (uint32_t operand : node.operands)
      if (typeOf(operand).shape.rank() > shape.rank()) return false;
    for (int i = 1; i <= shape.rank(); ++i) {
      int64_t common = 1;
      for (uint32_t operand : node.operands)
        if (const Shape &own = typeOf(operand).shape; common == 1 && i <= own.rank()) common = own[own.rank() - i];
      if (common != shape[shape.rank() - i]) return false;
    }
    return true;
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
    case Rule::after:
      for (size_t i = 0; i < node.operands.size(); ++i)
        op.operands.push_back(i ? values[node.operands[i]].tensor : sliced(node.operands[0]));
      return true;
    case Rule::norm:
      op.operands = {sliced(node.operands[0])};
      for (size_t i = 1; i < node.operands.size(); ++i)
        op.operands.push_back(lifted(node.operands[i], rankOf(node.operands[0])));
      ++op.attr("axis").integer;
      return true;
    case Rule::gather:
    case Rule::batch:
    case Rule::channels: break;
    }
    return false;
  }

  /// Slices as more indices, as more samples, or as more groups of channels; empty where that is not possible.
  std::vector<Tensor> amongOthers(Rule rule, Operation &op, const GraphNode &node) const {
    if (rule == Rule::gather) return gathered(op, node);
    bool othersShared = values[node.operands[0]].isSliced;
    for (size_t i = 1; i < node.operands.size(); ++i) othersShared &= !values[node.operands[i]].isSliced;
    // The gradient of a filter is a sum over samples, and has none.
    if (othersShared && node.op->text != "nn.conv_filter_grad") return asSamples(op, node);
    return rule == Rule::channels ? asGroups(op, node) : std::vector<Tensor>();
  }

  std::vector<Tensor> asSamples(Operation &op, const GraphNode &node) const {
    auto merged = [&](const Shape &shape) {
      Shape result(shape.data(), shape.size());
      result[0] *= count;
      return result;
    };
    op.operands = {reshaped(sliced(node.operands[0]), merged(typeOf(node.operands[0]).shape))};
    for (size_t i = 1; i < node.operands.size(); ++i) op.operands.push_back(values[node.operands[i]].tensor);
    Shape whole = op.results[0].shape;
    op.results[0].shape = merged(typeOf(node.firstResult).shape);
    return {reshaped(op.record()[0], whole)};
  }

  /// Of convolutions [N, C, ...] by filters [O, C/groups, ...], and of their filters' gradients.
  std::vector<Tensor> asGroups(Operation &op, const GraphNode &node) const {
    if (op.find("channels_last")) return {};
    const bool isGradient = node.op->text == "nn.conv_filter_grad";
    auto withChannels = [&](const Shape &shape, int axis) {
      Shape result(shape.data(), shape.size());
      result[axis] *= count;
      return result;
    };
    /// Slices in front of the channels, of what has samples.
    auto channels = [&](uint32_t number) {
      const Shape &own = typeOf(number).shape;
      return reshaped(swapped(sliced(number)), withChannels(own, 1));
    };
    const uint32_t second = node.operands[1];
    op.operands = {channels(node.operands[0]),
                   isGradient ? channels(second) : reshaped(sliced(second), withChannels(typeOf(second).shape, 0))};
    if (Attr *groups = op.find("groups"))
      groups->integer *= count;
    else
      op.node.attrs.push_back(Attr::of("groups", count));
    const Shape whole = op.results[0].shape, &own = typeOf(node.firstResult).shape;
    op.results[0].shape = withChannels(own, isGradient ? 0 : 1);
    Tensor result = op.record()[0];
    if (isGradient) return {reshaped(result, whole)};
    Shape apart{own[0], count};
    for (int i = 1; i < own.rank(); ++i) apart.push_back(own[i]);
    return {swapped(reshaped(result, apart))};
  }

  /// The first two axes exchanged.
  Tensor swapped(const Tensor &x) const {
    const TensorType &type = x.type();
    Shape order{1, 0}, shape{type.shape[1], type.shape[0]};
    for (int i = 2; i < type.shape.rank(); ++i) {
      order.push_back(i);
      shape.push_back(type.shape[i]);
    }
    return record(opName("nn.transpose"), {x}, {Attr::of("permutation", order)}, {type.dtype, shape}, at);
  }

  /// A composite operation as the expression that it stands for; empty where it has none, or one with regions.
  std::vector<Tensor> byParts(const GraphNode &node) const {
    if (!node.regions.empty()) return {};
    std::vector<TensorType> operands, results;
    for (uint32_t operand : node.operands) operands.push_back(typeOf(operand));
    for (uint32_t i = 0; i < node.resultCount; ++i) results.push_back(typeOf(node.firstResult + i));
    std::shared_ptr<const Graph> parts = decompose(node, operands, results);
    if (!parts) return {};
    for (const GraphNode &part : parts->nodes)
      if (!part.regions.empty()) return {};
    Batching inner(*parts, count, at);
    for (uint32_t operand : node.operands) inner.values.push_back(values[operand]);
    return inner.carryOutAll();
  }

  std::vector<Tensor> gathered(Operation &op, const GraphNode &node) const {
    const Entry &x = values[node.operands[0]], &indices = values[node.operands[1]];
    if (x.isSliced && indices.isSliced) return {};
    op.operands = {x.tensor, indices.tensor};
    int64_t &axis = op.attr("axis").integer;
    if (x.isSliced) {
      ++axis;
      return op.record();
    }
    // Slices come where the axis was.
    const Shape &own = typeOf(node.firstResult).shape;
    Shape order{axis}, shape;
    for (int i = 0; i <= own.rank(); ++i) {
      if (i != axis) order.push_back(i);
      shape.push_back(i == axis ? count : own[i - (i > axis)]);
    }
    const TensorType whole = op.results[0];
    op.results[0].shape = shape;
    Tensor result = op.record()[0];
    return {axis == 0 ? result : record(opName("nn.transpose"), {result}, {Attr::of("permutation", order)}, whole, at)};
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

} // namespace sprig
