// Walks over a module and what is below it: parameters, buffers, modules, mode.
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Record.h"
#include <map>
#include <set>

namespace sprig::nn {

namespace {

using NamedParameters = std::vector<std::pair<std::string, Parameter>>;

void collect(const Module::State &state, const std::string &path, bool buffers, std::set<Parameter::Cell *> &seen,
             NamedParameters &result) {
  for (auto &entry : buffers ? state.buffers : state.parameters)
    if (entry.parameter.defined() && seen.insert(entry.parameter.rawCell()).second)
      result.emplace_back(Module::State::join(path, entry.name), entry.parameter);
  for (auto &child : state.children)
    collect(child.module->rawState(), Module::State::join(path, child.name), buffers, seen, result);
}

std::vector<Parameter> withoutNames(const NamedParameters &named) {
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

NamedParameters parametersOf(const Module::State &state, bool buffers) {
  std::set<Parameter::Cell *> seen;
  NamedParameters result;
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

/// Throws for `what` where a parameter below is shared with a module that is not, and made it.
static void requireWhole(const Module &module, const char *what, const std::string &why, Source at) {
  std::set<Module::State *> seen;
  std::set<Parameter::Cell *> known;
  walk(module, seen, [&](Module::State &each) {
    for (auto *entries : {&each.parameters, &each.buffers})
      for (Module::State::Entry &entry : *entries)
        if (entry.initializer) known.insert(entry.parameter.rawCell());
  });
  for (bool buffers : {false, true})
    for (auto &[name, parameter] : parametersOf(module.rawState(), buffers))
      if (!known.count(parameter.rawCell()))
        frontend::fail(at, what,
                       "'" + name + "' is shared with a module that is not below this " + module.typeName() + ", " +
                           why);
}

void Module::resetParameters(Source at) const {
  requireWhole(*this, "Module::resetParameters", "which alone knows its initial values; reset a module that has both",
               at);
  std::set<State *> seen;
  walk(*this, seen, [at](State &each) {
    for (auto *entries : {&each.parameters, &each.buffers})
      for (State::Entry &entry : *entries)
        if (entry.initializer && entry.parameter.defined())
          entry.parameter.set(entry.initializer(entry.parameter.type()), at);
  });
}

void Module::to(DType type, Source at) const {
  StructureLock lock;
  frontend::requireNotRecording("Module::to", at);
  if (!isFloat(type))
    frontend::fail(at, "Module::to", std::string("parameters are floats, asked for is ") + name(type));
  requireWhole(*this, "Module::to", "which would keep it as it is; convert a module that has both", at);
  std::map<Parameter::Cell *, Parameter> converted; // of tied ones one
  std::vector<Parameter> kept;                      // the old ones, while their addresses are keys
  std::set<State *> seen;
  walk(*this, seen, [&](State &each) {
    for (auto *entries : {&each.parameters, &each.buffers})
      for (State::Entry &entry : *entries) {
        if (!entry.parameter.defined() || !isFloat(entry.parameter.dtype()) || entry.parameter.dtype() == type)
          continue;
        Parameter old = entry.parameter;
        auto [row, isNew] = converted.try_emplace(old.rawCell());
        if (isNew) {
          row->second = Parameter(old.value().detach(at).to(type, at), old.trainable(), at);
          row->second.setName(old.name());
          kept.push_back(old);
        }
        Initializer start = entry.initializer;
        replaceParameter(*entry.slot, row->second, at);
        if (start)
          entry.initializer = [start](const TensorType &wanted) {
            Tensor value = start(wanted);
            return value.dtype() == wanted.dtype ? value : value.to(wanted.dtype, Source());
          };
      }
  });
}

} // namespace sprig::nn
