#include "lib/Frontend/Engine/Variant.h"
#include "lib/Frontend/Engine/Consumed.h"
#include "lib/Frontend/Engine/RankScope.h"
#include "lib/Frontend/Engine/Recorder.h"
#include <algorithm>
#include <set>

namespace sprig::frontend {

namespace {

/// Records as outside of NoGrad, whatever the caller does: whether gradients flow through is another thing at each
/// call.
template <typename F> auto withLineage(F f) {
  struct Restore {
    bool before = setLineage(true);
    ~Restore() { setLineage(before); }
  } restore;
  return f();
}

} // namespace

std::shared_ptr<Variant> Variant::record(std::span<const TensorType> inputs, const Body &body, const std::string &name,
                                         Source at, std::span<const Tensor> given) {
  auto variant = std::make_shared<Variant>();
  variant->name = name;
  variant->source = at;
  variant->inputs.assign(inputs.begin(), inputs.end());
  ConsumedScope consumed; // the function's own: the caller's lineage goes on after it
  Trace trace(Trace::Kind::function, at);
  for (const TensorType &type : inputs) trace.input(type);
  for (size_t i = 0; i < given.size(); ++i) {
    trace.inputs[i].raw()->tracked = given[i].raw()->tracked && trace.lineageOutside;
    trace.inputs[i].raw()->device = given[i].raw()->device;
    variant->lineage.tracked.push_back(given[i].raw()->tracked);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    Value &input = *trace.inputs[i].raw();
    input.unplaced = i >= given.size() || given[i].raw()->constant || given[i].raw()->unplaced;
    variant->inputPlaces.push_back({input.device, !input.isPlaced()});
  }
  std::vector<Tensor> arguments = trace.inputs;
  std::vector<Tensor> results = withLineage([&] { return body(arguments); });

  Recording &recording = trace.recording;
  std::vector<Value *> outputs;
  for (const Tensor &result : results) {
    requireDefined(result, name.c_str(), "a result", at);
    recording.reach(result.raw());
    outputs.push_back(result.raw());
    variant->results.push_back(result.type());
    variant->lineage.ofGradient.push_back(result.raw()->ofGradient);
  }
  for (const TracedCell &cell : trace.cells) // a gradient may be some parameter's value
    if (cell.changesGradient() && cell.gradient.defined()) recording.reach(cell.gradient.raw());
  std::vector<const TracedCell *> cells;
  for (const TracedCell &cell : trace.cells) {
    if (cell.gradientSeen || cell.changesGradient())
      variant->gradients.push_back(
          {cell.parameter, cell.gradientSeen, cell.gradientBefore.defined(), cell.changesGradient(), -1});
    bool isUsed = cell.written() || std::find(recording.externals.begin(), recording.externals.end(),
                                              cell.initial.raw()) != recording.externals.end();
    if (!isUsed) continue;
    recording.reach(cell.initial.raw());
    StateSlot slot;
    slot.name = cell.parameter.name().empty() ? "state" + std::to_string(cells.size()) : cell.parameter.name();
    for (const StateSlot &other : variant->slots)
      if (other.name == slot.name) slot.name += "." + std::to_string(cells.size());
    slot.isPiece = cell.parameter.rawCell()->isPiece();
    if (cell.written()) {
      recording.reach(cell.current.raw());
      slot.output = int32_t(outputs.size());
      outputs.push_back(cell.current.raw());
    }
    variant->slots.push_back(slot);
    variant->parameters.push_back(cell.parameter);
    cells.push_back(&cell);
  }
  std::vector<Value *> before; // of the gradients
  for (GradientLink &link : variant->gradients) {
    const TracedCell &cell = trace.cell(link.parameter);
    before.push_back(cell.gradientBefore.raw());
    if (!link.isSet || !cell.gradient.defined()) continue;
    link.output = int32_t(outputs.size());
    outputs.push_back(cell.gradient.raw());
  }
  for (uint32_t i = 0; i < recording.externals.size(); ++i) {
    Value *value = recording.externals[i];
    bool isState = false;
    for (size_t c = 0; c < cells.size(); ++c)
      if (cells[c]->initial.raw() == value) {
        variant->slots[c].input = i;
        isState = true;
      }
    if (isState) continue;
    Feed feed{Feed::Kind::captured, 0, {}};
    for (uint32_t k = 0; k < trace.inputs.size(); ++k)
      if (trace.inputs[k].raw() == value) feed = {Feed::Kind::argument, k, {}};
    for (uint32_t k = 0; k < before.size(); ++k)
      if (before[k] == value) feed = {Feed::Kind::gradient, k, {}};
    if (trace.randomKey.defined() && trace.randomKey.raw() == value) feed = {Feed::Kind::randomKey, 0, {}};
    if (trace.randomBase.defined() && trace.randomBase.raw() == value) feed = {Feed::Kind::randomBase, 0, {}};
    if (feed.kind == Feed::Kind::captured) feed.value = handleTo(value);
    variant->feeds.push_back(std::move(feed));
  }
  if (trace.step) {
    trace.step->nameGradients(*variant);
    variant->division = trace.step->division;
    for (const Feed &feed : variant->feeds) variant->division->ofSamples.push_back(feed.kind == Feed::Kind::argument);
  }
  variant->graph = recording.graph(outputs);
  variant->completePlaces(results, recording);
  variant->ranks = std::move(trace.ranks);
  variant->samples = std::move(trace.samples);
  variant->observed = trace.host.observations(trace.use.any);
  variant->effects = trace.host.effects();
  variant->randomDraws = trace.randomDraws;
  variant->lineage.open.assign(variant->graph.nodes.size() - recording.nodes.size(), false); // constants
  for (const Node *node : recording.nodes) variant->lineage.open.push_back(node->open);
  variant->lineage.use = std::move(trace.use);
  variant->lineage.lineageOutside = trace.lineageOutside;
  variant->lineage.endsLineage = trace.endsLineage;
  variant->completeLineage();
  return variant;
}

bool Variant::fits(const FlatValues &arguments) const {
  if (arguments.tensors.size() != inputs.size() || arguments.host != host) return false;
  if (ranks && !ranks->isHere()) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!(arguments.tensors[i].raw()->type == inputs[i])) return false;
  for (const Observation &each : observed)
    if (!each.holds()) return false;
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].isPiece != parameters[i].rawCell()->isPiece()) return false;
  return placeDifference(arguments.tensors).empty() && gradientDifference(arguments.tensors).empty();
}

