#include "lib/Frontend/Engine/ChainRule.h"
#include "lib/Frontend/Engine/ContinuationCache.h"
#include "lib/Frontend/Engine/DerivedProgram.h"
#include "lib/Frontend/Engine/NonFinite.h"
#include "lib/Frontend/Engine/Recorder.h"
#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace sprig::frontend {

namespace {

/// The tensor, or a copy of it there.
Tensor onDevice(const Tensor &tensor, DeviceId device, Source at) {
  const Value &value = *tensor.raw();
  return value.constant || value.unplaced || value.device == device ? tensor : copyTo(tensor, device, at);
}

DeviceId deviceOfNumber(const Lineage &lineage, uint32_t number) {
  const Value *value = lineage.values[number];
  return value ? value->device : lineage.origins[number].first->device;
}

std::vector<Tensor> replayBehind(Lineage &lineage, const Continuation &next, std::span<const Tensor> more, Source at) {
  std::vector<Tensor> inputs;
  for (uint32_t use : next.uses) inputs.push_back(valueOf(lineage, use));
  inputs.insert(inputs.end(), more.begin(), more.end());
  return replay(next.graph, inputs, at);
}

/// Operations of one device in a row that are no calls, one call, or copies between devices.
struct Stretch {
  enum class Kind { plain, call, copies };
  size_t begin, end; ///< nodes of the lineage
  Kind kind;
  DeviceId device;
};

/// A lineage with calls, and what has come to each of its values: cotangents or tangents.
class ChainRule {
public:
  ChainRule(Lineage &lineage, Source at);

  void add(uint32_t number, const Tensor &tensor) {
    Tensor &sum = come[number];
    sum = sum.defined()
              ? record(opName("nn.add"), {sum, onDevice(tensor, sum.raw()->device, at)}, {}, tensor.type(), at)
              : tensor;
  }
  void seed(const Tensor &tensor) { add(lineage.graph.outputs[0], tensor); }
  std::vector<Tensor> take(std::span<const uint32_t> numbers) const;
  void pullBack();
  void pushForward(std::span<const uint32_t> wrt, std::span<const Tensor> tangents);

private:
  struct Plain; // a stretch of operations as a graph of its own
  struct Call;  // a call with the values that it takes

  const GraphNode &node(size_t i) const { return lineage.graph.nodes[firstNode + i]; }
  /// Whether it lies on the way from `wrt`.
  bool depends(uint32_t number) const { return number >= firstInner || isTarget[number]; }
  bool isIn(uint32_t number, const Stretch &stretch) const {
    const GraphNode &last = node(stretch.end - 1);
    return number >= node(stretch.begin).firstResult && number < last.firstResult + last.resultCount;
  }
  std::vector<uint32_t> resultsOf(const Stretch &stretch) const;
  void nameCopies();
  Tensor valueOn(uint32_t number, DeviceId device);
  std::vector<Tensor> replayOn(const Stretch &stretch, const Continuation &next, std::span<const uint32_t> numbers,
                               std::span<const Tensor> more);
  void pullBackPlain(const Stretch &stretch);
  void pullBackCall(const Stretch &stretch);
  void pullBackCopies(const Stretch &stretch);
  void pushForwardCopies(const Stretch &stretch);
  void pushForwardPlain(const Stretch &stretch);
  void pushForwardCall(const Stretch &stretch);

