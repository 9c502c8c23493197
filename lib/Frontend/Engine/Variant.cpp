#include "lib/Frontend/Engine/Variant.h"
#include "lib/Frontend/Engine/Consumed.h"
#include "lib/Frontend/Engine/MeetingTask.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/RankScope.h"
#include "lib/Frontend/Engine/Recorder.h"
#include <algorithm>
#include <chrono>
#include <set>

namespace sprig::frontend {

namespace {

/// What takes less than waking a thread and waiting for it need not start at once.
constexpr auto kShort = std::chrono::microseconds(20);

class CallTask : public Task {
public:
  std::shared_ptr<Variant> variant;
  std::vector<Tensor> inputs;
  std::vector<Value *> outputs; // a reference each
  std::vector<Tensor> before;   // of states
  std::vector<Value *> after;   // a reference each, null for states that are only read
  std::optional<CollectiveOrder::Turn> turn;

  ~CallTask() override {
    for (Value *value : outputs) drop(value);
    for (Value *value : after)
      if (value) drop(value);
  }

  void run() override {
    LaneId lane = computeLane(variant->device);
    for (const Tensor &input : inputs) Engine::waitForOther(*input.raw(), lane);
    for (const Tensor &state : before) Engine::waitForOther(*state.raw(), lane);
    if (turn) turn->await();
    execute();
    if (turn) turn->end();
  }

private:
  void execute() {
    Failure failure = findFailure();
    if (!failure && !variant->plan && !variant->failure) compile();
    if (!failure) failure = variant->failure;
    if (failure) return fail(failure);
    try {
      auto &[in, out, states] = variant->pointers;
      in.clear(), out.clear(), states.clear();
      for (const Tensor &input : inputs) in.push_back(input.raw()->storage->data);
      for (Value *value : outputs) {
        value->storage = Storage::allocate(value->type.bytes());
        out.push_back(value->storage->data);
      }
      for (size_t i = 0; i < before.size(); ++i) states.push_back(stateOf(i));
      // A clock at each call would cost a part of the smallest ones.
      bool isTimed = variant->runs < 8 || variant->runs % 64 == 0;
      ++variant->runs;
      auto start = isTimed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
      ProfileSpan span("function", [&] { return variant->name; });
      variant->plan->run(in, out, states, versionOfRead());
      if (isTimed) variant->isShort.store(std::chrono::steady_clock::now() - start < kShort, std::memory_order_relaxed);
    } catch (const Error &error) {
      return fail(std::make_shared<Error>(error.kind(), variant->name + ": " + error.what()));
    } catch (const std::exception &error) {
      return fail(std::make_shared<Error>(ErrorKind::internal, variant->name + ": " + error.what()));
    }
    for (Value *value : outputs) value->state.store(Value::State::ready, std::memory_order_release);
    for (Value *value : after)
      if (value) value->state.store(Value::State::ready, std::memory_order_release);
  }

  Failure findFailure() const {
    for (const Tensor &input : inputs)
      if (input.raw()->failure) return input.raw()->failure;
    for (const Tensor &state : before)
      if (state.raw()->failure) return state.raw()->failure;
    return nullptr;
  }

  void compile() {
    try {
      ProfileSpan span("compilation", [&] { return variant->name; });
      CompileOptions options = segmentOptions();
      options.prepare = true;
      options.factors = variant->factors;
      for (DeviceId device : variant->devices) options.devices.push_back(deviceOf(device).name());
      std::vector<DeviceId> devices = variant->devices;
      if (devices.empty()) devices = {variant->device};
      variant->plan =
          compilePlan(variant->graph, variant->slots, options, variant->name, std::move(devices),
                      variant->ranks ? PlanRanks{variant->ranks->group, variant->samples.samples} : PlanRanks());
    } catch (const Error &error) {
      variant->failure = std::make_shared<Error>(error);
    } catch (const std::exception &error) {
      variant->failure = std::make_shared<Error>(ErrorKind::internal, error.what());
    }
  }

  /// What the states that are only read hold, as one number: packed weights are kept while it stays.
  uint64_t versionOfRead() const {
    uint64_t hash = 1;
    for (size_t i = 0; i < before.size(); ++i)
      if (!after[i]) hash = (hash ^ before[i].raw()->storage->version()) * 0x9e3779b97f4a7c15 + (hash >> 32);
    return hash | 1;
  }

  /// Memory of a state: in place where nobody else can read the old version, else a copy of it.
  void *stateOf(size_t i) {
    Value *old = before[i].raw();
    if (!after[i]) return old->storage->data;
    bool isOurs = uint32_t(old->counts.load(std::memory_order_acquire)) == 1 && old->storage.use_count() == 1;
    if (isOurs) {
      after[i]->storage = std::move(old->storage);
      after[i]->storage->renew();
    } else {
      after[i]->storage = Storage::allocate(old->type.bytes());
      std::memcpy(after[i]->storage->data, old->storage->data, size_t(old->type.bytes()));
    }
    return after[i]->storage->data;
  }

