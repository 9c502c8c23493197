// Files whose nodes do not stand in topological order, as some converters leave them (casts at the end): they are put
// in one here, so that the rest of the importer takes them as they come.
#include "lib/Import/ONNX/Model.h"
#include "lib/Import/ONNX/Reads.h"
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace sprig::onnximport {

namespace {

void forEachFreeRead(const onnx::GraphProto &graph, llvm::function_ref<void(const std::string &)> visit) {
  std::unordered_set<std::string> own;
  for (const auto &input : graph.input()) own.insert(input.name());
  for (const auto &tensor : graph.initializer()) own.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer()) own.insert(tensor.values().name());
  for (const auto &node : graph.node())
    for (const std::string &output : node.output()) own.insert(output);
  auto free = [&](const std::string &name) {
    if (!own.count(name)) visit(name);
  };
  for (const auto &node : graph.node()) forEachRead(node, free);
  for (const auto &output : graph.output()) free(output.name());
}

/// By place: the nodes that read each node's results; empty where each stands behind what it reads already.
std::vector<std::vector<int>> readersOf(const Nodes &nodes) {
  std::unordered_map<std::string, int> maker;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output()) maker.emplace(output, i);
  std::vector<std::vector<int>> readers(nodes.size());
  bool isOrdered = true;
  for (int i = 0; i < nodes.size(); ++i)
    forEachRead(nodes[i], [&](const std::string &name) {
      auto made = maker.find(name);
      if (made == maker.end()) return;
      readers[made->second].push_back(i);
      isOrdered &= made->second < i;
    });
  if (isOrdered) readers.clear();
  return readers;
}

/// Each node as early as what it reads allows, else in the file's order (Kahn 1962). Nodes on a cycle, and what reads
/// them, stay behind all others as they were: the check names the cycle.
void order(Nodes &nodes) {
  std::vector<std::vector<int>> readers = readersOf(nodes);
  if (readers.empty()) return;
  std::vector<int> missing(readers.size());
  for (const auto &each : readers)
    for (int reader : each) ++missing[reader];
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (!missing[i]) ready.push(i);
  std::vector<int> places;
  while (!ready.empty()) {
    int next = ready.top();
    ready.pop();
    places.push_back(next);
    for (int reader : readers[next])
      if (!--missing[reader]) ready.push(reader);
  }
  for (int i = 0; i < nodes.size(); ++i)
    if (missing[i]) places.push_back(i);
  Nodes ordered;
  ordered.Reserve(nodes.size());
  for (int place : places) ordered.Add()->Swap(&nodes[place]);
  nodes.Swap(&ordered);
}

void orderAll(Nodes &nodes) {
  for (auto &node : nodes)
    for (auto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) orderAll(*attribute.mutable_g()->mutable_node());
      for (auto &graph : *attribute.mutable_graphs()) orderAll(*graph.mutable_node());
    }
  order(nodes);
}

} // namespace

void forEachRead(const onnx::NodeProto &node, llvm::function_ref<void(const std::string &)> visit) {
  for (const std::string &input : node.input())
    if (!input.empty()) visit(input);
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g()) forEachFreeRead(attribute.g(), visit);
    for (const auto &graph : attribute.graphs()) forEachFreeRead(graph, visit);
  }
}

void orderNodes(onnx::ModelProto &model) {
  orderAll(*model.mutable_graph()->mutable_node());
  for (auto &function : *model.mutable_functions()) orderAll(*function.mutable_node());
}

} // namespace sprig::onnximport