  Lineage &lineage;
  const Source at;
  size_t firstNode;    // constants come before
  uint32_t firstInner; // the first result of a node of the lineage
  std::vector<char> isTarget;
  std::vector<uint32_t> lastUse; // of each value: the last node that reads it, or the number of nodes for outputs
  std::vector<Stretch> stretches;
  std::vector<Tensor> come;
  /// Copies of values on other devices: of each value the numbers that they had.
  std::unordered_map<uint32_t, std::vector<uint32_t>> copies;
};

ChainRule::ChainRule(Lineage &lineage, Source at)
    : lineage(lineage), at(at), firstNode(lineage.graph.nodes.size() - lineage.nodes.size()),
      isTarget(lineage.graph.types.size()), lastUse(lineage.graph.types.size()), come(lineage.graph.types.size()) {
  firstInner = lineage.nodes.empty() ? uint32_t(lineage.graph.types.size()) : node(0).firstResult;
  for (uint32_t w : lineage.wrt) isTarget[w] = true;
  if (lineage.hasCopies) nameCopies();
  for (size_t i = 0; i < lineage.nodes.size(); ++i) {
    using enum Stretch::Kind;
    const Node &each = *lineage.nodes[i];
    Stretch::Kind kind = each.callee ? call : each.isCopy ? Stretch::Kind::copies : plain;
    bool goesOn = !stretches.empty() && kind != call && stretches.back().kind == kind;
    if (goesOn && (kind == Stretch::Kind::copies || stretches.back().device == each.device))
      stretches.back().end = i + 1;
    else
      stretches.push_back({i, i + 1, kind, each.device});
    for (uint32_t operand : node(i).operands) lastUse[operand] = uint32_t(i);
  }
  for (uint32_t output : lineage.graph.outputs) lastUse[output] = uint32_t(lineage.nodes.size());
}

/// What reads a copy reads what it was made of, but for copies that are asked for themselves.
void ChainRule::nameCopies() {
  std::vector<uint32_t> names(lineage.graph.types.size());
  for (uint32_t i = 0; i < names.size(); ++i) names[i] = i;
  for (size_t i = 0; i < lineage.nodes.size(); ++i) {
    GraphNode &each = lineage.graph.nodes[firstNode + i];
    for (uint32_t &operand : each.operands) operand = names[operand];
    if (!lineage.nodes[i]->isCopy) continue;
    copies[each.operands[0]].push_back(each.firstResult);
    if (!isTarget[each.firstResult]) names[each.firstResult] = each.operands[0];
  }
  for (uint32_t &output : lineage.graph.outputs) output = names[output];
}

Tensor ChainRule::valueOn(uint32_t number, DeviceId device) {
  if (deviceOfNumber(lineage, number) == device) return valueOf(lineage, number);
  if (auto known = copies.find(number); known != copies.end())
    for (uint32_t copy : known->second)
      if (deviceOfNumber(lineage, copy) == device) return valueOf(lineage, copy);
  Tensor value = valueOf(lineage, number);
  return value.raw()->isPlaced() ? copyTo(value, device, at) : value;
}

std::vector<Tensor> ChainRule::replayOn(const Stretch &stretch, const Continuation &next,
                                        std::span<const uint32_t> numbers, std::span<const Tensor> more) {
  CreationScope scope(stretch.device);
  std::vector<Tensor> inputs;
  for (uint32_t use : next.uses) inputs.push_back(valueOn(numbers[use], stretch.device));
  for (const Tensor &tensor : more) inputs.push_back(onDevice(tensor, stretch.device, at));
  return replay(next.graph, inputs, at);
}

std::vector<Tensor> ChainRule::take(std::span<const uint32_t> numbers) const {
  std::vector<Tensor> taken;
  for (uint32_t number : numbers) {
    DeviceId device = deviceOfNumber(lineage, number);
    CreationScope scope(device);
    taken.push_back(come[number].defined() ? onDevice(come[number], device, at)
                                           : splat(0, lineage.graph.types[number], at));
  }
  return taken;
}

std::vector<uint32_t> ChainRule::resultsOf(const Stretch &stretch) const {
  std::vector<uint32_t> results;
  for (size_t i = stretch.begin; i < stretch.end; ++i)
    for (uint32_t r = 0; r < node(i).resultCount; ++r)
      if (isFloat(lineage.graph.types[node(i).firstResult + r].dtype)) results.push_back(node(i).firstResult + r);
  return results;
}

/// Equal graphs share their gradients, whose operations have the places of the first graph. While errors name places,
/// graphs are equal only where these are.
void mixPlaces(Hash &key, const Graph &graph) {
  if (!detectsNonFinite()) [[likely]]
    return;
  for (const GraphNode &node : graph.nodes) {
    key.mix(uint64_t(std::hash<std::string_view>()(node.source.file)));
    key.mix(uint64_t(node.source.line));
    key.mix(uint64_t(reinterpret_cast<uintptr_t>(node.layer)));
    for (const auto &region : node.regions) mixPlaces(key, *region);
  }
}

struct ChainRule::Plain {
  Graph graph;
  std::vector<uint32_t> numbers; // of its values in the lineage
  std::vector<uint32_t> local;   // the other way round

