#include "lib/Frontend/Engine/CallLineage.h"
#include "lib/Frontend/Engine/Lineage.h"
#include "lib/Frontend/Engine/Variant.h"
#include <algorithm>

namespace sprig::frontend {

namespace {

/// " (train.cpp:12)", or nothing.
std::string describePlace(Source at) {
  return at.line ? " (" + std::string(at.file) + ":" + std::to_string(at.line) + ")" : "";
}

/// Which of some sources gradients flow to from each value of a graph.
class Sources {
public:
  Sources(const Graph &graph, size_t count) : words((count + 63) / 64), bits(words * graph.types.size()) {}
  /// The value is a source itself: gradients end there.
  void set(uint32_t value, uint32_t source) {
    std::fill_n(row(value), words, 0);
    row(value)[source / 64] |= uint64_t(1) << source % 64;
  }
  void add(uint32_t value, uint32_t from) {
    for (size_t w = 0; w < words; ++w) row(value)[w] |= row(from)[w];
  }
  bool has(uint32_t value, uint32_t source) { return row(value)[source / 64] >> source % 64 & 1; }

private:
  uint64_t *row(uint32_t value) { return bits.data() + words * value; }
  size_t words;
  std::vector<uint64_t> bits;
};

} // namespace

void Variant::completeLineage() {
  static const OpName &stop = opName("nn.stop_gradient");
  uint32_t count = graph.inputCount + uint32_t(slots.size());
  Sources reached(graph, count);
  std::vector<char> isOld(count);
  std::unordered_map<uint32_t, uint32_t> nextValues; // of states
  lineage.sources.assign(graph.inputCount, 0);
  for (uint32_t s = 0; s < slots.size(); ++s) {
    lineage.sources[slots[s].input] = CallLineage::kState | s;
    if (slots[s].output < 0) continue;
    isOld[slots[s].input] = true;
    nextValues[graph.outputs[size_t(slots[s].output)]] = graph.inputCount + s;
    if (!lineage.refusal)
      lineage.refusal =
          &intern("compiled function '" + name + "'" + describePlace(source) + ", which sets '" + slots[s].name +
                  "'; gradients flow through compiled functions that set no state: take them within");
  }
  uint32_t feed = 0;
  for (uint32_t &source : lineage.sources)
    if (!(source & CallLineage::kState)) source = feed++;

  auto setSource = [&](uint32_t value, uint32_t otherwise) {
    auto next = nextValues.find(value);
    if (next != nextValues.end())
      reached.set(value, next->second);
    else if (otherwise != count)
      reached.set(value, otherwise);
  };
  for (uint32_t i = 0; i < graph.inputCount; ++i) setSource(i, isFloat(graph.types[i].dtype) ? i : count);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode &node = graph.nodes[n];
    for (uint32_t r = node.firstResult; r < node.firstResult + node.resultCount; ++r) {
      if (lineage.open[n] && node.op != &stop && isFloat(graph.types[r].dtype))
        for (uint32_t operand : node.operands) reached.add(r, operand);
      setSource(r, count);
    }
  }
  lineage.any = false;
  for (size_t r = 0; r < results.size(); ++r) {
    lineage.behind.emplace_back();
    for (uint32_t source = 0; source < count; ++source)
      if (!isOld[source] && reached.has(graph.outputs[r], source)) lineage.behind.back().push_back(source);
    lineage.any |= !lineage.behind.back().empty();
  }
}

/// A node for those of the results that are tracked.
static void connect(Node *node, std::span<const Tensor> results) {
  static const OpName &op = opName("call");
  node->sequence = newSequence();
  node->tracked = node->open = true;
  node->device = results.empty() ? DeviceId(0) : results[0].raw()->device;
  node->released = Node::kRan; // its operands are kept for gradients alone
  node->description.op = &op;
  for (Value *operand : node->operands) keep(operand);
  uint32_t count = 0;
  for (size_t r = 0; r < results.size(); ++r)
    if (Value *result = results[r].raw(); result->tracked) {
      result->producer = node;
      result->index = uint16_t(r);
      ++count;
    }
  node->references.store(count, std::memory_order_relaxed);
}

