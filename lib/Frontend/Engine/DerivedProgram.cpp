#include "lib/Frontend/Engine/DerivedProgram.h"
#include "lib/Frontend/Engine/Collective.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "sprig/grad.h"
#include <algorithm>
#include <optional>

namespace sprig::frontend {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// A graph and, of each of its nodes, whether gradients flow through it.
struct OpenGraph {
  Graph graph;
  std::vector<char> open;

  uint32_t addInput(const TensorType &type) {
    graph.types.push_back(type);
    return graph.inputCount++;
  }
  /// The nodes of another graph whose inputs are these values; what its values are here.
  std::vector<uint32_t> append(const Graph &from, std::vector<uint32_t> numbers, std::span<const char> fromOpen) {
    numbers.resize(from.types.size(), kNone);
    for (size_t n = 0; n < from.nodes.size(); ++n) {
      GraphNode copy = from.nodes[n];
      for (uint32_t &operand : copy.operands) operand = numbers[operand];
      copy.firstResult = uint32_t(graph.types.size());
      for (uint32_t r = 0; r < copy.resultCount; ++r) {
        numbers[from.nodes[n].firstResult + r] = uint32_t(graph.types.size());
        graph.types.push_back(from.types[from.nodes[n].firstResult + r]);
      }
      graph.nodes.push_back(std::move(copy));
      open.push_back(fromOpen.empty() || fromOpen[n]);
    }
    return numbers;
  }
};

std::vector<char> neededFor(const Graph &graph, std::span<const uint32_t> values) {
  std::vector<char> needed(graph.types.size());
  for (uint32_t value : values) needed[value] = true;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    auto first = needed.begin() + node->firstResult;
    if (std::none_of(first, first + node->resultCount, [](char is) { return is; })) continue;
    for (uint32_t operand : node->operands) needed[operand] = true;
  }
  return needed;
}

bool isConstant(const GraphNode &node) { return node.constant != nullptr; }

/// Without the nodes that no output needs.
OpenGraph pruned(const OpenGraph &whole) {
  std::vector<char> needed = neededFor(whole.graph, whole.graph.outputs);
  OpenGraph result;
  std::vector<uint32_t> numbers(whole.graph.types.size(), kNone);
  for (uint32_t i = 0; i < whole.graph.inputCount; ++i) numbers[i] = result.addInput(whole.graph.types[i]);
  for (size_t n = 0; n < whole.graph.nodes.size(); ++n) {
    GraphNode copy = whole.graph.nodes[n];
    auto first = needed.begin() + copy.firstResult;
    if (std::none_of(first, first + copy.resultCount, [](char is) { return is; })) continue;
    for (uint32_t &operand : copy.operands) operand = numbers[operand];
    uint32_t before = std::exchange(copy.firstResult, uint32_t(result.graph.types.size()));
    for (uint32_t r = 0; r < copy.resultCount; ++r) {
      numbers[before + r] = uint32_t(result.graph.types.size());
      result.graph.types.push_back(whole.graph.types[before + r]);
    }
    result.graph.nodes.push_back(std::move(copy));
    result.open.push_back(whole.open[n]);
  }
  for (uint32_t output : whole.graph.outputs) result.graph.outputs.push_back(numbers[output]);
  return result;
}

/// The part of a graph that lies between values and what they are differentiated by. As in a lineage, everything else
/// is an input: there gradients end.
struct Between {
  Graph graph;
  std::vector<uint32_t> original; ///< what its values are in the whole graph
  std::vector<uint32_t> outputs, wrt;
};