  /// The results failed; states stay what they were, or what the run has made of them.
  void fail(const Failure &failure) {
    // The others wait for this rank. Where they have failed themselves, they know.
    if (turn) variant->ranks->group->fail({SPRIG_RT_CANCELLED, variant->ranks->text() + ": " + failure->what()});
    for (Value *value : outputs) {
      value->failure = failure;
      value->storage.reset();
      value->state.store(Value::State::failed, std::memory_order_release);
    }
    for (size_t i = 0; i < after.size(); ++i) {
      if (!after[i]) continue;
      Value *old = before[i].raw();
      if (!after[i]->storage) after[i]->storage = old->storage;
      if (old->failure) after[i]->failure = old->failure;
      after[i]->state.store(after[i]->storage ? Value::State::ready : Value::State::failed, std::memory_order_release);
    }
    for (LaneId lane : variant->lanes()) Engine::of(lane).noteFailure(failure);
  }
};

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

std::vector<Tensor> Variant::call(const std::shared_ptr<Variant> &self, std::span<const Tensor> arguments) {
  checkUse(*self, arguments);
  auto checkDevice = [&](DeviceId id) {
    if (isOfOtherRank(computeLane(id))) [[unlikely]]
      frontend::fail(self->source, self->name,
                     "has values on " + deviceOf(id).name() + ", the device of another rank; this rank's is " +
                         defaultDevice().name());
  };
  if (self->devices.empty()) checkDevice(self->device);
  for (DeviceId id : self->devices) checkDevice(id);
  auto task = std::make_unique<CallTask>();
  task->variant = self;
  RandomPosition random{};
  if (self->randomDraws) random = takeRandom(self->randomDraws);
  task->inputs.reserve(self->feeds.size());
  for (const Feed &feed : self->feeds) switch (feed.kind) {
    case Feed::Kind::argument: task->inputs.push_back(arguments[feed.index]); break;
    case Feed::Kind::captured: task->inputs.push_back(feed.value); break;
    case Feed::Kind::gradient: task->inputs.push_back(self->gradients[feed.index].parameter.rawCell()->gradient); break;
    case Feed::Kind::randomKey: task->inputs.push_back(Tensor(int64_t(random.key))); break;
    case Feed::Kind::randomBase: task->inputs.push_back(Tensor(int64_t(random.counter))); break;
    }
  std::vector<Tensor> results;
  results.reserve(self->results.size());
  task->outputs.reserve(self->results.size());
  task->before.reserve(self->parameters.size());
  task->after.reserve(self->parameters.size());
  auto fresh = [lane = computeLane(self->device)](const TensorType &type, Where where) {
    auto *value = new Value(type, Value::State::queued, 1);
    value->device = where.device;
    value->unplaced = where.unplaced;
    value->lane = lane;
    return value;
  };
  for (size_t i = 0; i < self->results.size(); ++i) {
    task->outputs.push_back(fresh(self->results[i], self->resultPlaces[i]));
    results.push_back(Tensor::own(task->outputs.back()));
  }
  for (size_t i = 0; i < self->parameters.size(); ++i) {
    Parameter::Cell *cell = self->parameters[i].rawCell();
    if (self->slots[i].output < 0) {
      task->before.push_back(cell->current);
      task->after.push_back(nullptr);
      continue;
    }
    auto *next = fresh(cell->type, {cell->current.raw()->device, false});
    next->owner = cell;
    next->version = cell->number;
    next->tracked = next->root = cell->trainable;
    task->after.push_back(next);
    cell->current.raw()->owner = nullptr;
    task->before.push_back(std::exchange(cell->current, Tensor::own(next)));
  }
  if (self->lineage.any && lineageIsOn()) {
    std::vector<Value *> inputs;
    inputs.reserve(self->lineage.sources.size());
    for (uint32_t source : self->lineage.sources)
      inputs.push_back(source & CallLineage::kState ? task->before[source & ~CallLineage::kState].raw()
                                                    : task->inputs[source].raw());
    inputs.insert(inputs.end(), task->after.begin(), task->after.end());
    rememberCall(self, inputs, results);
  }
  for (size_t i = 0; i < results.size(); ++i) results[i].raw()->ofGradient = self->lineage.ofGradient[i];
  for (const GradientLink &link : self->gradients) {
    if (!link.isSet) continue;
    Tensor &gradient = link.parameter.rawCell()->gradient;
    gradient = {};
    if (link.output < 0) continue;
    auto *value = fresh(self->graph.types[self->graph.outputs[size_t(link.output)]],
                        {link.parameter.rawCell()->current.raw()->device, false});
    task->outputs.push_back(value);
    gradient = Tensor::own(value);
  }
  if (self->lineage.endsLineage) endLineage();
  for (const SwitchEffect &effect : self->effects)
    if (effect.frozen.defined())
      effect.frozen.setTrainable(effect.value, Source());
    else
      *effect.flag = effect.value;
  flushDevice(self->device, /*wake=*/false);
  for (DeviceId device : self->devices) flushDevice(device, /*wake=*/false);
  flushBefore(task->inputs);
  flushBefore(task->before);
  bool wake = self->ranks || !self->isShort.load(std::memory_order_relaxed);
  if (self->ranks) task->turn = self->ranks->order->next(computeLane(self->device));
  if (self->devices.empty())
    Engine::of(computeLane(self->device)).push(std::move(task), wake);
  else
    pushToAll(self->lanes(), std::move(task), wake);
  Engine::makeRoom();
  return results;
}

} // namespace sprig::frontend
