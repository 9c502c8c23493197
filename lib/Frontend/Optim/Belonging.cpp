// What optimizers and averages share: whether their parameters are still a module's, and how their states are loaded.
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Frontend/Standing.h"
#include "lib/Training/StateNames.h"
#include <algorithm>
#include <iostream>
#include <map>
#include <mutex>

namespace sprig::optim {

Belonging::Belonging(const Parameters &given) : module(given.module), made(frontend::structureClock()), checked(made) {}

void Belonging::check(const std::vector<Parameter> &parameters, const char *what, Source at) {
  uint64_t now = frontend::structureClock();
  if (now == checked) return;
  for (const Parameter &parameter : parameters) {
    const frontend::Standing &standing = frontend::standingOf(parameter);
    if (standing.removed > made)
      frontend::fail(at, what,
                     "parameter '" + parameter.name() + "' belongs to its module no more: " + standing.how +
                         ". Make a new one of the module's parameters");
  }
  if (std::shared_ptr<nn::Module::State> whole = module.lock())
    for (auto &[name, parameter] : nn::parametersOf(*whole))
      if (parameter.trainable() &&
          std::none_of(parameters.begin(), parameters.end(), [&](const Parameter &p) { return p.same(parameter); }))
        frontend::fail(at, what,
                       "the module has the parameter '" + name +
                           "' since, which would not be trained. Make a new one of the module's parameters");
  checked = now;
}

/// Whether a module that it is below has a parameter that is settled, or it itself.
static bool hasSettled(const nn::Module::State &state) {
  for (const nn::Module::State *parent : state.parents)
    if (hasSettled(*parent)) return true;
  if (!state.parents.empty()) return false;
  std::vector<std::pair<std::string, Parameter>> all = nn::parametersOf(state);
  return std::any_of(all.begin(), all.end(), [](auto &row) { return frontend::standingOf(row.second).isSettled; });
}

/// Settles what is below the roots above a module; how many parameters that are.
static size_t settleAll(const nn::Module::State &state) {
  size_t count = 0;
  for (const nn::Module::State *parent : state.parents) count += settleAll(*parent);
  if (!state.parents.empty()) return count;
  for (auto &[name, parameter] : nn::parametersOf(state)) {
    frontend::standingOf(parameter).isSettled = true;
    ++count;
  }
  return count;
}

/// "at net.cpp:12", or nothing.
static std::string madeText(Source made) {
  std::string place = frontend::placeText(made);
  if (place.ends_with(": ")) place.resize(place.size() - 2);
  return place.empty() ? "" : " made at " + place;
}

/// Ranks that are threads say the same.
static bool isFirst(const std::string &text) {
  static auto &mutex = *new std::mutex;
  static auto &said = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  return said.insert(text).second;
}

void Belonging::reportUntrained(const std::vector<Parameter> &parameters, const char *what, Source at) const {
  for (const Parameter &trained : parameters)
    for (const Parameter &parameter : frontend::takeUntrained(trained)) {
      frontend::Standing &standing = frontend::standingOf(parameter);
      if (standing.isSettled) continue; // with its layer
      auto layer = std::static_pointer_cast<const nn::Module::State>(standing.module.lock());
      bool isBesideOthers = layer && hasSettled(*layer);
      size_t others = layer ? settleAll(*layer) - 1 : 0;
      standing.isSettled = true;
      if (isBesideOthers) continue;
      std::string text = "parameter '" + parameter.name() + "' " + describe(parameter.type());
      if (standing.layer) {
        std::string named = "a " + nn::classText(*standing.layer) + madeText(standing.made);
        text += (others ? " (and " + std::to_string(others) + " more)" : "") + " of " + named;
        if (std::shared_ptr<nn::Module::State> whole = module.lock(); whole && layer)
          whole->unregistered.emplace_back(layer, named);
      } else {
        text += madeText(standing.made);
      }
      text = frontend::placeText(at) + what + ": the loss reaches " + text +
             ", which no optimizer has and no module has registered: it is not trained, and no state dict has it; "
             "register it (add(), addParameter()), give it to an optimizer, or freeze it";
      if (isFirst(text)) std::cerr << "warning: " << text << "\n";
    }
}

void requireTrained(const Parameter &parameter, std::set<Parameter::Cell *> &seen, const std::string &what, Source at) {
  if (!parameter.defined()) frontend::fail(at, what, "a parameter is not defined");
  if (!isFloat(parameter.dtype()))
    frontend::fail(at, what,
                   "parameter '" + parameter.name() + "' is " + describe(parameter.type()) +
                       "; only floats are trained");
  if (!seen.insert(parameter.rawCell()).second)
    frontend::fail(at, what, "parameter '" + parameter.name() + "' is there twice");
  frontend::standingOf(parameter).isSettled = true;
}

nn::StateDict valuesOf(const std::vector<std::pair<std::string, Parameter>> &named) {
  nn::StateDict result;
  for (auto &[name, parameter] : named) result.push_back({name, parameter.value()});
  return result;
}

void loadNamed(const std::vector<std::pair<std::string, Parameter>> &named, const nn::StateDict &given,
               const std::string &what, Source at) {
  std::map<std::string, const Tensor *> rows;
  std::string wrong;
  for (const nn::NamedTensor &row : given) {
    frontend::requireDefined(row.value, "loadStateDict", row.name.c_str(), at);
    if (!rows.emplace(row.name, &row.value).second) wrong += "\n  twice: " + row.name;
  }
  const Tensor none(int64_t(0));
  std::vector<const Tensor *> values;
  for (auto &[name, parameter] : named) {
    auto row = rows.find(name);
    if (row == rows.end()) {
      if (name.starts_with(training::kSkippedPrefix)) {
        values.push_back(&none);
        continue;
      }
      wrong += "\n  missing: " + name + ": " + describe(parameter.type());
      continue;
    }
    if (!(row->second->type() == parameter.type()))
      wrong += "\n  other type: " + name + ": here it is " + describe(parameter.type()) + ", in the state " +
               describe(row->second->type());
    values.push_back(row->second);
    rows.erase(row);
  }
  for (auto &[name, tensor] : rows) wrong += "\n  unexpected: " + name + ": " + describe(tensor->type());
  if (!wrong.empty()) badInput(placeOf(at, what + "::loadStateDict: the state does not fit" + wrong));
  for (size_t i = 0; i < named.size(); ++i) named[i].second.set(values[i]->detach(at), at);
}

} // namespace sprig::optim
