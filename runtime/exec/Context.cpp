#include "runtime/exec/Context.h"
#include "runtime/exec/RankParts.h"

#include <algorithm>

namespace sprig::rt::core {

Context::Context(std::shared_ptr<const Package> package, std::shared_ptr<Pool> pool, std::shared_ptr<State> state)
    : owner(std::move(package)), pool(std::move(pool)), state(std::move(state)) {}

Status Context::create(std::shared_ptr<const Package> package, std::shared_ptr<Pool> pool, std::shared_ptr<State> state,
                       std::unique_ptr<Context> &context) {
  if (state && &state->package() != package.get())
    return {SPRIG_RT_INVALID_ARGUMENT,
            concat("expected a state of ", package->name(), ", got one of ", state->package().name())};
  if (!pool) SPRIG_RETURN_IF_ERROR(Pool::shared(pool));
  if (!state && !package->program().states.empty()) SPRIG_RETURN_IF_ERROR(State::create(package, state));
  auto fresh = std::make_unique<Context>(package, std::move(pool), std::move(state));
  SPRIG_RETURN_IF_ERROR(fresh->allocateArenas());
  SPRIG_RETURN_IF_ERROR(package->instantiate(*fresh->pool, fresh->executable));
  fresh->bindings.resize(package->program().entries.size());
  fresh->seconds.resize(package->program().entries.size());
  context = std::move(fresh);
  return {};
}

Status Context::allocateArenas() {
  arenas.resize(owner->program().devices.size());
  for (uint32_t i = 0; i < arenas.size(); ++i)
    if (uint64_t bytes = owner->maxArena(i); bytes || i == 0)
      SPRIG_RETURN_IF_ERROR(owner->device(i).allocate(owner->allocator(), bytes, "an arena", arenas[i]));
  return {};
}

Status Context::bindingFor(uint32_t entry, Binding *&binding) {
  if (!bindings[entry]) bindings[entry] = std::make_unique<Binding>(*owner, entry, arenas);
  binding = bindings[entry].get();
  return {};
}

Status Context::check(int32_t entry, Tensors inputs, Tensors outputs, Choice &choice) const {
  SPRIG_RETURN_IF_ERROR(
      chooseEntry(owner->program(), entry, inputs, choice, executable->group ? executable->group->rank() : -1));
  return checkOutputs(owner->program().entries[choice.entry], choice, outputs);
}

namespace {

// Holds a flag or a state for a scope, if it was free.
struct BusyScope {
  explicit BusyScope(std::atomic<bool> &flag) : flag(flag), taken(!flag.exchange(true, std::memory_order_acquire)) {}
  ~BusyScope() {
    if (taken) flag.store(false, std::memory_order_release);
  }
  std::atomic<bool> &flag;
  bool taken;
};

struct StateScope {
  StateScope(State *state, bool writes) : state(state), writes(writes), taken(!state || state->acquire(writes)) {}
  ~StateScope() {
    if (state && taken) state->release(writes);
  }
  State *state;
  bool writes;
  bool taken;
};

Status contextBusy() {
  return {SPRIG_RT_BUSY, "the context is in use by another thread; each running thread needs one of its own"};
}

Status stateBusy(const Entry &entry) {
  return {SPRIG_RT_BUSY, concat("entry '", entry.name, "': the state is in use by another run")};
}

} // namespace

Context::~Context() { settle(); }

Status Context::setGroup(std::shared_ptr<comm::RankGroup> group) {
  BusyScope scope(busy);
  if (!scope.taken) return contextBusy();
  settle();
  // Once, so that calls look nothing up; before anything changes, as there may be no memory.
  std::vector<std::vector<comm::RankGroup *>> parts;
  if (group) parts = partsOf(owner->program(), *group);
  executable->group = std::move(group);
  executable->parts = std::move(parts);
  return {};
}

Status Context::checkGroup(const Entry &entry) const {
  if (entry.ranks < 2) return {};
  auto ofRanks = [&]() -> std::string { return concat("entry '", entry.name, "' is of ", entry.ranks, " ranks"); };
  const comm::RankGroup *group = executable->group.get();
  if (!group)
    return {SPRIG_RT_INVALID_ARGUMENT, concat(ofRanks(), ", and the context of none: sprig_rt_context_set_group")};
  if (uint32_t(group->ranks()) != entry.ranks)
    return {SPRIG_RT_INVALID_ARGUMENT, concat(ofRanks(), ", the context's group of ", group->ranks())};
  if (entry.rank >= 0 && entry.rank != group->rank())
    return {SPRIG_RT_INVALID_ARGUMENT,
            concat(ofRanks(), " and the program of rank ", entry.rank, ", the context is rank ", group->rank())};
  if (executable->meetsRanks()) return {};
  return {SPRIG_RT_UNSUPPORTED,
          concat(ofRanks(), ": collectives are for the processor alone yet, not for ", owner->device(0).name())};
}

// Some call in a stream may not have ended: what comes now is not in one. Its failure is told by waitForStreams.
void Context::settle() {
  if (!inStreams) return;
  Status status = executable->settle();
  if (failedInStreams.isOk()) failedInStreams = std::move(status);
  inStreams = false;
  if (streamsHoldState) state->release(streamsWriteState);
  streamsHoldState = false;
}

void Context::settleStreams() {
  BusyScope scope(busy);
  if (scope.taken) settle();
}

Status Context::waitForStreams() {
  BusyScope scope(busy);
  if (!scope.taken) return contextBusy();
  settle();
  return std::exchange(failedInStreams, {});
}

// Calls in streams follow one another, so they share the state, whatever they do to it.
Status Context::holdStateInStreams(const Entry &entry) {
  if (!entry.usesState || (streamsHoldState && (streamsWriteState || !entry.updatesState))) return {};
  // Those under way go on reading: nobody else may come to write in between.
  bool isHeld = streamsHoldState ? state->becomeWriter() : state->acquire(entry.updatesState);
  if (!isHeld) return stateBusy(entry);
  streamsHoldState = true;
  streamsWriteState = entry.updatesState;
  return {};
}

Status Context::enqueue(int32_t entry, Tensors inputs, Tensors outputs, std::string_view device, void *stream) {
  BusyScope scope(busy);
  if (!scope.taken) return contextBusy();
  return enqueueTaken(entry, inputs, outputs, device, stream);
}

Status Context::enqueueTaken(int32_t entry, Tensors inputs, Tensors outputs, std::string_view device, void *stream) {
  Choice choice;
  SPRIG_RETURN_IF_ERROR(check(entry, inputs, outputs, choice));
  SPRIG_RETURN_IF_ERROR(places.readAll(*owner, choice, device));
  const Entry &chosen = owner->program().entries[choice.entry];
  SPRIG_RETURN_IF_ERROR(checkGroup(chosen));
  const Device *only = owner->onlyDevice(choice.entry);
  if (!only)
    return {SPRIG_RT_UNSUPPORTED, concat("entry '", chosen.name, "' runs on several devices, a stream is of one")};
  SPRIG_RETURN_IF_ERROR(only->checkStream(stream), concat("entry '", chosen.name, "'"));
  Binding *binding = nullptr;
  SPRIG_RETURN_IF_ERROR(bindingFor(choice.entry, binding));
  if (state) SPRIG_RETURN_IF_ERROR(binding->bindState(*state));
  SPRIG_RETURN_IF_ERROR(binding->bindInputs(inputs, {}, places.inputs()));
  SPRIG_RETURN_IF_ERROR(binding->bindOutputs(outputs, inputs, {}, places.outputs()));
  SPRIG_RETURN_IF_ERROR(holdStateInStreams(chosen));
  bool wasInStreams = std::exchange(inStreams, true);
  if (Status status = executable->enqueueInStream(choice.entry, *binding, stream); !status.isOk()) {
    if (!wasInStreams) settle(); // nothing is under way, so nothing holds the state
    return Status(status.code(), concat("entry '", chosen.name, "': ", status.message()));
  }
  info = {};
  info.entry = choice.entry;
  info.runs = 1;
  return {};
}

// The entry of a call whose arrays fit it exactly, with its binding ready.
bool Context::bindUsual(int32_t entry, Tensors inputs, Tensors outputs, uint32_t &chosen) {
  size_t count = bindings.size();
  if (entry != SPRIG_RT_ANY_ENTRY) {
    chosen = uint32_t(entry);
    return chosen < count && bindings[chosen] && bindings[chosen]->bindInPlace(inputs, outputs);
  }
  // The first that takes the inputs is meant: an earlier one without a binding may be it.
  for (chosen = 0; chosen < count && bindings[chosen]; ++chosen)
    if (bindings[chosen]->takes(inputs)) return bindings[chosen]->bindInPlace(inputs, outputs);
  return false;
}

// Inlined, so that looking for a profile costs a call nothing but the look.
template <bool Recorded>
[[gnu::always_inline]] inline Status Context::invokeTaken(int32_t entry, Tensors inputs, Tensors outputs,
                                                          const std::atomic<bool> *cancelled) {
  uint64_t begin = Recorded ? ticks() : 0;
  uint32_t chosen = 0;
  if ((Recorded && given) || !bindUsual(entry, inputs, outputs, chosen))
    return invokeChecked<Recorded>(entry, inputs, outputs, cancelled);
  const Entry &taken = owner->program().entries[chosen];
  if (taken.ranks > 1) SPRIG_RETURN_IF_ERROR(checkGroup(taken));
  StateScope stateScope(taken.usesState ? state.get() : nullptr, taken.updatesState);
  if (!stateScope.taken) return stateBusy(taken);
  if (taken.usesState) SPRIG_RETURN_IF_ERROR(bindings[chosen]->bindState(*state));
  executable->control.arm(cancelled);
  info = {};
  info.entry = chosen;
  if (Recorded) {
    executable->recording()->entry = chosen;
    executable->recording()->add(SPRIG_RT_PROFILE_BIND, begin);
  }
  SPRIG_RETURN_IF_ERROR(executable->run(chosen, *bindings[chosen]), concat("entry '", taken.name, "'"));
  info.runs = 1;
  info.simulatedSeconds = executable->simulatedSeconds();
  return {};
}

Status Context::invoke(int32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled) {
  BusyScope scope(busy);
  if (!scope.taken) return contextBusy();
  if (inStreams) [[unlikely]]
    settle();
  if (target.isRecorded()) [[unlikely]]
    return invokeRecorded(entry, inputs, outputs, cancelled);
  return invokeTaken<false>(entry, inputs, outputs, cancelled);
}

Status Context::invokeOn(int32_t entry, Tensors inputs, Tensors outputs, const GivenPlaces &where) {
  BusyScope scope(busy);
  if (!scope.taken) return contextBusy();
  settle();
  struct Given { // also where there is no memory to go on
    ~Given() { at = nullptr; }
    const GivenPlaces *&at;
  } during{given};
  given = &where;
  if (target.isRecorded()) return invokeRecorded(entry, inputs, outputs, nullptr);
  return invokeChecked<false>(entry, inputs, outputs, nullptr);
}

Status Context::invokeRecorded(int32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled) {
  TargetUse use(target);
  uint64_t submitted = std::exchange(submittedCall, 0);
  if (!use.profile())
    return given ? invokeChecked<false>(entry, inputs, outputs, cancelled)
                 : invokeTaken<false>(entry, inputs, outputs, cancelled);
  Recording recording{use.profile(), submitted ? submitted : use.profile()->newCall(), target.number()};
  uint64_t begin = ticks();
  executable->record(&recording);
  Status status = invokeTaken<true>(entry, inputs, outputs, cancelled);
  executable->record(nullptr);
  recording.add(SPRIG_RT_PROFILE_CALL, begin);
  return status;
}

bool Context::holdState(bool writes) {
  if (!state) return true;
  if (stateUsers == 0) {
    if (!state->acquire(writes)) return false;
    stateWrites = writes;
  } else if (writes && !stateWrites) {
    return false;
  }
  ++stateUsers;
  return true;
}

void Context::letStateGo() {
  if (state && --stateUsers == 0) state->release(stateWrites);
}

void Context::endCall(const Started &call) {
  if (call.usesState) letStateGo();
  if (--underWay == 0) busy.store(false, std::memory_order_release);
}

Status Context::start(uint32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled,
                      Executable::Behind behind, Started &call) {
  if (underWay == 0 && busy.exchange(true, std::memory_order_acquire)) return contextBusy();
  settle();
  ++underWay;
  Status status = startTaken(entry, inputs, outputs, cancelled, behind, call);
  if (!status.isOk()) endCall(call);
  return status;
}

Status Context::startTaken(uint32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled,
                           Executable::Behind behind, Started &call) {
  const Entry &chosen = owner->program().entries[entry];
  SPRIG_RETURN_IF_ERROR(checkGroup(chosen));
  if (chosen.usesState) {
    if (!holdState(chosen.updatesState)) return stateBusy(chosen);
    call.usesState = true;
  }
  // The second copies of arrays are made where a call lies beside another.
  call.turn = behind == Executable::Behind::all ? 0 : 1 - lastTurn;
  call.entry = entry;
  call.outputs = outputs;
  std::unique_ptr<Binding> &binding = (call.turn ? seconds : bindings)[entry];
  if (!binding) binding = std::make_unique<Binding>(*owner, entry, arenas);
  if (state) SPRIG_RETURN_IF_ERROR(binding->bindState(*state));
  SPRIG_RETURN_IF_ERROR(binding->bindInputs(inputs, {}, {}));
  SPRIG_RETURN_IF_ERROR(binding->bindOutputs(outputs, inputs, {}, {}));
  executable->controlOf(call.turn).arm(cancelled);
  SPRIG_RETURN_IF_ERROR(executable->start(call.turn, entry, *binding, behind), concat("entry '", chosen.name, "'"));
  lastTurn = call.turn;
  return {};
}

Status Context::finish(Started &call) {
  Status status = executable->finish(call.turn);
  Binding &binding = *(call.turn ? seconds : bindings)[call.entry];
  info = {};
  info.entry = call.entry;
  if (status.isOk()) {
    binding.finishOutputs(call.outputs, {});
    info.runs = 1;
    info.stagedInputs = binding.stagedInputs();
    info.stagedOutputs = binding.stagedOutputs();
    info.simulatedSeconds = executable->simulatedSeconds();
  }
  call.info = info;
  endCall(call);
  if (status.isOk()) return status;
  return Status(status.code(), concat("entry '", owner->program().entries[call.entry].name, "': ", status.message()));
}

template <bool Recorded>
Status Context::invokeChecked(int32_t entry, Tensors inputs, Tensors outputs, const std::atomic<bool> *cancelled) {
  Choice choice;
  SPRIG_RETURN_IF_ERROR(check(entry, inputs, outputs, choice));
  SPRIG_RETURN_IF_ERROR(places.read(*owner, choice, given));
  const Entry &chosen = owner->program().entries[choice.entry];
  SPRIG_RETURN_IF_ERROR(checkGroup(chosen));
  StateScope stateScope(chosen.usesState ? state.get() : nullptr, chosen.updatesState);
  if (!stateScope.taken) return stateBusy(chosen);
  executable->control.arm(cancelled);
  info = {};
  info.entry = choice.entry;
  return runChoice<Recorded>(choice, inputs, outputs);
}

template <bool Recorded> Status Context::runChoice(const Choice &choice, Tensors inputs, Tensors outputs) {
  if (choice.exact) return runOnce<Recorded>(choice.entry, inputs, outputs, {});
  if (choice.length) return runOnce<Recorded>(choice.entry, inputs, outputs, {.length = choice.length});
  for (int64_t first = 0; first < choice.samples;) {
    int64_t left = choice.samples - first;
    uint32_t entry = entryForSamples(owner->program(), choice.entry, left);
    int64_t size = owner->program().entries[entry].inputs[0].shape[0];
    int64_t rows = std::min(size, left);
    SPRIG_RETURN_IF_ERROR(runOnce<Recorded>(entry, inputs, outputs, {first, rows}));
    info.paddedSamples += uint64_t(size - rows);
    first += rows;
  }
  return {};
}

template <bool Recorded>
Status Context::runOnce(uint32_t entry, Tensors inputs, Tensors outputs, Binding::Extent extent) {
  Recording *recording = Recorded ? executable->recording() : nullptr;
  uint64_t begin = Recorded ? ticks() : 0;
  if (Recorded) recording->entry = entry;
  Binding *binding = nullptr;
  SPRIG_RETURN_IF_ERROR(bindingFor(entry, binding));
  if (state) SPRIG_RETURN_IF_ERROR(binding->bindState(*state));
  SPRIG_RETURN_IF_ERROR(binding->bindInputs(inputs, extent, places.inputs()));
  SPRIG_RETURN_IF_ERROR(binding->bindOutputs(outputs, inputs, extent, places.outputs()));
  if (Recorded) recording->add(SPRIG_RT_PROFILE_BIND, begin);
  SPRIG_RETURN_IF_ERROR(executable->run(entry, *binding), concat("entry '", owner->program().entries[entry].name, "'"));
  begin = Recorded ? ticks() : 0;
  binding->finishOutputs(outputs, extent);
  if (Recorded) recording->add(SPRIG_RT_PROFILE_FINISH, begin);
  info.entry = entry;
  ++info.runs;
  info.stagedInputs = std::max(info.stagedInputs, binding->stagedInputs());
  info.stagedOutputs = std::max(info.stagedOutputs, binding->stagedOutputs());
  info.simulatedSeconds += executable->simulatedSeconds();
  return {};
}

} // namespace sprig::rt::core
