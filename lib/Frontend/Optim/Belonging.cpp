// What optimizers and averages share: whether their parameters are still a module's, and how their states are loaded.
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Frontend/Standing.h"
#include "lib/Training/StateNames.h"
#include <algorithm>
#include <map>

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

void requireTrained(const Parameter &parameter, std::set<Parameter::Cell *> &seen, const std::string &what, Source at) {
  if (!parameter.defined()) frontend::fail(at, what, "a parameter is not defined");
  if (!isFloat(parameter.dtype()))
    frontend::fail(at, what,
                   "parameter '" + parameter.name() + "' is " + describe(parameter.type()) +
                       "; only floats are trained");
  if (!seen.insert(parameter.rawCell()).second)
    frontend::fail(at, what, "parameter '" + parameter.name() + "' is there twice");
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
  if (!wrong.empty())
    throw Error(ErrorKind::badInput, placeOf(at, what + "::loadStateDict: the state does not fit" + wrong));
  for (size_t i = 0; i < named.size(); ++i) named[i].second.set(values[i]->detach(at), at);
}

} // namespace sprig::optim
