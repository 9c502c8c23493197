#include "lib/Frontend/Package/TrainingMode.h"
#include <algorithm>

namespace sprig::frontend {

namespace {

/// The layer of the first operation that takes a random counter; null where none is named.
const std::string *drawingLayer(const Variant &variant) {
  const Graph &graph = variant.graph;
  std::vector<bool> isState(graph.inputCount), isCounter(graph.types.size());
  for (const StateSlot &slot : variant.slots) isState[slot.input] = true;
  size_t feed = 0;
  for (uint32_t i = 0; i < graph.inputCount; ++i)
    if (!isState[i]) isCounter[i] = variant.feeds[feed++].kind == Variant::Feed::Kind::randomBase;
  for (const GraphNode &node : graph.nodes) {
    if (std::none_of(node.operands.begin(), node.operands.end(), [&](uint32_t value) { return isCounter[value]; }))
      continue;
    if (node.layer) return node.layer;
    for (uint32_t k = 0; k < node.resultCount; ++k) isCounter[node.firstResult + k] = true;
  }
  return nullptr;
}

} // namespace

void refuseTrainingMode(const Variant &variant, const std::string &function, Source at) {
  if (!variant.sawTrainingMode()) return;
  std::string what;
  auto add = [&](const std::string &each) { what += (what.empty() ? "" : " and ") + each; };
  if (variant.randomDraws) {
    const std::string *layer = drawingLayer(variant);
    add("draws random numbers" + (layer ? " (layer '" + *layer + "')" : std::string()));
  }
  std::string first;
  size_t count = 0;
  for (size_t i = 0; i < variant.slots.size(); ++i) {
    if (variant.slots[i].output < 0) continue;
    if (variant.parameters[i].trainable()) return; // a training step
    if (count++ == 0) first = variant.slots[i].name;
  }
  if (count) add("sets '" + first + "'" + (count > 1 ? " and " + std::to_string(count - 1) + " more" : ""));
  if (what.empty()) return;
  fail(
      at, "save",
      "'" + function + "' has a layer in training mode, so it " + what +
          " at every call, but it trains nothing; call eval() before it is saved, or give SaveOptions .training = true "
          "where it is meant");
}

} // namespace sprig::frontend
