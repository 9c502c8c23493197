// State dicts: parameters and buffers by PyTorch's names, in memory and in files.
#include "lib/Data/ArrayFile.h"
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Record.h"
#include "sprig/elementwise.h"
#include <cstring>
#include <iostream>
#include <map>
#include <set>

namespace sprig::nn {

namespace {

struct Named {
  std::string name;
  Parameter parameter;
};

/// In PyTorch's order; what two modules share stands there twice, as in PyTorch.
void collectEntries(const Module::State &state, const std::string &path, std::vector<Named> &result) {
  for (auto *entries : {&state.parameters, &state.buffers})
    for (auto &entry : *entries)
      if (entry.persistent && entry.parameter.defined())
        result.push_back({Module::State::join(path, entry.name), entry.parameter});
  for (auto &child : state.children)
    collectEntries(child.module->rawState(), Module::State::join(path, child.name), result);
}

std::vector<Named> namedState(const Module::State &state) {
  std::vector<Named> result;
  collectEntries(state, "", result);
  return result;
}

bool converts(const TensorType &from, const TensorType &to) {
  return from.shape == to.shape && isFloat(from.dtype) == isFloat(to.dtype);
}

bool isSame(const Tensor &a, const Tensor &b, Source at) {
  return a.type() == b.type() && std::memcmp(a.bytes(at), b.bytes(at), size_t(a.type().bytes())) == 0;
}

/// Lines of one kind of finding, at most sixteen of them.
void list(std::string &text, const std::string &title, const std::vector<std::string> &rows) {
  if (rows.empty()) return;
  text += "\n  " + title + " (" + std::to_string(rows.size()) + "):";
  for (size_t i = 0; i < rows.size() && i < 16; ++i) text += "\n    " + rows[i];
  if (rows.size() > 16) text += "\n    and " + std::to_string(rows.size() - 16) + " more";
}

LoadReport loadInto(const Module &module, const StateDict &state, bool strict, const std::string &origin, Source at) {
  std::map<std::string, const Tensor *> given;
  for (const NamedTensor &row : state) {
    frontend::requireDefined(row.value, "loadStateDict", row.name.c_str(), at);
    given[row.name] = &row.value;
  }
  LoadReport report;
  std::vector<std::string> missing, unexpected, mismatched;
  std::vector<std::pair<Named, const Tensor *>> found;
  std::set<std::string> known;
  std::vector<Named> all = namedState(module.rawState());
  std::map<Parameter::Cell *, std::string> givenUnder;
  for (const Named &slot : all)
    if (given.count(slot.name)) givenUnder.try_emplace(slot.parameter.rawCell(), slot.name);
  for (Named &slot : all) {
    known.insert(slot.name);
    auto row = given.find(slot.name);
    auto other = givenUnder.find(slot.parameter.rawCell());
    if (row == given.end()) {
      if (other != givenUnder.end()) continue; // a tied parameter, there under its other name
      report.missing.push_back(slot.name);
      missing.push_back(slot.name + ": " + describe(slot.parameter.type()));
    } else if (!converts(row->second->type(), slot.parameter.type())) {
      mismatched.push_back(slot.name + ": the module has " + describe(slot.parameter.type()) + ", the state " +
                           describe(row->second->type()));
    } else if (other->second != slot.name) {
      if (!isSame(*given[other->second], *row->second, at))
        mismatched.push_back(slot.name + ": is one parameter with " + other->second +
                             ", which has other values in the state");
    } else {
      found.emplace_back(slot, row->second);
    }
  }
  for (const NamedTensor &row : state)
    if (!known.count(row.name)) {
      report.unexpected.push_back(row.name);
      unexpected.push_back(row.name + ": " + describe(row.value.type()));
    }
  if (!mismatched.empty() || (strict && !(missing.empty() && unexpected.empty()))) {
    std::string text = frontend::placeText(at) + origin + ": the state does not fit the " + module.typeName();
    list(text, "of another type or value", mismatched);
    if (strict) {
      list(text, "missing", missing);
      list(text, "unexpected", unexpected);
    }
    badInput(text);
  }
  for (auto &[slot, value] : found) {
    Tensor next = value->detach(at);
    if (next.dtype() != slot.parameter.dtype()) next = cast(Operand(next, at), slot.parameter.dtype());
    slot.parameter.set(next, at);
  }
  return report;
}

} // namespace

StateDict Module::stateDict() const {
  StateDict result;
  for (Named &slot : namedState(*state)) result.push_back({slot.name, slot.parameter.value().detach(Source())});
  return result;
}

LoadReport Module::loadStateDict(const StateDict &given, bool strict, Source at) const {
  return loadInto(*this, given, strict, "loadStateDict", at);
}

void Module::save(const std::filesystem::path &path, Source at) const {
  for (const std::string &layer : state->unregisteredNow())
    std::cerr << "warning: " << frontend::placeText(at) << "Module::save: " << path.string() << " is without " << layer
              << ", which is not registered\n";
  saveTensors(path, stateDict(), at);
}

LoadReport Module::load(const std::filesystem::path &path, bool strict, Source at) const {
  return loadInto(*this, loadTensors(path, at), strict, path.string(), at);
}

/// Puts the caller's line in front of what f throws.
template <typename F> static void withPlace(const char *what, Source at, F f) {
  try {
    f();
  } catch (const Error &error) {
    throw Error(error.kind(), frontend::placeText(at) + what + ": " + error.what());
  }
}

void saveTensors(const std::filesystem::path &path, const StateDict &tensors, Source at) {
  std::vector<data::Array> arrays;
  for (const NamedTensor &row : tensors) {
    frontend::requireDefined(row.value, "saveTensors", row.name.c_str(), at);
    data::Array array;
    array.name = row.name;
    array.dtype = data::DType(row.value.dtype());
    array.shape = row.value.shape().vector();
    array.bytes.resize(size_t(row.value.type().bytes()));
    std::memcpy(array.bytes.data(), row.value.bytes(at), array.bytes.size());
    arrays.push_back(std::move(array));
  }
  withPlace("saveTensors", at, [&] { data::writeArrays(path, arrays); });
}

StateDict loadTensors(const std::filesystem::path &path, Source at) {
  std::vector<data::Array> arrays;
  withPlace("loadTensors", at, [&] { arrays = data::readArrays(path); });
  StateDict result;
  for (data::Array &array : arrays)
    result.push_back({array.name, Tensor::copyOf(array.bytes.data(), {DType(array.dtype), Shape(array.shape)})});
  return result;
}

} // namespace sprig::nn