  Plain(const ChainRule &chain, const Stretch &stretch) : local(chain.lineage.graph.types.size(), UINT32_MAX) {
    const Graph &whole = chain.lineage.graph;
    std::vector<const GraphNode *> nodes;
    auto define = [&](uint32_t number) {
      if (local[number] != UINT32_MAX) return;
      local[number] = uint32_t(graph.types.size());
      graph.types.push_back(whole.types[number]);
      numbers.push_back(number);
    };
    auto isConstant = [&](uint32_t number) { return number >= whole.inputCount && number < chain.firstInner; };
    for (size_t i = stretch.begin; i < stretch.end; ++i)
      for (uint32_t operand : chain.node(i).operands) {
        if (chain.isIn(operand, stretch)) continue;
        if (!isConstant(operand))
          define(operand);
        else if (const GraphNode *constant = &whole.nodes[operand - whole.inputCount];
                 std::find(nodes.begin(), nodes.end(), constant) == nodes.end())
          nodes.push_back(constant);
      }
    graph.inputCount = uint32_t(graph.types.size());
    for (size_t i = stretch.begin; i < stretch.end; ++i) nodes.push_back(&chain.node(i));
    for (const GraphNode *node : nodes) {
      GraphNode copy = *node;
      for (uint32_t &operand : copy.operands) operand = local[operand];
      copy.firstResult = uint32_t(graph.types.size());
      for (uint32_t r = 0; r < node->resultCount; ++r) define(node->firstResult + r);
      graph.nodes.push_back(std::move(copy));
    }
  }

  std::vector<uint32_t> localOf(std::span<const uint32_t> list) const {
    std::vector<uint32_t> result;
    for (uint32_t number : list) result.push_back(local[number]);
    return result;
  }
  /// Made once for each structure.
  template <typename Make>
  std::shared_ptr<const Continuation> continuation(uint64_t kind, std::span<const uint32_t> outputs,
                                                   std::span<const uint32_t> wrt, Make make) const {
    Hash key;
    key.mix(kind);
    key.mix(graph);
    mixPlaces(key, graph);
    for (auto list : {outputs, wrt}) {
      key.mix(list.size());
      for (uint32_t number : list) key.mix(local[number]);
    }
    return ContinuationCache::instance().get(key, make);
  }
};

struct ChainRule::Call {
  std::shared_ptr<Variant> callee;
  std::vector<uint32_t> values;  // numbers of the different values that it takes
  std::vector<DeviceId> devices; // where it takes them
  CallForm form;

  Call(const ChainRule &chain, const Stretch &stretch) : callee(chain.lineage.nodes[stretch.begin]->callee) {
    const Node &call = *chain.lineage.nodes[stretch.begin];
    const std::vector<uint32_t> &operands = chain.node(stretch.begin).operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      auto known = std::find(values.begin(), values.end(), operands[i]);
      form.place.push_back(uint32_t(known - values.begin()));
      if (known != values.end()) continue;
      values.push_back(operands[i]);
      devices.push_back(call.operands[i]->device);
    }
  }
  std::vector<Tensor> inputs(ChainRule &chain) const {
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < values.size(); ++i) tensors.push_back(chain.valueOn(values[i], devices[i]));
    return tensors;
  }
  /// Whether a gradient flows from a result to one of the different values.
  bool flows(uint32_t result, uint32_t place) const {
    const std::vector<uint32_t> &behind = callee->lineage.behind[result];
    return std::any_of(behind.begin(), behind.end(), [&](uint32_t input) { return form.place[input] == place; });
  }
};

void ChainRule::pullBackPlain(const Stretch &stretch) {
  std::vector<uint32_t> outputs, wrt;
  for (uint32_t number : resultsOf(stretch))
    if (come[number].defined()) outputs.push_back(number);
  if (outputs.empty()) return;
  Plain plain(*this, stretch);
  std::vector<char> needed(lineage.graph.types.size());
  for (uint32_t output : outputs) needed[output] = true;
  for (size_t i = stretch.end; i-- > stretch.begin;)
    for (uint32_t r = 0; r < node(i).resultCount; ++r)
      if (needed[node(i).firstResult + r])
        for (uint32_t operand : node(i).operands) needed[operand] = true;
  for (uint32_t number : plain.numbers)
    if (depends(number) && needed[number] && (isTarget[number] || !isIn(number, stretch))) wrt.push_back(number);
  if (wrt.empty()) return;
  // The sum that has come to a value from later stretches comes first, as if the value were an output too.
  std::vector<Tensor> cotangents;
  for (uint32_t number : wrt)
    if (!isIn(number, stretch) && come[number].defined()) outputs.push_back(number);
  for (uint32_t output : outputs) cotangents.push_back(come[output]);
  const bool isDivided = GlobalStep::current();
  auto next = plain.continuation(isDivided ? 2 : 0, outputs, wrt, [&] {
    return gradientOf(plain.graph, plain.localOf(outputs), plain.localOf(wrt), /*seeded=*/true, isDivided);
  });
  std::vector<Tensor> gradients = replayOn(stretch, *next, plain.numbers, cotangents);
  for (size_t i = 0; i < wrt.size(); ++i)
    if (!isZeroConstant(next->graph, next->graph.outputs[i])) come[wrt[i]] = gradients[i];
}

