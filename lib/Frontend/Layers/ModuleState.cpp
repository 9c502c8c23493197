// The tables of a module: names, slots, paths.
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Record.h"
#include <algorithm>

namespace sprig::nn {

using frontend::fail;

Module::State::State(const State &other)
    : parameters(other.parameters), buffers(other.buffers), children(other.children), path(other.path),
      training(other.training), norm(other.norm), hooks(other.hooks), element(other.element) {
  for (Entry &entry : parameters) entry.slot = makeSlot(Slot::Kind::parameter, entry.name);
  for (Entry &entry : buffers) entry.slot = makeSlot(Slot::Kind::buffer, entry.name);
  for (Child &child : children) child.slot = makeSlot(Slot::Kind::child, child.name);
}

Module::State::~State() {
  StructureLock lock;
  for (auto *entries : {&parameters, &buffers})
    for (Entry &entry : *entries) entry.slot->parent = nullptr;
  for (Child &child : children) {
    child.slot->parent = nullptr;
    auto &its = child.module->rawState().parents;
    if (auto it = std::find(its.begin(), its.end(), this); it != its.end()) its.erase(it);
  }
}

std::vector<std::string> Module::State::unregisteredNow() const {
  std::vector<std::string> result;
  for (auto &[layer, text] : unregistered)
    if (std::shared_ptr<const State> there = layer.lock(); there && there->parents.empty()) result.push_back(text);
  return result;
}

void Module::State::checkName(const std::string &name, const char *what, const Module &owner, Source at) const {
  std::string op = std::string("Module::") + what;
  auto refuse = [&](const std::string &text) { fail(at, op, "'" + name + "' of a " + owner.typeName() + " " + text); };
  if (name.empty()) fail(at, op, "the name is empty");
  if (name.find('\0') != std::string::npos) refuse("has a NUL, at which readers of files end a name");
  if (name.find('.') != std::string::npos) refuse("has a dot, which separates the names of a path");
  for (const Child &child : children)
    if (child.name == name)
      refuse("is there already, a " + child.module->typeName() + "; replace() puts another one in its place");
  for (const Entry &entry : parameters)
    if (entry.name == name && entry.parameter.defined())
      refuse("is there already, a parameter of " + describe(entry.parameter.type()));
  for (const Entry &entry : buffers)
    if (entry.name == name) refuse("is there already, a buffer of " + describe(entry.parameter.type()));
}

void Module::State::setPath(const std::string &newPath) {
  path = &frontend::intern(newPath);
  for (auto *entries : {&parameters, &buffers})
    for (Entry &entry : *entries)
      if (entry.parameter.defined()) entry.parameter.setName(join(newPath, entry.name));
  for (Child &child : children) child.module->rawState().setPath(join(newPath, child.name));
}

bool Module::State::contains(const State *other) const {
  if (this == other) return true;
  for (const Child &child : children)
    if (child.module->rawState().contains(other)) return true;
  return false;
}

std::shared_ptr<Slot> Module::State::slotOf(Slot::Kind kind, const std::string &name) const {
  if (kind == Slot::Kind::child) {
    for (const Child &child : children)
      if (child.name == name) return child.slot;
    return nullptr;
  }
  for (const Entry &entry : kind == Slot::Kind::parameter ? parameters : buffers)
    if (entry.name == name) return entry.slot;
  return nullptr;
}

Module::State::Child *Module::State::childOf(const Slot &slot) {
  for (Child &child : children)
    if (child.slot.get() == &slot) return &child;
  return nullptr;
}

Module::State::Entry *Module::State::entryOf(const Slot &slot) {
  for (auto *entries : {&parameters, &buffers})
    for (Entry &entry : *entries)
      if (entry.slot.get() == &slot) return &entry;
  return nullptr;
}

Module::State::Entry *Module::State::entryNamed(const std::string &name) {
  for (auto *entries : {&parameters, &buffers})
    for (Entry &entry : *entries)
      if (entry.name == name) return &entry;
  return nullptr;
}

Module::State::Entry &Module::State::newEntry(const std::string &name, const char *what, const Module &owner,
                                              Source at) {
  checkName(name, what, owner, at);
  if (Entry *reserved = entryNamed(name)) return *reserved;
  parameters.push_back({name, {}, nullptr, true, makeSlot(Slot::Kind::parameter, name)});
  return parameters.back();
}

} // namespace sprig::nn
