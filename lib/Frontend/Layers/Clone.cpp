// nn::clone: the copy constructors of a module's classes run while copies of handles stand for new state.
// So a user's class needs nothing for it: its members are handles, and a handle that is copied while a CloneScope lives
// stands for the copy of what the old one stood for.
#include "lib/Frontend/Base/CloneHook.h"
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Standing.h"
#include <map>

namespace sprig::nn {

namespace {

struct Copies {
  std::map<Parameter::Cell *, Parameter> parameters;
  std::map<const void *, std::shared_ptr<Module::State>> states;
};
thread_local Copies *copies = nullptr;
thread_local int depth = 0;

const Parameter &copyOf(const Parameter &original) {
  auto [row, isNew] = copies->parameters.try_emplace(original.rawCell());
  if (isNew) {
    row->second = Parameter(original.value().detach(Source()), original.trainable(), Source());
    row->second.setName(original.name());
    frontend::Standing &standing = frontend::standingOf(row->second), &its = frontend::standingOf(original);
    standing.layer = its.layer;
    standing.made = its.made;
  }
  return row->second;
}

std::shared_ptr<Module::State> copyOf(const std::shared_ptr<Module::State> &original) {
  auto [row, isNew] = copies->states.try_emplace(original.get());
  if (!isNew) return row->second;
  auto copy = row->second = std::make_shared<Module::State>(*original);
  copy->training = std::make_shared<bool>(*original->training);
  for (Module::State::Entry &entry : copy->parameters)
    if (entry.parameter.defined()) frontend::standingOf(entry.parameter).module = copy;
  for (auto &child : copy->children) {
    child.module = child.type->copy(*child.module);
    child.module->rawState().parents.push_back(copy.get());
    bindMember(*child.module, child.slot, nullptr);
  }
  return copy;
}

} // namespace

CloneScope::CloneScope() {
  if (depth++) return;
  copies = new Copies;
  frontend::setCloneHook(copyOf);
}

CloneScope::~CloneScope() {
  if (--depth) return;
  frontend::setCloneHook(nullptr);
  delete std::exchange(copies, nullptr);
}

std::shared_ptr<Module::State> stateOfCopy(const std::shared_ptr<Module::State> &original) {
  return copies ? copyOf(original) : original;
}

} // namespace sprig::nn
