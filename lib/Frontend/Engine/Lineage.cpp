#include "lib/Frontend/Engine/Lineage.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Recording.h"
#include "lib/Frontend/Engine/Variant.h"
#include "lib/Frontend/Record.h"
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace sprig::frontend {

namespace {

/// All tracked nodes behind outputs, in the order of recording.
struct Behind {
  std::vector<Node *> nodes;
  /// Of calls that gradients flow through: which operands they flow to from the results that are used.
  std::unordered_map<const Node *, std::vector<char>> flows;

  explicit Behind(std::span<const Tensor> outputs);
  template <typename F> void eachOperand(const Node *node, F f) const {
    auto row = flows.find(node);
    for (size_t i = 0; i < node->operands.size(); ++i)
      if (row == flows.end() || row->second[i]) f(node->operands[i]);
  }
  template <typename F> bool anyOperand(const Node *node, F f) const {
    bool any = false;
    eachOperand(node, [&](Value *value) { any |= f(value); });
    return any;
  }
};

Behind::Behind(std::span<const Tensor> outputs) {
  uint64_t walk = newScope();
  std::vector<const Value *> open;
  for (const Tensor &output : outputs) open.push_back(output.raw());
  while (!open.empty()) {
    const Value *value = open.back();
    open.pop_back();
    Node *producer = value->tracked && !value->root ? value->producer : nullptr;
    if (!producer || !producer->tracked) continue;
    bool isNew = std::exchange(producer->walk, walk) != walk;
    if (isNew) nodes.push_back(producer);
    if (producer->callee) {
      std::vector<char> &row = flows.try_emplace(producer, producer->operands.size()).first->second;
      for (uint32_t input : producer->callee->lineage.behind[value->index])
        if (!std::exchange(row[input], true)) open.push_back(producer->operands[input]);
    } else if (isNew)
      open.insert(open.end(), producer->operands.begin(), producer->operands.end());
  }
  std::sort(nodes.begin(), nodes.end(), [](const Node *a, const Node *b) { return a->sequence < b->sequence; });
}

} // namespace

std::vector<Value *> parametersBehind(const Tensor &output, Source at) {
  std::vector<Value *> roots;
  auto add = [&](Value *value) {
    if (!value->tracked || !value->root || !value->version) return;
    if (!value->owner)
      fail(at, "backward",
           "the output depends on a parameter that has been set since; take all gradients of a step, then update");
    if (std::find(roots.begin(), roots.end(), value) == roots.end()) roots.push_back(value);
  };
  add(output.raw());
  Behind behind({&output, 1});
  for (const Node *node : behind.nodes) behind.eachOperand(node, add);
  return roots;
}

void noteUse(Trace &trace, const Tensor &output, std::span<const Tensor> wrt) {
  trace.use.any = true;
  trace.use.all |= wrt.empty();
  for (const Tensor &t : wrt)
    if (t.raw()->version) trace.use.parameters.push_back(t.raw()->version);
  Behind behind({&output, 1});
  for (uint32_t i = 0; i < trace.inputs.size(); ++i) {
    Value *input = trace.inputs[i].raw();
    auto uses = [&](const Node *node) {
      return behind.anyOperand(node, [&](Value *operand) { return operand == input; });
    };
    if (input->tracked && (output.raw() == input || std::any_of(behind.nodes.begin(), behind.nodes.end(), uses)))
      trace.use.arguments.push_back(i);
  }
}

/// What is known of why an output remembers nothing that gradients could flow through; or nothing.
static std::string whyNoGradient(const Tensor &output) {
  const Value &value = *output.raw();
  if (value.ofGradient)
    return "; it was computed from a gradient that was taken without createGraph, which does not remember how it came "
           "about: take that one by grad(..., {.createGraph = true})";
  if (value.tracked && value.producer && value.producer->consumed && !value.producer->tracked)
    return "; a gradient of it was taken and used by an optimizer's update, which ends what was recorded before: "
           "compute it again";
  Trace *trace = Trace::currentFunction();
  if (!lineageIsOn() || (trace && !trace->lineageOutside))
    return "; NoGrad lives here, and what is computed then remembers nothing";
  return {};
}

std::string describeAsked(const Value &value) {
  return value.owner ? "parameter '" + value.owner->name + "'" : "the value " + describe(value.type);
}

/// "'fc.weight', 'fc.bias' and 2 more": the parameters that outputs depend on.
static std::string namesBehind(std::span<const Tensor> outputs) {
  std::vector<std::string> names;
  auto add = [&](const Value *value) {
    if (!value->tracked || !value->root || !value->owner) return;
    std::string name = "'" + value->owner->name + "'";
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Tensor &output : outputs) add(output.raw());
  Behind behind(outputs);
  for (const Node *node : behind.nodes) behind.eachOperand(node, add);
  constexpr size_t kMost = 2;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, names.size()); ++i) text += (i ? ", " : "") + names[i];
  return names.size() > kMost ? text + " and " + std::to_string(names.size() - kMost) + " more" : text;
}

