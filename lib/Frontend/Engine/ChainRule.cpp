#include "lib/Frontend/Engine/ChainRule.h"
#include "lib/Frontend/Engine/ContinuationCache.h"
#include "lib/Frontend/Engine/DerivedProgram.h"
#include <algorithm>

namespace sprig::frontend {

namespace {

std::vector<Tensor> replayBehind(Lineage &lineage, const Continuation &next, std::span<const uint32_t> numbers,
                                 std::span<const Tensor> more, Source at) {
  std::vector<Tensor> inputs;
  for (uint32_t use : next.uses) inputs.push_back(valueOf(lineage, numbers.empty() ? use : numbers[use]));
  inputs.insert(inputs.end(), more.begin(), more.end());
  return replay(next.graph, inputs, at);
}

/// Operations in a row that are no calls, or one call.
struct Stretch {
  size_t begin, end; ///< nodes of the lineage
  bool isCall;
};

/// A lineage with calls, and what has come to each of its values: cotangents or tangents.
class ChainRule {
public:
  ChainRule(Lineage &lineage, Source at);

  void add(uint32_t number, const Tensor &tensor) {
    Tensor &sum = come[number];
    sum = sum.defined() ? record(opName("nn.add"), {sum, tensor}, {}, tensor.type(), at) : tensor;
  }
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
  void pullBackPlain(const Stretch &stretch);
  void pullBackCall(const Stretch &stretch);
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
};

ChainRule::ChainRule(Lineage &lineage, Source at)
    : lineage(lineage), at(at), firstNode(lineage.graph.nodes.size() - lineage.nodes.size()),
      isTarget(lineage.graph.types.size()), lastUse(lineage.graph.types.size()), come(lineage.graph.types.size()) {
  firstInner = lineage.nodes.empty() ? uint32_t(lineage.graph.types.size()) : node(0).firstResult;
  for (uint32_t w : lineage.wrt) isTarget[w] = true;
  for (size_t i = 0; i < lineage.nodes.size(); ++i) {
    bool isCall = lineage.nodes[i]->callee != nullptr;
    if (isCall || stretches.empty() || stretches.back().isCall)
      stretches.push_back({i, i + 1, isCall});
    else
      stretches.back().end = i + 1;
    for (uint32_t operand : node(i).operands) lastUse[operand] = uint32_t(i);
  }
  for (uint32_t output : lineage.graph.outputs) lastUse[output] = uint32_t(lineage.nodes.size());
}

std::vector<Tensor> ChainRule::take(std::span<const uint32_t> numbers) const {
  std::vector<Tensor> taken;
  for (uint32_t number : numbers)
    taken.push_back(come[number].defined() ? come[number] : splat(0, lineage.graph.types[number], at));
  return taken;
}

std::vector<uint32_t> ChainRule::resultsOf(const Stretch &stretch) const {
  std::vector<uint32_t> results;
  for (size_t i = stretch.begin; i < stretch.end; ++i)
    for (uint32_t r = 0; r < node(i).resultCount; ++r)
      if (isFloat(lineage.graph.types[node(i).firstResult + r].dtype)) results.push_back(node(i).firstResult + r);
  return results;
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
    for (auto list : {outputs, wrt}) {
      key.mix(list.size());
      for (uint32_t number : list) key.mix(local[number]);
    }
    return ContinuationCache::instance().get(key, make);
  }
};

struct ChainRule::Call {
  std::shared_ptr<Variant> callee;
  std::vector<uint32_t> values; // numbers of the different values that it takes
  CallForm form;

