#include "lib/Frontend/Engine/Lineage.h"
#include "lib/Frontend/Engine/Recording.h"
#include "lib/Frontend/Record.h"
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace sprig::frontend {

/// All tracked nodes behind the outputs, in the order of recording.
static std::vector<Node *> nodesBehind(std::span<const Tensor> outputs) {
  uint64_t walk = newScope();
  std::vector<Node *> nodes, open;
  auto visit = [&](const Value *value) {
    Node *producer = value->tracked && !value->root ? value->producer : nullptr;
    if (!producer || !producer->tracked || producer->walk == walk) return;
    producer->walk = walk;
    open.push_back(producer);
  };
  for (const Tensor &output : outputs) visit(output.raw());
  while (!open.empty()) {
    Node *node = open.back();
    open.pop_back();
    nodes.push_back(node);
    for (const Value *operand : node->operands) visit(operand);
  }
  std::sort(nodes.begin(), nodes.end(), [](const Node *a, const Node *b) { return a->sequence < b->sequence; });
  return nodes;
}

std::vector<Value *> parametersBehind(const Tensor &output) {
  std::vector<Value *> roots;
  auto add = [&](Value *value) {
    if (value->tracked && value->root && value->owner && std::find(roots.begin(), roots.end(), value) == roots.end())
      roots.push_back(value);
  };
  add(output.raw());
  for (const Node *node : nodesBehind({&output, 1}))
    for (Value *operand : node->operands) add(operand);
  return roots;
}

Tensor valueOf(Lineage &lineage, uint32_t number) {
  Value *value = lineage.values[number];
  if (!value) {
    auto [node, index] = lineage.origins[number];
    std::vector<Tensor> operands;
    for (Value *operand : node->operands) operands.push_back(handleTo(operand));
    const GraphNode &d = node->description;
    return recordAll(*d.op, operands, d.attrs, node->resultTypes, d.source, d.regions)[index];
  }
  return handleTo(value);
}

Lineage traceBack(std::span<const Tensor> outputs, std::span<const Tensor> wrt) {
  Lineage lineage;
  std::vector<Node *> behind = nodesBehind(outputs);
  // Forward from the targets: a node is kept when it depends on one of them.
  std::unordered_map<const Value *, uint32_t> numbers;
  std::unordered_set<const Node *> kept;
  std::unordered_set<const Value *> targets;
  for (const Tensor &t : wrt) targets.insert(t.raw());
  auto isInner = [&](const Value *value) {
    return value->tracked && !value->root && value->producer && kept.contains(value->producer);
  };
  auto dependsOn = [&](const Value *value) { return targets.contains(value) || isInner(value); };
  for (Node *node : behind)
    if (std::any_of(node->operands.begin(), node->operands.end(), dependsOn)) {
      kept.insert(node);
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
