// A recorded computation as data: operations of the nn dialect, without a type of MLIR.
// What the recorder hands to the compiler, and what the compiler gives back (gradients, decompositions). Values are
// numbered: the inputs first, then the results of each node in order. A graph is complete in itself: nodes see inputs
// and earlier nodes' results, and a region is a graph of its own.
#pragma once
#include "lib/Graph/Attr.h"
#include "sprig/source.h"
#include <memory>
#include <span>

namespace sprig::graph {

struct Graph;

struct GraphNode {
  const OpName *op = nullptr;
  AttrList attrs;
  std::vector<uint32_t> operands;
  uint32_t firstResult = 0; ///< its results are values firstResult, firstResult + 1, ...
  uint32_t resultCount = 1;
  /// nn.scan, nn.checkpoint, nn.custom_gradient, ...: what the region takes are the graph's inputs, what it yields its
  /// outputs.
  std::vector<std::shared_ptr<const Graph>> regions;
  /// nn.constant: the bytes, of the result's whole type or of one element that is repeated.
  std::shared_ptr<const std::vector<char>> constant;
  Source source;
  const std::string *layer = nullptr; ///< "encoder.0.linear", interned; null outside of layers
  /// Of a gradient's operation, which has the place of the forward operation: the name of that, interned; else null.
  const std::string *gradientOf = nullptr;
};

/// An nn.constant of these bytes.
inline GraphNode constantNode(const void *bytes, int64_t count) {
  static const OpName &op = opName("nn.constant");
  auto *first = static_cast<const char *>(bytes);
  GraphNode node;
  node.op = &op;
  node.constant = std::make_shared<std::vector<char>>(first, first + count);
  return node;
}

struct Graph {
  std::vector<TensorType> types; ///< of all values
  uint32_t inputCount = 0;
  std::vector<GraphNode> nodes;
  std::vector<uint32_t> outputs;
};

/// A graph of one node: its inputs are the node's operands, its outputs the node's results.
inline Graph graphOf(const GraphNode &node, std::span<const TensorType> operands, std::span<const TensorType> results) {
  Graph graph;
  graph.types.assign(operands.begin(), operands.end());
  graph.types.insert(graph.types.end(), results.begin(), results.end());
  graph.inputCount = uint32_t(operands.size());
  graph.nodes.push_back(node);
  GraphNode &only = graph.nodes.front();
  only.operands.clear();
  for (uint32_t i = 0; i < graph.inputCount; ++i) only.operands.push_back(i);
  only.firstResult = graph.inputCount;
  only.resultCount = uint32_t(results.size());
  for (uint32_t i = 0; i < only.resultCount; ++i) graph.outputs.push_back(only.firstResult + i);
  return graph;
}

} // namespace sprig::graph