  Call(const ChainRule &chain, const Stretch &stretch) : callee(chain.lineage.nodes[stretch.begin]->callee) {
    for (uint32_t operand : chain.node(stretch.begin).operands) {
      auto known = std::find(values.begin(), values.end(), operand);
      form.place.push_back(uint32_t(known - values.begin()));
      if (known == values.end()) values.push_back(operand);
    }
  }
  std::vector<Tensor> inputs(Lineage &lineage) const {
    std::vector<Tensor> tensors;
    for (uint32_t number : values) tensors.push_back(valueOf(lineage, number));
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
  auto next = plain.continuation(0, outputs, wrt, [&] {
    return gradientOf(plain.graph, plain.localOf(outputs), plain.localOf(wrt), /*seeded=*/true);
  });
  std::vector<Tensor> gradients = replayBehind(lineage, *next, plain.numbers, cotangents, at);
  for (size_t i = 0; i < wrt.size(); ++i)
    if (!isZeroConstant(next->graph, next->graph.outputs[i])) come[wrt[i]] = gradients[i];
}

void ChainRule::pullBackCall(const Stretch &stretch) {
  Call call(*this, stretch);
  std::vector<Tensor> inputs = call.inputs(lineage);
  uint32_t first = node(stretch.begin).firstResult;
  for (uint32_t number : resultsOf(stretch))
    if (come[number].defined()) {
      call.form.outputs.push_back(number - first);
      inputs.push_back(come[number]);
    }
  for (uint32_t place = 0; place < call.values.size(); ++place) {
    if (!depends(call.values[place])) continue;
    auto flows = [&](uint32_t result) { return call.flows(result, place); };
    if (std::none_of(call.form.outputs.begin(), call.form.outputs.end(), flows)) continue;
    call.form.wrt.push_back(place);
    if (const Tensor &sum = come[call.values[place]]; sum.defined()) {
      call.form.sums.push_back(place);
      inputs.push_back(sum);
    }
  }
  if (call.form.wrt.empty()) return;
  DerivedProgram program = pullbackProgram(call.callee, call.form);
  std::vector<Tensor> gradients = runProgram(program, inputs, at);
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!program.isZero[i]) come[call.values[call.form.wrt[i]]] = gradients[i];
}

void ChainRule::pullBack() {
  for (size_t i = stretches.size(); i-- > 0;)
    if (stretches[i].isCall)
      pullBackCall(stretches[i]);
    else
      pullBackPlain(stretches[i]);
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
  std::vector<Tensor> derivatives = replayBehind(lineage, *next, plain.numbers, tangents, at);
  for (size_t i = 0; i < outputs.size(); ++i) come[outputs[i]] = derivatives[i];
}

void ChainRule::pushForwardCall(const Stretch &stretch) {
  Call call(*this, stretch);
  std::vector<Tensor> inputs = call.inputs(lineage);
  for (uint32_t place = 0; place < call.values.size(); ++place)
    if (const Tensor &tangent = come[call.values[place]]; tangent.defined()) {
      call.form.wrt.push_back(place);
      inputs.push_back(tangent);
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
  for (const Stretch &stretch : stretches)
    if (stretch.isCall)
      pushForwardCall(stretch);
    else
      pushForwardPlain(stretch);
}

} // namespace

std::vector<Tensor> pullBack(Lineage &lineage, std::span<const Tensor> seeds, Source at) {
  const Graph &graph = lineage.graph;
  if (!lineage.hasCalls) {
    lineage.key.mix(!seeds.empty());
    auto next = ContinuationCache::instance().get(
        lineage.key, [&] { return gradientOf(graph, graph.outputs, lineage.wrt, !seeds.empty()); });
    return replayBehind(lineage, *next, {}, seeds, at);
  }
  ChainRule chain(lineage, at);
  if (seeds.empty()) chain.add(graph.outputs[0], splat(1, graph.types[graph.outputs[0]], at));
  for (size_t i = 0; i < seeds.size(); ++i) chain.add(graph.outputs[i], seeds[i]);
  chain.pullBack();
  return chain.take(lineage.wrt);
}

std::vector<Tensor> pushForward(Lineage &lineage, std::span<const Tensor> tangents, Source at) {
  const Graph &graph = lineage.graph;
  if (!lineage.hasCalls) {
    lineage.key.mix(0x6a7670);
    auto next =
        ContinuationCache::instance().get(lineage.key, [&] { return tangentOf(graph, graph.outputs, lineage.wrt); });
    return replayBehind(lineage, *next, {}, tangents, at);
  }
  ChainRule chain(lineage, at);
  chain.pushForward(lineage.wrt, tangents);
  return chain.take(graph.outputs);
}

} // namespace sprig::frontend