void ChainRule::pullBackCall(const Stretch &stretch) {
  Call call(*this, stretch);
  std::vector<Tensor> inputs = call.inputs(*this);
  uint32_t first = node(stretch.begin).firstResult;
  for (uint32_t number : resultsOf(stretch))
    if (come[number].defined()) {
      call.form.outputs.push_back(number - first);
      inputs.push_back(onDevice(come[number], deviceOfNumber(lineage, number), at));
    }
  for (uint32_t place = 0; place < call.values.size(); ++place) {
    if (!depends(call.values[place])) continue;
    auto flows = [&](uint32_t result) { return call.flows(result, place); };
    if (std::none_of(call.form.outputs.begin(), call.form.outputs.end(), flows)) continue;
    call.form.wrt.push_back(place);
    if (const Tensor &sum = come[call.values[place]]; sum.defined()) {
      call.form.sums.push_back(place);
      inputs.push_back(onDevice(sum, call.devices[place], at));
    }
  }
  if (call.form.wrt.empty()) return;
  DerivedProgram program = pullbackProgram(call.callee, call.form);
  std::vector<Tensor> gradients = runProgram(program, inputs, at);
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!program.isZero[i]) come[call.values[call.form.wrt[i]]] = gradients[i];
}

void ChainRule::pullBack() {
  for (size_t i = stretches.size(); i-- > 0;) switch (stretches[i].kind) {
    case Stretch::Kind::call: pullBackCall(stretches[i]); break;
    case Stretch::Kind::plain: pullBackPlain(stretches[i]); break;
    case Stretch::Kind::copies: pullBackCopies(stretches[i]); break;
    }
}

/// Of those that are asked for themselves; the others are the values that they copy.
void ChainRule::pullBackCopies(const Stretch &stretch) {
  for (size_t i = stretch.end; i-- > stretch.begin;)
    if (isTarget[node(i).firstResult] && come[node(i).firstResult].defined() && depends(node(i).operands[0]))
      add(node(i).operands[0], come[node(i).firstResult]);
}

void ChainRule::pushForwardCopies(const Stretch &stretch) {
  for (size_t i = stretch.begin; i < stretch.end; ++i)
    if (isTarget[node(i).firstResult] && come[node(i).operands[0]].defined())
      add(node(i).firstResult, come[node(i).operands[0]]);
}

void ChainRule::pushForwardPlain(const Stretch &stretch) {
  Plain plain(*this, stretch);
  std::vector<uint32_t> wrt, outputs;
  std::vector<Tensor> tangents;
  std::vector<char> moves(lineage.graph.types.size());
  for (uint32_t number : plain.numbers)
    if (come[number].defined()) {
      moves[number] = true;
      wrt.push_back(number);
      tangents.push_back(come[number]);
    }
  for (size_t i = stretch.begin; i < stretch.end; ++i) {
    const std::vector<uint32_t> &operands = node(i).operands;
    if (std::any_of(operands.begin(), operands.end(), [&](uint32_t operand) { return moves[operand]; }))
      for (uint32_t r = 0; r < node(i).resultCount; ++r) moves[node(i).firstResult + r] = true;
  }
  for (uint32_t number : resultsOf(stretch))
    if (moves[number] && lastUse[number] >= stretch.end) outputs.push_back(number);
  if (wrt.empty() || outputs.empty()) return;
  auto next = plain.continuation(1, outputs, wrt,
                                 [&] { return tangentOf(plain.graph, plain.localOf(outputs), plain.localOf(wrt)); });
  std::vector<Tensor> derivatives = replayOn(stretch, *next, plain.numbers, tangents);
  for (size_t i = 0; i < outputs.size(); ++i) come[outputs[i]] = derivatives[i];
}