std::string whyUnreached(std::span<const Tensor> outputs, std::span<const Tensor> wrt) {
  for (const Tensor &output : outputs)
    if (std::string reason = whyNoGradient(output); !reason.empty()) return reason;
  auto all = [&](auto test) {
    return !wrt.empty() && std::all_of(wrt.begin(), wrt.end(), [&](const Tensor &t) { return test(*t.raw()); });
  };
  const std::string first = wrt.empty() ? "" : describeAsked(*wrt[0].raw());
  if (all([](const Value &value) { return value.owner && !value.owner->trainable; }))
    return ": " + first + " is frozen (setTrainable(false))";
  if (all([](const Value &value) { return !value.owner && !value.tracked; }))
    return ": " + first + " was used without requireGrad(), which it needs before";
  auto remembers = [](const Tensor &output) { return output.raw()->tracked; };
  if (std::none_of(outputs.begin(), outputs.end(), remembers))
    return ": it remembers nothing, as what is computed under NoGrad, from detach()ed values, or from frozen "
           "parameters alone";
  for (const Tensor &t : wrt)
    if (const Parameter::Cell *cell = t.raw()->owner; cell && cell->standing.removed)
      return ": " + describeAsked(*t.raw()) + " belongs to its module no more: " + cell->standing.how;
  const std::string names = namesBehind(outputs);
  if (wrt.empty()) return ": it depends on values with requireGrad() alone, whose gradients grad() gives";
  return ": it depends on " + (names.empty() ? "values that are no parameters" : names) + ", and " + first +
         (wrt.size() > 1 ? " and the others are" : " is") + " not among them";
}

Tensor valueOf(Lineage &lineage, uint32_t number) {
  Value *value = lineage.values[number];
  if (!value) {
    auto [node, index] = lineage.origins[number];
    std::vector<Tensor> operands;
    for (Value *operand : node->operands) operands.push_back(handleTo(operand));
    const GraphNode &d = node->description;
    if (node->isCopy) return copyTo(operands[0], node->device, d.source);
    return recordAll(*d.op, operands, d.attrs, node->resultTypes, d.source, d.regions)[index];
  }
  return handleTo(value);
}

