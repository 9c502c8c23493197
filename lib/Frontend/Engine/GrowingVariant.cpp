// A compiled function for several lengths of its arguments: recorded at a few of them.
#include "lib/Frontend/Engine/GrowingCall.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Record.h"
#include "lib/Lengths/Ranges.h"

namespace sprig::frontend {

/// Whether two recordings take the same besides arguments, in the same order.
static bool takeTheSame(const Variant &a, const Variant &b) {
  auto sameFeed = [](const Variant::Feed &x, const Variant::Feed &y) {
    return x.kind == y.kind && x.index == y.index && x.value.raw() == y.value.raw();
  };
  auto sameSlot = [](const StateSlot &x, const StateSlot &y) { return x.input == y.input && x.name == y.name; };
  return std::equal(a.feeds.begin(), a.feeds.end(), b.feeds.begin(), b.feeds.end(), sameFeed) &&
         std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(), sameSlot);
}

static void refuseEffects(const Variant &variant) {
  auto refuse = [&](const std::string &why) {
    fail(variant.source, variant.name, "arguments of growing length are for functions that compute alone: it " + why);
  };
  for (const StateSlot &slot : variant.slots)
    if (slot.output >= 0) refuse("sets '" + slot.name + "'");
  if (!variant.gradients.empty()) refuse("looks at gradients of parameters");
  if (variant.randomDraws) refuse("draws random numbers");
  if (variant.ranks) refuse("meets other ranks");
  if (!variant.devices.empty()) refuse("is on several devices");
}

std::shared_ptr<Variant> Variant::recordGrowing(const LengthRange &program, std::span<const GrowingAxis> axes,
                                                std::span<const Tensor> arguments, const Body &body,
                                                const std::string &name, Source at) {
  std::span<const Tensor> given = arguments.first(arguments.size() - 1); // the length is the last
  std::vector<std::pair<int64_t, std::shared_ptr<Variant>>> recorded;
  for (int64_t length : tellingLengths(program)) {
    std::vector<TensorType> types;
    for (const Tensor &argument : given) types.push_back(argument.type());
    for (const GrowingAxis &axis : axes) types[axis.tensor].shape[axis.axis] = length;
    recorded.emplace_back(length, record(types, body, name, at, given));
    refuseEffects(*recorded.back().second);
    if (!takeTheSame(*recorded.front().second, *recorded.back().second))
      fail(at, name,
           "uses other tensors or parameters where the length is " + std::to_string(length) + " than where it is " +
               std::to_string(program.last));
  }
  std::vector<std::pair<int64_t, const Graph *>> graphs;
  for (auto &[length, variant] : recorded) graphs.emplace_back(length, &variant->graph);
  GrowingGraph growing = growingGraph(graphs, "length");
  // The body has set its caller's structure at each length; what of it holds tensors is the same in all.
  std::shared_ptr<Variant> variant = recorded.front().second;
  variant->graph = std::move(growing.graph);
  variant->growing = std::move(growing.outputs);
  variant->feeds.push_back({Feed::Kind::argument, uint32_t(given.size()), {}});
  variant->inputs.push_back(arguments.back().type());
  variant->inputPlaces.push_back({0, true});
  variant->lineage.tracked.push_back(false);
  variant->lineage.open.assign(variant->graph.nodes.size(), true);
  variant->lineage.behind.clear();
  variant->lineage.refusal = &intern("compiled function '" + name +
                                     "', whose arguments have a growing length; gradients flow through functions of "
                                     "arguments of one length");
  variant->completeLineage();
  variant->isChecked = true; // it was recorded several times
  return variant;
}

} // namespace sprig::frontend