std::string Variant::placeDifference(std::span<const Tensor> arguments) const {
  if (openDevices() == 1) return {};
  auto differs = [](const std::string &what, DeviceId now, DeviceId was) {
    return what + " is on " + deviceOf(now).name() + ", recorded was " + deviceOf(was).name();
  };
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const Value &now = *arguments[i].raw(); !inputPlaces[i].unplaced && now.device != inputPlaces[i].device)
      return differs("argument " + std::to_string(i), now.device, inputPlaces[i].device);
  if (currentDevice() != madeOn) return differs("what it makes", currentDevice(), madeOn);
  for (size_t i = 0; i < parameters.size(); ++i)
    if (DeviceId now = parameters[i].rawCell()->current.raw()->device; now != homes[i])
      return differs("parameter '" + slots[i].name + "'", now, homes[i]);
  return {};
}

void Variant::completePlaces(std::span<const Tensor> results, const Recording &recording) {
  std::set<DeviceId> used;
  madeOn = currentDevice();
  auto use = [&](const Value &value) {
    if (value.isPlaced()) used.insert(value.device);
  };
  for (const Value *value : recording.values) use(*value);
  for (const Value *value : recording.externals) use(*value);
  for (const Tensor &result : results) {
    resultPlaces.push_back({result.raw()->device, result.raw()->constant || result.raw()->unplaced});
    use(*result.raw());
  }
  for (const Parameter &parameter : parameters) {
    const Value &now = *parameter.rawCell()->current.raw();
    homes.push_back(now.device);
    use(now);
  }
  if (used.empty() && !homes.empty()) used.insert(homes[0]); // all are scalars
  device = used.empty() ? currentDevice() : *used.begin();
  if (used.size() < 2) return;
  devices.assign(used.begin(), used.end());
  // Constants come before the recording's own nodes. Copies are made where a value is read elsewhere.
  GraphNode *own = graph.nodes.data() + (graph.nodes.size() - recording.nodes.size());
  for (size_t i = 0; i < recording.nodes.size(); ++i) {
    const Node &node = *recording.nodes[i];
    bool isFree = node.results[0]->unplaced;
    if (!node.isCopy && !isFree)
      own[i].attrs.push_back(Attr::other("nn.place", intern('"' + deviceOf(node.device).name() + '"').c_str()));
  }
}

std::vector<LaneId> Variant::lanes() const {
  if (devices.empty()) return {computeLane(device)};
  std::vector<LaneId> lanes;
  for (DeviceId each : devices) lanes.push_back(computeLane(each));
  return lanes;
}

PlanRanks Variant::planRanks(const RankBuckets &buckets) const {
  if (!ranks) return {};
  return {ranks->group, samples.samples, samples.weights, buckets, division};
}

void Variant::setFactors(FactorPolicy policy) {
  if (!ranks || policy == FactorPolicy::never) return;
  if (samples.differ || (samples.end && samples.end != ranks))
    fail(source, name,
         samples.differ ? "factors are gathered of the samples of one batch, and its BatchShares are of several"
                        : "factors are gathered by " + ranks->text() + ", and its BatchShare is of " +
                              samples.end->text() + " of another group");
  factors = policy;
}

bool Variant::sawTrainingMode() const {
  auto isOn = [](const Observation &each) { return each.setting == &kTrainingMode && each.was; };
  auto isSet = [](const SwitchEffect &each) { return !each.frozen.defined() && each.value; };
  return std::any_of(observed.begin(), observed.end(), isOn) || std::any_of(effects.begin(), effects.end(), isSet);
}

} // namespace sprig::frontend