Lineage traceBack(std::span<const Tensor> outputs, std::span<const Tensor> wrt) {
  Lineage lineage;
  Behind behind(outputs);
  // Forward from the targets: a node is kept when it depends on one of them.
  std::unordered_map<const Value *, uint32_t> numbers;
  std::unordered_map<const Node *, std::vector<char>> kept; // of calls: which of their results depend on one
  std::unordered_set<const Value *> targets;
  std::unordered_map<uint64_t, const Value *> versions;
  for (const Tensor &t : wrt) {
    targets.insert(t.raw());
    if (t.raw()->version) versions[t.raw()->version] = t.raw();
  }
  auto findOtherVersion = [&](Value *value) {
    if (!value->tracked || !value->root || !value->version || targets.contains(value)) return;
    if (value->owner && !value->owner->standing.isSettled) lineage.untrained.push_back(value);
    if (auto wanted = versions.find(value->version); wanted != versions.end()) lineage.otherVersion = wanted->second;
  };
  for (const Tensor &output : outputs) findOtherVersion(output.raw());
  if (!versions.empty())
    for (const Node *node : behind.nodes) behind.eachOperand(node, findOtherVersion);
  auto isInner = [&](const Value *value) {
    if (!value->tracked || value->root || !value->producer) return false;
    auto node = kept.find(value->producer);
    return node != kept.end() && (node->second.empty() || node->second[value->index]);
  };
  auto dependsOn = [&](const Value *value) { return targets.contains(value) || isInner(value); };
  for (Node *node : behind.nodes)
    if (behind.anyOperand(node, dependsOn)) {
      std::vector<char> results;
      if (node->callee)
        for (const std::vector<uint32_t> &row : node->callee->lineage.behind)
          results.push_back(
              std::any_of(row.begin(), row.end(), [&](uint32_t input) { return dependsOn(node->operands[input]); }));
      kept.emplace(node, std::move(results));
      lineage.hasCalls |= node->callee != nullptr;
      lineage.hasCopies |= node->isCopy;
      lineage.hasDevices |= !lineage.nodes.empty() && node->device != lineage.nodes[0]->device;
      lineage.nodes.push_back(node);
    }
  for (const Tensor &output : outputs) lineage.reaches |= dependsOn(output.raw());

  Graph &graph = lineage.graph;
  Hash &key = lineage.key;
  auto define = [&](Value *value) {
    numbers[value] = uint32_t(graph.types.size());
    graph.types.push_back(value->type);
    lineage.values.push_back(value);
    lineage.origins.emplace_back(nullptr, 0);
    key.mix(value->type);
  };
  std::unordered_map<const Node *, uint32_t> firstOf;
  // Results are known by those who use them: nodes do not keep their results alive.
  auto number = [&](Value *value) {
    if (auto found = numbers.find(value); found != numbers.end()) return found->second;
    uint32_t n = firstOf.at(value->producer) + value->index;
    lineage.values[n] = value;
    return n;
  };
  // Inputs first: everything that no kept node computes.
  std::vector<Value *> constants;
  auto input = [&](Value *value) {
    if (numbers.contains(value) || isInner(value)) return;
    if (value->constant) {
      if (std::find(constants.begin(), constants.end(), value) == constants.end()) constants.push_back(value);
      return;
    }
    define(value);
  };
  for (Node *node : lineage.nodes)
    for (Value *operand : node->operands) input(operand);
  for (const Tensor &t : wrt)
    if (!numbers.contains(t.raw()) && !isInner(t.raw())) define(t.raw());
  for (const Tensor &t : outputs)
    if (!numbers.contains(t.raw()) && !isInner(t.raw())) define(t.raw());
  graph.inputCount = uint32_t(graph.types.size());
  for (Value *value : constants) {
    if (numbers.contains(value)) continue;
    graph.nodes.push_back(constantNode(value->storage->data, value->type.bytes()));
    graph.nodes.back().firstResult = uint32_t(graph.types.size());
    key.mix(graph.nodes.back());
    define(value);
  }
  for (Node *node : lineage.nodes) {
    GraphNode copy = node->description;
    key.mix(copy);
    for (Value *operand : node->operands) {
      copy.operands.push_back(number(operand));
      key.mix(copy.operands.back());
    }
    copy.firstResult = uint32_t(graph.types.size());
    copy.resultCount = uint32_t(node->resultTypes.size());
    firstOf[node] = copy.firstResult;
    for (uint32_t i = 0; i < copy.resultCount; ++i) {
      graph.types.push_back(node->resultTypes[i]);
      lineage.values.push_back(nullptr);
      lineage.origins.emplace_back(node, i);
    }
    graph.nodes.push_back(std::move(copy));
  }
  for (const Tensor &output : outputs) graph.outputs.push_back(number(output.raw()));
  for (const Tensor &t : wrt) lineage.wrt.push_back(number(t.raw()));
  for (uint32_t output : graph.outputs) key.mix(output);
  for (uint32_t w : lineage.wrt) key.mix(w);
  return lineage;
}

} // namespace sprig::frontend
