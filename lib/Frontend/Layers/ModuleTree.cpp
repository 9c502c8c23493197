// Walks over a module and what is below it: parameters, buffers, modules, mode.
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Record.h"
#include <set>

namespace sprig::nn {

namespace {

using Named = std::vector<std::pair<std::string, Parameter>>;

void collect(const Module::State &state, const std::string &path, bool buffers, std::set<Parameter::Cell *> &seen,
             Named &result) {
  for (auto &entry : buffers ? state.buffers : state.parameters)
    if (entry.parameter.defined() && seen.insert(entry.parameter.rawCell()).second)
      result.emplace_back(Module::State::join(path, entry.name), entry.parameter);
  for (auto &child : state.children)
    collect(child.module->rawState(), Module::State::join(path, child.name), buffers, seen, result);
}

std::vector<Parameter> withoutNames(const Named &named) {
  std::vector<Parameter> result;
  result.reserve(named.size());
  for (auto &[name, parameter] : named) result.push_back(parameter);
  return result;
}

void collectModules(Module &module, const std::string &path, std::set<Module::State *> &seen,
                    std::vector<std::pair<std::string, Module *>> &result) {
  if (!seen.insert(&module.rawState()).second) return;
  result.emplace_back(path, &module);
  for (auto &child : module.rawState().children)
    collectModules(*child.module, Module::State::join(path, child.name), seen, result);
}

void applyTo(Module &module, const std::function<void(Module &)> &f, std::set<Module::State *> &seen) {
  if (!seen.insert(&module.rawState()).second) return;
  for (auto &child : module.rawState().children) applyTo(*child.module, f, seen);
  f(module);
}

/// Calls f with the state of this module and of all below it, parents first, each once.
template <typename F> void walk(const Module &module, std::set<Module::State *> &seen, F f) {
  if (!seen.insert(&module.rawState()).second) return;
  f(module.rawState());
  for (auto &child : module.rawState().children) walk(*child.module, seen, f);
}

} // namespace

Named parametersOf(const Module::State &state, bool buffers) {
  std::set<Parameter::Cell *> seen;
  Named result;
  collect(state, "", buffers, seen, result);
  return result;
}

std::vector<std::pair<std::string, Parameter>> Module::namedParameters() const { return parametersOf(*state); }
std::vector<std::pair<std::string, Parameter>> Module::namedBuffers() const { return parametersOf(*state, true); }
std::vector<Parameter> Module::parameters() const { return withoutNames(namedParameters()); }
std::vector<Parameter> Module::buffers() const { return withoutNames(namedBuffers()); }

std::vector<std::pair<std::string, Module *>> Module::namedModules() {
  std::set<State *> seen;
  std::vector<std::pair<std::string, Module *>> result;
  collectModules(*this, "", seen, result);
  return result;
}

std::vector<Module *> Module::modules() {
  std::vector<Module *> result;
  for (auto &[name, module] : namedModules()) result.push_back(module);
  return result;
}

std::vector<std::pair<std::string, Module *>> Module::namedChildren() const {
  std::vector<std::pair<std::string, Module *>> result;
  for (auto &child : state->children) result.emplace_back(child.name, child.module.get());
  return result;
}

Module *Module::find(const std::string &path) {
  Module *module = this;
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find('.', begin), path.size());
    std::string name = path.substr(begin, end - begin);
    Module *next = nullptr;
    for (auto &child : module->state->children)
      if (child.name == name) next = child.module.get();
    if (!next) return nullptr;
    module = next;
    begin = end + 1;
  }
  return module;
}

void Module::refuseGet(const std::string &path, Module *found, Source at) {
  frontend::fail(at, "Module::get", "'" + path + "' is " + (found ? "a " + found->typeName() : "not there"));
}

void Module::apply(const std::function<void(Module &)> &f) {
  std::set<State *> seen;
  applyTo(*this, f, seen);
}

int64_t Module::numParameters() const {
  int64_t count = 0;
  for (auto &[name, parameter] : namedParameters()) count += parameter.numel();
  return count;
}

void Module::train(bool on) const {
  std::set<State *> seen;
  walk(*this, seen, [on](State &each) { frontend::setSwitch(each.training, on); });
}

bool Module::isTraining() const {
  if (frontend::isRecording())
    frontend::observe(frontend::kTrainingMode, state->training,
                      path().empty() ? "a " + typeName() : "layer '" + path() + "'");
  return *state->training;
}

void Module::requiresGrad(bool on, Source at) const {
  for (auto &[name, parameter] : namedParameters()) parameter.setTrainable(on, at);
}

void Module::to(const Device &device, bool nonBlocking, Source at) const {
  std::vector<std::pair<std::string, Parameter>> all = namedParameters(), more = namedBuffers();
  all.insert(all.end(), more.begin(), more.end());
  for (auto &[name, parameter] : all) frontend::moveParameter(parameter, device, at);
  if (nonBlocking) return;
  for (auto &[name, parameter] : all) parameter.value().wait(at);
}

void Module::zeroGrad(Source at) const {
  for (auto &[name, parameter] : namedParameters()) parameter.zeroGrad(at);
}

void Module::resetParameters(Source at) const {
  std::set<State *> seen;
  std::set<Parameter::Cell *> known;
  walk(*this, seen, [&](State &each) {
    for (auto *entries : {&each.parameters, &each.buffers})
      for (State::Entry &entry : *entries)
        if (entry.initializer) known.insert(entry.parameter.rawCell());
  });
  for (bool buffers : {false, true})
    for (auto &[name, parameter] : parametersOf(*state, buffers))
      if (!known.count(parameter.rawCell()))
        frontend::fail(at, "Module::resetParameters",
                       "'" + name + "' is shared with a module that is not below this " + typeName() +
                           ", which alone knows its initial values; reset a module that has both");
  seen.clear();
  walk(*this, seen, [at](State &each) {
    for (auto *entries : {&each.parameters, &each.buffers})
      for (State::Entry &entry : *entries)
        if (entry.initializer && entry.parameter.defined())
          entry.parameter.set(entry.initializer(entry.parameter.type()), at);
  });
}

} // namespace sprig::nn