void rememberCall(const std::shared_ptr<Variant> &callee, std::span<Value *const> inputs,
                  std::span<const Tensor> results) {
  const CallLineage &lineage = callee->lineage;
  auto isTracked = [&](uint32_t input) { return inputs[input]->tracked; };
  bool any = false;
  for (size_t r = 0; r < results.size(); ++r) {
    bool is = std::any_of(lineage.behind[r].begin(), lineage.behind[r].end(), isTracked);
    any |= results[r].raw()->tracked = is;
  }
  if (!any) return;
  auto *node = new Node;
  node->description.source = callee->source;
  node->resultTypes.assign(callee->results);
  if ((node->refusal = lineage.refusal)) {
    std::vector<char> isOperand(inputs.size());
    for (const auto &row : lineage.behind)
      for (uint32_t input : row) isOperand[input] = isTracked(input);
    node->operands.reserve(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (isOperand[i]) node->operands.push_back(inputs[i]);
  } else {
    node->callee = callee;
    node->operands.assign(inputs.first(callee->graph.inputCount));
  }
  connect(node, results);
}

void rememberRefused(const std::string *refusal, std::span<const Tensor> inputs, std::span<const Tensor> results) {
  std::vector<Value *> operands;
  for (const Tensor &input : inputs)
    if (input.raw()->tracked) operands.push_back(input.raw());
  auto isReal = [](const Tensor &result) { return isFloat(result.dtype()); };
  if (operands.empty() || std::none_of(results.begin(), results.end(), isReal)) return;
  auto *node = new Node;
  node->refusal = refusal;
  node->operands.assign(operands);
  std::vector<TensorType> types;
  for (const Tensor &result : results) {
    types.push_back(result.type());
    result.raw()->tracked = isReal(result);
  }
  node->resultTypes.assign(types);
  connect(node, results);
}

void checkUse(const Variant &callee, std::span<const Tensor> arguments) {
  const GradientUse &use = callee.lineage.use;
  for (uint32_t i : use.arguments) {
    if (!arguments[i].raw()->tracked) continue;
    for (const Value *root : parametersBehind(arguments[i], callee.source))
      if (use.all || std::find(use.parameters.begin(), use.parameters.end(), root->version) != use.parameters.end())
        fail(callee.source, callee.name,
             "takes gradients within, and argument " + std::to_string(i) + " was computed from parameter '" +
                 root->owner->name +
                 "' outside, where they do not get to; compute it within, detach() it, or take the gradients outside");
  }
}

void refuseCalls(std::span<Node *const> nodes, const char *op, Source at) {
  for (const Node *node : nodes)
    if (node->refusal) fail(at, op, "the output was computed by " + *node->refusal + ", or detach() its result");
}

std::string Variant::gradientDifference(std::span<const Tensor> arguments) const {
  for (const GradientLink &link : gradients)
    if (link.isSeen && link.isPresent != link.parameter.rawCell()->gradient.defined())
      return "parameter '" + link.parameter.name() + "' has " + (link.isPresent ? "no" : "a") +
             " gradient, recorded was with" + (link.isPresent ? " one" : "out");
  if (!lineage.use.any) return {};
  if (lineage.lineageOutside != lineageIsOn())
    return std::string("it takes gradients, and is called ") + (lineage.lineageOutside ? "in" : "out") +
           "side of NoGrad, recorded was " + (lineage.lineageOutside ? "out" : "in") + "side";
  for (size_t i = 0; i < arguments.size(); ++i)
    if (bool isTracked = arguments[i].raw()->tracked; isTracked != bool(lineage.tracked[i]))
      return "it takes gradients, and argument " + std::to_string(i) +
             (isTracked ? " remembers" : " does not remember") + " how it was computed, which it did" +
             (isTracked ? " not" : "") + " when it was recorded";
  return {};
}

} // namespace sprig::frontend
