// Copies a graph with other inputs: numbers are given anew as it goes.
// For what binds captured values and makes packages.
#pragma once
#include "lib/Graph/Graph.h"

namespace sprig::graph {

class GraphRewriter {
public:
  explicit GraphRewriter(const Graph &from) : from(from), numbers(from.types.size(), UINT32_MAX) {}

  /// All inputs come before the first node.
  uint32_t addInput(const TensorType &type) {
    to.types.push_back(type);
    return to.inputCount++;
  }
  /// What value `old` of the first graph is in the new one; for all its inputs.
  void map(uint32_t old, uint32_t now) { numbers[old] = now; }
  uint32_t now(uint32_t old) const { return numbers[old]; }
  /// A node with one result.
  uint32_t addNode(GraphNode node, const TensorType &result) {
    node.firstResult = uint32_t(to.types.size());
    node.resultCount = 1;
    to.nodes.push_back(std::move(node));
    to.types.push_back(result);
    return uint32_t(to.types.size()) - 1;
  }
  /// The first graph's nodes and outputs.
  void copy() {
    for (const GraphNode &node : from.nodes) {
      GraphNode copy = node;
      for (uint32_t &operand : copy.operands) operand = numbers[operand];
      copy.firstResult = uint32_t(to.types.size());
      for (uint32_t i = 0; i < node.resultCount; ++i) {
        numbers[node.firstResult + i] = uint32_t(to.types.size());
        to.types.push_back(from.types[node.firstResult + i]);
      }
      to.nodes.push_back(std::move(copy));
    }
    for (uint32_t output : from.outputs) to.outputs.push_back(numbers[output]);
  }

  Graph to;

private:
  const Graph &from;
  std::vector<uint32_t> numbers;
};

} // namespace sprig::graph