Between between(const OpenGraph &whole, std::span<const uint32_t> outputs, std::span<const uint32_t> wrt) {
  static const OpName &stop = opName("nn.stop_gradient");
  const Graph &graph = whole.graph;
  std::vector<char> needed = neededFor(graph, outputs), depends(graph.types.size());
  for (uint32_t w : wrt) depends[w] = true;
  std::vector<const GraphNode *> kept;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode &node = graph.nodes[n];
    auto first = needed.begin() + node.firstResult;
    bool isNeeded = std::any_of(first, first + node.resultCount, [](char is) { return is; });
    bool isOnTheWay = whole.open[n] && node.op != &stop &&
                      std::any_of(node.operands.begin(), node.operands.end(), [&](uint32_t v) { return depends[v]; });
    if (!isNeeded || !isOnTheWay) continue;
    kept.push_back(&node);
    for (uint32_t r = node.firstResult; r < node.firstResult + node.resultCount; ++r)
      depends[r] = isFloat(graph.types[r].dtype);
  }
  std::vector<const GraphNode *> producer(graph.types.size());
  for (const GraphNode *node : kept)
    for (uint32_t r = 0; r < node->resultCount; ++r) producer[node->firstResult + r] = node;
  std::vector<const GraphNode *> constant(graph.types.size());
  for (const GraphNode &node : graph.nodes)
    if (isConstant(node)) constant[node.firstResult] = &node;

  Between result;
  std::vector<uint32_t> numbers(graph.types.size(), kNone);
  auto define = [&](uint32_t value) {
    numbers[value] = uint32_t(result.graph.types.size());
    result.graph.types.push_back(graph.types[value]);
    result.original.push_back(value);
  };
  std::vector<const GraphNode *> constants;
  auto input = [&](uint32_t value) {
    if (numbers[value] != kNone || producer[value]) return;
    if (!constant[value]) return define(value);
    if (std::find(constants.begin(), constants.end(), constant[value]) == constants.end())
      constants.push_back(constant[value]);
  };
  for (const GraphNode *node : kept)
    for (uint32_t operand : node->operands) input(operand);
  for (uint32_t w : wrt) input(w);
  for (uint32_t output : outputs) input(output);
  result.graph.inputCount = uint32_t(result.graph.types.size());
  kept.insert(kept.begin(), constants.begin(), constants.end());
  for (const GraphNode *node : kept) {
    GraphNode copy = *node;
    for (uint32_t &operand : copy.operands) operand = numbers[operand];
    copy.firstResult = uint32_t(result.graph.types.size());
    for (uint32_t r = 0; r < node->resultCount; ++r) define(node->firstResult + r);
    result.graph.nodes.push_back(std::move(copy));
  }
  for (uint32_t output : outputs) result.outputs.push_back(numbers[output]);
  for (uint32_t w : wrt) result.wrt.push_back(numbers[w]);
  return result;
}

/// The callee's graph on the different values of a call, and those of its results that the form names.
std::pair<OpenGraph, std::vector<uint32_t>> calleeOn(const Variant &callee, const CallForm &form) {
  OpenGraph whole;
  uint32_t count = form.place.empty() ? 0 : *std::max_element(form.place.begin(), form.place.end()) + 1;
  for (uint32_t place = 0; place < count; ++place) {
    auto first = std::find(form.place.begin(), form.place.end(), place);
    whole.addInput(callee.graph.types[size_t(first - form.place.begin())]);
  }
  std::vector<uint32_t> numbers = whole.append(callee.graph, form.place, callee.lineage.open), results;
  for (uint32_t output : form.outputs) results.push_back(numbers[callee.graph.outputs[output]]);
  return {std::move(whole), std::move(results)};
}

/// The forward graph with what goes on from a part of it, whose further inputs are like these values.
OpenGraph goOn(const OpenGraph &forward, const Between &part, const Continuation &next,
               std::span<const uint32_t> like) {
  OpenGraph whole;
  std::vector<uint32_t> inputs, more, nextInputs;
  for (uint32_t i = 0; i < forward.graph.inputCount; ++i) inputs.push_back(whole.addInput(forward.graph.types[i]));
  for (uint32_t value : like) more.push_back(whole.addInput(forward.graph.types[value]));
  std::vector<uint32_t> numbers = whole.append(forward.graph, inputs, forward.open);
  for (uint32_t use : next.uses) nextInputs.push_back(numbers[part.original[use]]);
  nextInputs.insert(nextInputs.end(), more.begin(), more.end());
  std::vector<uint32_t> now = whole.append(next.graph, nextInputs, {});
  for (uint32_t output : next.graph.outputs) whole.graph.outputs.push_back(now[output]);
  return whole;
}

/// `places` are those of its results.
DerivedProgram makeProgram(const OpenGraph &whole, const std::string &name, const Variant &callee,
                           std::vector<Variant::Where> places) {
  OpenGraph derived = pruned(whole);
  DerivedProgram program;
  program.variant = std::make_shared<Variant>();
  Variant &variant = *program.variant;
  variant.name = name;
  variant.source = callee.source;
  variant.device = callee.device;
  variant.devices = callee.devices;
  variant.resultPlaces = std::move(places);
  for (const GraphNode &node : derived.graph.nodes)
    if (isCollective(*node.op)) variant.ranks = callee.ranks;
  variant.graph = std::move(derived.graph);
  for (uint32_t i = 0; i < variant.graph.inputCount; ++i) {
    variant.inputs.push_back(variant.graph.types[i]);
    variant.inputPlaces.push_back({variant.device, true});
    variant.feeds.push_back({Variant::Feed::Kind::argument, i, {}});
  }
  for (uint32_t output : variant.graph.outputs) {
    variant.results.push_back(variant.graph.types[output]);
    program.isZero.push_back(isZeroConstant(variant.graph, output));
  }
  variant.lineage.open = std::move(derived.open);
  variant.lineage.ofGradient.assign(variant.results.size(), false);
  variant.completeLineage();
  return program;
}

