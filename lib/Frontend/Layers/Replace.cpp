// Putting other children and parameters in the place of those that a module has.
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Record.h"
#include "lib/Frontend/Standing.h"
#include <algorithm>
#include <set>

namespace sprig::nn {

using frontend::fail;

namespace {

constexpr const char *kWhat = "Module::replace";

/// The slot whose child is being replaced: assignments to its handles are the replacement itself.
thread_local const Slot *replacing = nullptr;
struct Replacing {
  explicit Replacing(const Slot &slot) : outer(std::exchange(replacing, &slot)) {}
  ~Replacing() { replacing = outer; }
  const Slot *outer;
};

using Cells = std::set<Parameter::Cell *>;

void addParameters(const Module::State &state, std::vector<Parameter> &result) {
  for (bool buffers : {false, true})
    for (auto &[name, parameter] : parametersOf(state, buffers)) result.push_back(parameter);
}

void addRoots(Module::State &state, std::set<Module::State *> &seen, std::vector<Parameter> &result) {
  if (!seen.insert(&state).second) return;
  if (state.parents.empty()) addParameters(state, result);
  for (Module::State *parent : state.parents) addRoots(*parent, seen, result);
}

/// "'head' was replaced at train.cpp:12"
std::string replacedText(const std::string &path, const char *what, Source at) {
  std::string place = frontend::placeText(at);
  if (place.ends_with(": ")) place.resize(place.size() - 2);
  return "'" + path + "' was " + what + (place.empty() ? "" : " at " + place);
}

} // namespace

void markRemoved(Module::State &parent, const std::vector<Parameter> &parameters, const std::string &how) {
  std::vector<Parameter> kept;
  std::set<Module::State *> seen;
  addRoots(parent, seen, kept);
  Cells here;
  for (const Parameter &parameter : kept) here.insert(parameter.rawCell());
  uint64_t now = frontend::tickStructureClock();
  for (const Parameter &parameter : parameters) {
    frontend::Standing &standing = frontend::standingOf(parameter);
    if (here.count(parameter.rawCell())) continue;
    standing.removed = now;
    standing.how = how;
  }
}

void markAdded(const Module::State &state) {
  std::vector<Parameter> all;
  addParameters(state, all);
  frontend::tickStructureClock();
  for (const Parameter &parameter : all) frontend::standingOf(parameter).removed = 0;
}

void replaceChild(Slot &slot, const Module &next, const ModuleClass *type, Module *assigned, Source at) {
  if (replacing == &slot) return;
  frontend::requireNotRecording("replacing a layer", at);
  Module::State &parent = *slot.parent;
  Module::State::Child &child = *parent.childOf(slot);
  const Module &present = *child.module;
  if (present.same(next)) return;
  std::string path = Module::State::join(parent.path ? *parent.path : "", slot.name);
  auto refuse = [&](const std::string &text) { fail(at, kWhat, "'" + path + "' " + text); };
  if (next.rawState().contains(&parent)) refuse("would have the module that it is a child of below it");
  if (parent.element && !parent.element->is(next))
    refuse("is a child of a list of another class, which cannot hold a " + next.typeName());
  bool isSameClass = typeid(next) == typeid(present) && child.type->assign;
  for (const MemberPlace *place : slot.places) {
    auto &handle = *static_cast<Module *>(place->handle);
    if (!place->isMember() || (place->stored && !assigned)) continue;
    if (typeid(handle) != typeid(next) || !child.type->assign)
      refuse("is a member of class " + handle.typeName() + ", which cannot hold a " + next.typeName());
  }

  dropHeirs(slot);
  std::vector<Parameter> removed;
  std::shared_ptr<Module::State> keep = child.module->weakState().lock();
  Module::State &oldState = *keep;
  addParameters(oldState, removed);
  oldState.parents.erase(std::find(oldState.parents.begin(), oldState.parents.end(), &parent));
  std::vector<Module *> handles;
  for (const MemberPlace *place : slot.places)
    if (place->handle != assigned && place->isMember() && (isSameClass || !place->stored))
      handles.push_back(static_cast<Module *>(place->handle));
  {
    Replacing guard(slot);
    if (!isSameClass) {
      child.module = type->copy(next);
      child.type = type;
      bindMember(*child.module, child.slot, nullptr);
    }
    for (Module *handle : handles) child.type->assign(*handle, next);
  }
  next.rawState().parents.push_back(&parent);
  next.rawState().setPath(path);
  frontend::noteReplacement();
  markAdded(next.rawState());
  bool isElsewhere = !oldState.parents.empty();
  // What is in another network as well is of that one now.
  markRemoved(isElsewhere ? oldState : parent, removed, replacedText(path, "replaced", at));
}

void replaceParameter(Slot &slot, const Parameter &next, Source at) {
  Module::State &parent = *slot.parent;
  Module::State::Entry &entry = *parent.entryOf(slot);
  if (entry.parameter.same(next)) return;
  frontend::requireNotRecording("replacing a parameter", at);
  std::string path = Module::State::join(parent.path ? *parent.path : "", slot.name);
  if (slot.kind == Slot::Kind::buffer && (!next.defined() || next.trainable()))
    fail(at, kWhat,
         "'" + path + "' is a buffer, it cannot be " +
             (next.defined() ? "a trainable parameter; Parameter(value, false) is none" : "left out"));
  if (parent.norm && next.defined() && slot.name == "weight")
    fail(at, kWhat, "'" + path + "' is computed by a norm, which has parameters of its own");
  Parameter old = entry.parameter;
  dropHeirs(slot);
  auto cell = frontend::PlaceAccess::cell(const_cast<Parameter &>(next));
  frontend::PlaceAccess::cell(entry.parameter) = cell;
  for (MemberPlace *place : slot.places)
    if (place->isMember()) frontend::PlaceAccess::cell(*static_cast<Parameter *>(place->handle)) = cell;
  entry.initializer = nullptr;
  if (next.defined()) {
    // One without a name is of no module: it is this one's, which resets it to what it is now.
    if (next.name().empty()) {
      Tensor value = next.value().detach(at);
      entry.initializer = [value](const TensorType &) { return value; };
      entry.parameter.setName(path);
    }
    frontend::Standing &standing = frontend::standingOf(entry.parameter);
    standing.removed = 0;
    standing.module = parent.weak_from_this();
    if (old.defined()) standing.layer = frontend::standingOf(old).layer;
  }
  frontend::noteReplacement();
  if (old.defined())
    markRemoved(parent, {old}, replacedText(path, next.defined() ? "replaced" : "left out", at));
  else
    frontend::tickStructureClock();
}

void Module::replaceAt(const std::string &path, const Module &module, const ModuleClass *type, Source at) {
  StructureLock lock;
  size_t dot = path.rfind('.');
  Module *parent = dot == std::string::npos ? this : find(path.substr(0, dot));
  std::string name = path.substr(dot == std::string::npos ? 0 : dot + 1);
  auto slot = parent ? parent->state->slotOf(Slot::Kind::child, name) : nullptr;
  if (!slot) fail(at, kWhat, "there is no module '" + path + "' in the " + typeName() + "; add() registers new ones");
  replaceChild(*slot, module, type, nullptr, at);
}

void Module::tie(const std::string &path, const Parameter &shared, Source at) {
  StructureLock lock;
  size_t dot = path.rfind('.');
  Module *owner = dot == std::string::npos ? this : find(path.substr(0, dot));
  State::Entry *entry = owner ? owner->state->entryNamed(path.substr(dot == std::string::npos ? 0 : dot + 1)) : nullptr;
  if (!entry) fail(at, "Module::tie", "there is no parameter '" + path + "' in the " + typeName());
  if (!shared.defined()) fail(at, "Module::tie", "'" + path + "' is given a parameter that is not defined");
  if (entry->parameter.defined() && !(entry->parameter.type() == shared.type()))
    fail(at, "Module::tie",
         "'" + path + "' is " + describe(entry->parameter.type()) + ", '" + shared.name() + "' is " +
             describe(shared.type()));
  replaceParameter(*entry->slot, shared, at);
}

} // namespace sprig::nn
