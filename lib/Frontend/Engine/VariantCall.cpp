// Calls of a compiled function: what waits in the queue until it runs, one or several as one program.
#include "lib/Frontend/Engine/Consumed.h"
#include "lib/Frontend/Engine/MeetingTask.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/RankScope.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Variant.h"
#include <algorithm>
#include <chrono>

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
  int64_t times = 1;            // calls that go together: of each inputs and outputs
  RankBuckets buckets;          // of the code, where it is compiled now
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
    Variant::Code &code = variant->codeOf(times);
    if (!failure && !code.plan && !code.failure) compile(code);
    if (!failure) failure = code.failure;
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
      code.plan->run(in, out, states, versionOfRead());
      if (isTimed && times == 1)
        variant->isShort.store(std::chrono::steady_clock::now() - start < kShort, std::memory_order_relaxed);
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

  /// A single call by the code of calls that go together, but where more of it could be prepared ahead.
  bool takeOfTogether(Variant::Code &code) const {
    auto isMatrix = [&](const StateSlot &slot) { return variant->graph.types[slot.input].shape.rank() > 1; };
    if (times > 1 || std::any_of(variant->slots.begin(), variant->slots.end(),
                                 [&](const StateSlot &slot) { return slot.output < 0 && isMatrix(slot); }))
      return false;
    for (auto &[several, other] : variant->together)
      if (other.plan) {
        code.plan = other.plan->once(variant->device);
        return true;
      }
    return false;
  }

  void compile(Variant::Code &code) {
    try {
      if (takeOfTogether(code)) return;
      ProfileSpan span("compilation", [&] { return variant->name; });
      CompileOptions options = segmentOptions();
      options.prepare = true;
      options.factors = variant->factors;
      options.lanes = variant->programLanes;
      for (DeviceId device : variant->devices) options.devices.push_back(deviceOf(device).name());
      std::vector<DeviceId> devices = variant->devices;
      if (devices.empty()) devices = {variant->device};
      code.plan = compilePlan(variant->graph, variant->slots, options, variant->name, std::move(devices),
                              variant->planRanks(buckets), times);
    } catch (const Error &error) {
      code.failure = std::make_shared<Error>(error);
    } catch (const std::exception &error) {
      code.failure = std::make_shared<Error>(ErrorKind::internal, error.what());
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

/// Makes the task of a call, or of several that go together, and what the caller gets of it.
class CallMaker {
public:
  CallMaker(const std::shared_ptr<Variant> &callee, int64_t times, const RankBuckets &buckets)
      : callee(callee), task(new CallTask) {
    checkDevices();
    task->variant = callee;
    task->times = times;
    task->buckets = buckets;
    task->inputs.reserve(callee->feeds.size() * size_t(times));
    task->outputs.reserve(callee->results.size() * size_t(times));
    results.reserve(callee->results.size() * size_t(times));
  }

  /// Of one call.
  void add(std::span<const Tensor> arguments);
  /// Parameters that the function sets have their next values from here on.
  void addStates();
  void addGradients();
  void remember() const;
  void push();

  std::vector<Tensor> results;

private:
  void checkDevices() const;
  Value *fresh(const TensorType &type, Variant::Where where) const {
    auto *value = new Value(type, Value::State::queued, 1);
    value->device = where.device;
    value->unplaced = where.unplaced;
    value->lane = computeLane(callee->device);
    return value;
  }

  const std::shared_ptr<Variant> &callee;
  std::unique_ptr<CallTask> task;
};

void CallMaker::checkDevices() const {
  auto check = [&](DeviceId id) {
    if (isOfOtherRank(computeLane(id))) [[unlikely]]
      frontend::fail(callee->source, callee->name,
                     "has values on " + deviceOf(id).name() + ", the device of another rank; this rank's is " +
                         defaultDevice().name());
  };
  if (callee->devices.empty()) check(callee->device);
  for (DeviceId id : callee->devices) check(id);
}

void CallMaker::add(std::span<const Tensor> arguments) {
  callee->feed(arguments, task->inputs);
  for (size_t i = 0; i < callee->results.size(); ++i) {
    task->outputs.push_back(fresh(callee->results[i], callee->resultPlaces[i]));
    task->outputs.back()->ofGradient = callee->lineage.ofGradient[i];
    results.push_back(Tensor::own(task->outputs.back()));
  }
}

void CallMaker::addStates() {
  task->before.reserve(callee->parameters.size());
  task->after.reserve(callee->parameters.size());
  for (size_t i = 0; i < callee->parameters.size(); ++i) {
    Parameter::Cell *cell = callee->parameters[i].rawCell();
    if (callee->slots[i].output < 0) {
      task->before.push_back(cell->current);
      task->after.push_back(nullptr);
      continue;
    }
    auto *next = fresh(cell->current.type(), {cell->current.raw()->device, false});
    next->owner = cell;
    next->version = cell->number;
    next->tracked = next->root = cell->trainable;
    task->after.push_back(next);
    cell->current.raw()->owner = nullptr;
    task->before.push_back(std::exchange(cell->current, Tensor::own(next)));
  }
}

void CallMaker::remember() const {
  if (!callee->lineage.any || !lineageIsOn()) return;
  std::vector<Value *> inputs;
  inputs.reserve(callee->lineage.sources.size());
  for (uint32_t source : callee->lineage.sources)
    inputs.push_back(source & CallLineage::kState ? task->before[source & ~CallLineage::kState].raw()
                                                  : task->inputs[source].raw());
  inputs.insert(inputs.end(), task->after.begin(), task->after.end());
  rememberCall(callee, inputs, results);
}

void CallMaker::addGradients() {
  for (const Variant::GradientLink &link : callee->gradients) {
    if (!link.isSet) continue;
    Tensor &gradient = link.parameter.rawCell()->gradient;
    gradient = {};
    if (link.output < 0) continue;
    auto *value = fresh(callee->graph.types[callee->graph.outputs[size_t(link.output)]],
                        {link.parameter.rawCell()->current.raw()->device, false});
    task->outputs.push_back(value);
    gradient = Tensor::own(value);
  }
}

void CallMaker::push() {
  callee->applyEffects();
  flushDevice(callee->device, /*wake=*/false);
  for (DeviceId device : callee->devices) flushDevice(device, /*wake=*/false);
  flushBefore(task->inputs);
  flushBefore(task->before);
  bool wake = callee->ranks || !callee->isShort.load(std::memory_order_relaxed);
  if (callee->ranks) task->turn = callee->ranks->order->next(computeLane(callee->device));
  if (callee->devices.empty())
    Engine::of(computeLane(callee->device)).push(std::move(task), wake);
  else
    pushToAll(callee->lanes(), std::move(task), wake);
  Engine::makeRoom();
}

} // namespace

void Variant::feed(std::span<const Tensor> arguments, std::vector<Tensor> &inputs) const {
  RandomPosition random{};
  if (randomDraws) random = takeRandom(randomDraws);
  for (const Feed &each : feeds) switch (each.kind) {
    case Feed::Kind::argument: inputs.push_back(arguments[each.index]); break;
    case Feed::Kind::captured: inputs.push_back(each.value); break;
    case Feed::Kind::gradient: inputs.push_back(gradients[each.index].parameter.rawCell()->gradient); break;
    case Feed::Kind::randomKey: inputs.push_back(Tensor(int64_t(random.key))); break;
    case Feed::Kind::randomBase: inputs.push_back(Tensor(int64_t(random.counter))); break;
    }
}

void Variant::applyEffects() const {
  if (lineage.endsLineage) endLineage();
  for (const SwitchEffect &effect : effects)
    if (effect.frozen.defined())
      effect.frozen.setTrainable(effect.value, Source());
    else
      *effect.flag = effect.value;
}

std::vector<Tensor> Variant::call(const std::shared_ptr<Variant> &self, std::span<const Tensor> arguments,
                                  const RankBuckets &buckets) {
  checkUse(*self, arguments);
  CallMaker maker(self, 1, buckets);
  maker.add(arguments);
  maker.addStates();
  maker.remember();
  maker.addGradients();
  maker.push();
  return std::move(maker.results);
}

std::vector<Tensor> Variant::callTogether(const std::shared_ptr<Variant> &self, std::span<const Tensor> arguments,
                                          int64_t times, const RankBuckets &buckets) {
  auto refuse = [&](const std::string &why) {
    frontend::fail(self->source, self->name, std::to_string(times) + " calls cannot be one program: " + why);
  };
  if (times > kMostRepetitions) refuse("expected at most " + std::to_string(kMostRepetitions));
  if (!self->devices.empty())
    refuse("the function's values are on " + std::to_string(self->devices.size()) + " devices");
  if (!self->gradients.empty())
    refuse("the function uses the gradient of parameter '" + self->gradients[0].parameter.name() +
           "'; take gradients by grad()");
  checkUse(*self, arguments.first(self->inputs.size()));
  CallMaker maker(self, times, buckets);
  for (int64_t call = 0; call < times; ++call)
    maker.add(arguments.subspan(size_t(call) * self->inputs.size(), self->inputs.size()));
  maker.addStates();
  maker.push();
  return std::move(maker.results);
}

} // namespace sprig::frontend