void ChainRule::pushForwardCall(const Stretch &stretch) {
  Call call(*this, stretch);
  std::vector<Tensor> inputs = call.inputs(*this);
  for (uint32_t place = 0; place < call.values.size(); ++place)
    if (const Tensor &tangent = come[call.values[place]]; tangent.defined()) {
      call.form.wrt.push_back(place);
      inputs.push_back(onDevice(tangent, call.devices[place], at));
    }
  uint32_t first = node(stretch.begin).firstResult;
  for (uint32_t number : resultsOf(stretch)) {
    auto flows = [&](uint32_t place) { return call.flows(number - first, place); };
    if (lastUse[number] >= stretch.end && std::any_of(call.form.wrt.begin(), call.form.wrt.end(), flows))
      call.form.outputs.push_back(number - first);
  }
  if (call.form.outputs.empty()) return;
  DerivedProgram program = pushforwardProgram(call.callee, call.form);
  std::vector<Tensor> derivatives = runProgram(program, inputs, at);
  // What was there is the tangent of a result that is changed itself.
  for (size_t i = 0; i < derivatives.size(); ++i)
    if (!program.isZero[i]) add(first + call.form.outputs[i], derivatives[i]);
}

void ChainRule::pushForward(std::span<const uint32_t> wrt, std::span<const Tensor> tangents) {
  for (size_t i = 0; i < wrt.size(); ++i) add(wrt[i], tangents[i]);
  for (const Stretch &stretch : stretches) switch (stretch.kind) {
    case Stretch::Kind::call: pushForwardCall(stretch); break;
    case Stretch::Kind::plain: pushForwardPlain(stretch); break;
    case Stretch::Kind::copies: pushForwardCopies(stretch); break;
    }
}

} // namespace

std::vector<Tensor> pullBack(Lineage &lineage, std::span<const Tensor> seeds, Source at) {
  const Graph &graph = lineage.graph;
  if (lineage.isWhole()) {
    const bool isDivided = GlobalStep::current();
    lineage.key.mix(uint64_t(!seeds.empty()) | uint64_t(isDivided) << 1);
    mixPlaces(lineage.key, graph);
    auto next = ContinuationCache::instance().get(
        lineage.key, [&] { return gradientOf(graph, graph.outputs, lineage.wrt, !seeds.empty(), isDivided); });
    DeviceId device = deviceOfNumber(lineage, graph.outputs[0]);
    CreationScope scope(device);
    std::vector<Tensor> on, gradients;
    for (const Tensor &seed : seeds) on.push_back(onDevice(seed, device, at));
    gradients = replayBehind(lineage, *next, on, at);
    for (size_t i = 0; i < gradients.size(); ++i)
      gradients[i] = onDevice(gradients[i], deviceOfNumber(lineage, lineage.wrt[i]), at);
    return gradients;
  }
  ChainRule chain(lineage, at);
  if (seeds.empty()) chain.seed(splat(1, graph.types[graph.outputs[0]], at));
  for (size_t i = 0; i < seeds.size(); ++i) chain.add(graph.outputs[i], seeds[i]);
  chain.pullBack();
  return chain.take(lineage.wrt);
}

std::vector<Tensor> pushForward(Lineage &lineage, std::span<const Tensor> tangents, Source at) {
  const Graph &graph = lineage.graph;
  if (lineage.isWhole()) {
    lineage.key.mix(0x6a7670);
    auto next =
        ContinuationCache::instance().get(lineage.key, [&] { return tangentOf(graph, graph.outputs, lineage.wrt); });
    DeviceId device = deviceOfNumber(lineage, graph.outputs[0]);
    CreationScope scope(device);
    std::vector<Tensor> on;
    for (const Tensor &tangent : tangents) on.push_back(onDevice(tangent, device, at));
    return replayBehind(lineage, *next, on, at);
  }
  std::vector<uint32_t> asked = graph.outputs; // before copies go by the names of what they copy
  ChainRule chain(lineage, at);
  chain.pushForward(lineage.wrt, tangents);
  std::vector<Tensor> derivatives = chain.take(graph.outputs);
  for (size_t i = 0; i < asked.size(); ++i)
    derivatives[i] = onDevice(derivatives[i], deviceOfNumber(lineage, asked[i]), at);
  return derivatives;
}

} // namespace sprig::frontend
