// How children, parameters and buffers come into a module, and what copies and assignments of its handles do.
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Record.h"
#include "lib/Frontend/Standing.h"
#include <algorithm>
#include <utility>

namespace sprig::nn {

using frontend::fail;

namespace {

MemberPlace *memberPlace(const Module &handle) { return static_cast<MemberPlace *>(ModuleAccess::place(handle)); }

/// The registered parameter as the member of `owner` that it becomes where it is returned to.
Parameter memberOf(Module &owner, Module::State::Entry &entry) {
  frontend::tickStructureClock();
  return frontend::PlaceAccess::joined(entry.parameter,
                                       [&](Parameter &handle) { bindMember(handle, entry.slot, &owner); });
}

/// Puts a value where one was reserved, or where there was none.
Parameter fillEntry(Module &owner, Module::State::Entry &entry, const Parameter &parameter, Initializer initializer) {
  entry.initializer = std::move(initializer);
  entry.parameter = parameter;
  for (MemberPlace *place : entry.slot->places)
    if (place->isMember())
      frontend::PlaceAccess::cell(*static_cast<Parameter *>(place->handle)) =
          frontend::PlaceAccess::cell(entry.parameter);
  frontend::Standing &standing = frontend::standingOf(parameter);
  standing.removed = 0;
  standing.module = owner.weakState();
  standing.layer = &typeid(owner);
  return memberOf(owner, entry);
}

} // namespace

Module::Module() : state(std::make_shared<State>()) {}

static thread_local void *joining = nullptr;

Module::Joining::Joining(Module &owner, const std::string &name, const Module &module, bool isLvalue)
    : owner(owner), name(name), module(module), isLvalue(isLvalue),
      outer(static_cast<Joining *>(std::exchange(joining, this))) {}
Module::Joining::~Joining() { joining = outer; }

Module::Module(const Module &other) : state(stateOfCopy(other.state)) {
  StructureLock lock;
  noteCopyOf(other);
  auto *mine = static_cast<Joining *>(joining);
  if (mine && &mine->module == &other) {
    joining = nullptr; // copies of what is below it are none
    bindMember(*this, mine->owner.state->slotOf(Slot::Kind::child, mine->name), &mine->owner);
    if (mine->isLvalue && !other.place) makeHeir(const_cast<Module &>(other), *memberPlace(*this));
  } else if (MemberPlace *its = memberPlace(other)) {
    followMember(*this, *its);
  }
}

Module &Module::operator=(const Module &other) {
  StructureLock lock;
  if (this == &other) return *this;
  bool isMember = place && memberPlace(*this)->isMember();
  if (isMember && other.state != state) replaceChild(*memberPlace(*this)->slot, other, nullptr, this, {});
  noteCopyOf(other);
  if (!isMember && place) memberPlace(*this)->release();
  if (state != other.state) disown(nullptr);
  std::shared_ptr<State> old = std::exchange(state, other.state);
  if (MemberPlace *its = memberPlace(other); its && !isMember) followMember(*this, *its);
  return *this;
}

Module::~Module() {
  StructureLock lock;
  if (place) place->leave();
  disown(lastCopy && lastCopy->state == state ? lastCopy : nullptr);
  if (lastCopy) lastCopy->original = nullptr;
  if (original) original->lastCopy = nullptr;
}

void Module::noteCopyOf(const Module &other) {
  if (original) original->lastCopy = nullptr;
  if (other.lastCopy) other.lastCopy->original = nullptr;
  original = const_cast<Module *>(&other);
  other.lastCopy = this;
  other.copied = nextMoment();
}

/// Before this handle stands for another module or dies. What is left of its members is none any more, but where a copy
/// (`next`) has no member of its own: it has taken them over, the elements of a vector.
void Module::disown(const Module *next) {
  auto pass = [&](Slot &slot) {
    bool isTaken = !next || std::any_of(slot.places.begin(), slot.places.end(),
                                        [&](const MemberPlace *each) { return each->owner == next; });
    for (MemberPlace *each : slot.places)
      if (each->owner == this) each->owner = isTaken ? nullptr : const_cast<Module *>(next);
  };
  for (auto *entries : {&state->parameters, &state->buffers})
    for (State::Entry &entry : *entries) pass(*entry.slot);
  for (State::Child &child : state->children) pass(*child.slot);
}

void Module::setElement(const ModuleClass *type) { state->element = type; }

void Module::attach(const std::string &name, std::shared_ptr<Module> child, const ModuleClass *type, Source at) const {
  StructureLock lock;
  state->checkName(name, "add", *this, at);
  if (state->entryNamed(name))
    fail(at, "Module::add", "'" + name + "' of a " + typeName() + " is reserved for a parameter");
  if (child->state->contains(state.get()))
    fail(at, "Module::add", "'" + name + "' has the " + typeName() + " that it is added to below it");
  if (state->element && !state->element->is(*child))
    fail(at, "Module::add",
         "'" + name + "' is a " + child->typeName() + ", which this " + typeName() + " does not hold");
  child->state->setPath(State::join(path(), name));
  child->state->parents.push_back(state.get());
  auto slot = state->makeSlot(Slot::Kind::child, name);
  bindMember(*child, slot, nullptr);
  markAdded(*child->state);
  state->children.push_back({name, std::move(child), type, std::move(slot)});
}

Parameter Module::addParameter(const std::string &name, const Tensor &initial, Source at) {
  StructureLock lock;
  frontend::requireDefined(initial, "Module::addParameter", "the value", at);
  State::Entry &entry = state->newEntry(name, "addParameter", *this, at);
  Tensor value = initial.detach(at);
  Parameter parameter(value, /*trainable=*/true, at);
  parameter.setName(State::join(path(), name));
  return fillEntry(*this, entry, parameter, [value](const TensorType &) { return value; });
}

Parameter Module::addParameter(const std::string &name, const Shape &shape, Initializer initializer, Source at) {
  StructureLock lock;
  for (int64_t size : shape)
    if (size < 0)
      fail(at, "Module::addParameter", "'" + name + "' of a " + typeName() + " has the shape " + describe(shape));
  Parameter parameter(initializer({defaultDType(), shape}), /*trainable=*/true, at);
  parameter.setName(State::join(path(), name));
  State::Entry &entry = state->newEntry(name, "addParameter", *this, at);
  return fillEntry(*this, entry, parameter, std::move(initializer));
}

Parameter Module::addParameter(const std::string &name, const Parameter &shared, Source at) {
  StructureLock lock;
  if (!shared.defined()) fail(at, "Module::addParameter", "'" + name + "' shares a parameter that is not defined");
  return fillEntry(*this, state->newEntry(name, "addParameter", *this, at), shared, nullptr);
}

Parameter Module::reserveParameter(const std::string &name, Source at) {
  StructureLock lock;
  return memberOf(*this, state->newEntry(name, "reserveParameter", *this, at));
}

Parameter Module::addBuffer(const std::string &name, const Tensor &initial, bool persistent, Source at) {
  StructureLock lock;
  state->checkName(name, "addBuffer", *this, at);
  frontend::requireDefined(initial, "Module::addBuffer", "the value", at);
  Tensor value = initial.detach(at);
  Parameter buffer(value, /*trainable=*/false, at);
  buffer.setName(State::join(path(), name));
  if (state->entryNamed(name))
    fail(at, "Module::addBuffer", "'" + name + "' of a " + typeName() + " is reserved for a parameter");
  state->buffers.push_back({name, {}, nullptr, persistent, state->makeSlot(Slot::Kind::buffer, name)});
  return fillEntry(*this, state->buffers.back(), buffer, [value](const TensorType &) { return value; });
}

} // namespace sprig::nn