/// Where the callee takes these of the different values.
std::vector<Variant::Where> placesOf(const Variant &callee, const CallForm &form, std::span<const uint32_t> list) {
  std::vector<Variant::Where> places;
  for (uint32_t place : list) {
    auto first = std::find(form.place.begin(), form.place.end(), place);
    uint32_t source = callee.lineage.sources[size_t(first - form.place.begin())];
    Variant::Where where{callee.device};
    if (source & CallLineage::kState)
      where.device = callee.homes[source & ~CallLineage::kState];
    else if (const Variant::Feed &feed = callee.feeds[source]; feed.kind == Variant::Feed::Kind::captured)
      where.device = feed.value.raw()->device;
    else if (feed.kind == Variant::Feed::Kind::argument && !callee.inputPlaces[feed.index].unplaced)
      where.device = callee.inputPlaces[feed.index].device;
    places.push_back(where);
  }
  return places;
}

Hash keyOf(const CallForm &form, uint64_t kind) {
  Hash key;
  key.mix(kind);
  for (const auto *list : {&form.place, &form.outputs, &form.wrt, &form.sums}) {
    key.mix(list->size());
    for (uint32_t n : *list) key.mix(n);
  }
  return key;
}

/// What it makes is kept with the callee.
template <typename Make>
DerivedProgram derivedProgramOf(Variant &callee, const CallForm &form, uint64_t kind, Make make) {
  Hash key = keyOf(form, kind);
  std::lock_guard lock(callee.lineage.mutex);
  auto found = callee.lineage.programs.find(key);
  if (found == callee.lineage.programs.end())
    found = callee.lineage.programs.emplace(key, std::make_shared<const DerivedProgram>(make())).first;
  return *found->second;
}

} // namespace

bool isZeroConstant(const Graph &graph, uint32_t value) {
  for (const GraphNode &node : graph.nodes)
    if (node.firstResult == value && isConstant(node))
      return std::all_of(node.constant->begin(), node.constant->end(), [](char byte) { return byte == 0; });
  return false;
}

DerivedProgram pullbackProgram(const std::shared_ptr<Variant> &callee, const CallForm &form) {
  return derivedProgramOf(*callee, form, 0, [&] {
    auto [forward, outputs] = calleeOn(*callee, form);
    // The sum that has come to an input so far comes first, as if the input were an output too.
    outputs.insert(outputs.end(), form.sums.begin(), form.sums.end());
    Between part = between(forward, outputs, form.wrt);
    Continuation next = gradientOf(part.graph, part.outputs, part.wrt, /*seeded=*/true);
    return makeProgram(goOn(forward, part, next, outputs), "gradient of " + callee->name, *callee,
                       placesOf(*callee, form, form.wrt));
  });
}

DerivedProgram pushforwardProgram(const std::shared_ptr<Variant> &callee, const CallForm &form) {
  return derivedProgramOf(*callee, form, 1, [&] {
    auto [forward, outputs] = calleeOn(*callee, form);
    Between part = between(forward, outputs, form.wrt);
    Continuation next = tangentOf(part.graph, part.outputs, part.wrt);
    std::vector<Variant::Where> places;
    for (uint32_t output : form.outputs) places.push_back(callee->resultPlaces[output]);
    return makeProgram(goOn(forward, part, next, form.wrt), "tangent of " + callee->name, *callee, places);
  });
}

/// Of a node of a program over several devices: its operands where it runs, which recording then sees by them.
static void bringTogether(GraphNode &node, std::vector<Tensor> &operands, Source at) {
  std::optional<DeviceId> device;
  if (const Attr *place = find(node.attrs, "nn.place")) {
    std::string name(place->text + 1, std::strlen(place->text) - 2); // without quotes
    device = openDevice(Device(name, at), node.op->text.c_str(), at);
    std::erase_if(node.attrs, [](const Attr &attr) { return std::strcmp(attr.name, "nn.place") == 0; });
  }
  for (const Tensor &operand : operands)
    if (!device && operand.raw()->isPlaced()) device = operand.raw()->device;
  for (Tensor &operand : operands)
    if (operand.raw()->isPlaced() && operand.raw()->device != *device) operand = copyTo(operand, *device, at);
}

std::vector<Tensor> runProgram(const DerivedProgram &program, std::span<const Tensor> inputs, Source at) {
  const Variant &variant = *program.variant;
  if (!Trace::current()) return Variant::call(program.variant, inputs);
  std::vector<Tensor> values(inputs.begin(), inputs.end());
  const Graph &graph = variant.graph;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode &node = graph.nodes[n];
    std::vector<TensorType> types;
    std::vector<Tensor> operands;
    for (uint32_t operand : node.operands) {
      types.push_back(graph.types[operand]);
      operands.push_back(values[operand]);
    }
    Graph one = graphOf(node, types, std::span(graph.types).subspan(node.firstResult, node.resultCount));
    if (!variant.devices.empty()) bringTogether(one.nodes[0], operands, at);
    std::optional<NoGrad> closed;
    if (!variant.lineage.open[n]) closed.emplace();
    for (Tensor &result : replay(one, operands, at)) values.push_back(std::move(result));
  }
  std::vector<Tensor> results;
  for (uint32_t output : graph.outputs) results.push_back(values[output]);
  return results;
}

} // namespace sprig::frontend
