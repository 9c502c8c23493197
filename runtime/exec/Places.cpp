#include "runtime/exec/Places.h"

#include <algorithm>
#include <charconv>

namespace sprig::rt::core {

namespace {

// "cuda:1"; the first of a kind by its kind alone.
bool isCalled(const Device &device, std::string_view name) {
  if (!name.starts_with(device.kind())) return false;
  name.remove_prefix(device.kind().size());
  if (name.empty()) return device.ordinal() == 0;
  if (!name.starts_with(':')) return false;
  uint32_t ordinal = 0;
  auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), ordinal);
  return error == std::errc() && end == name.data() + name.size() && ordinal == device.ordinal();
}

std::string namesOfPlaces(const Package &package) {
  std::string names;
  for (uint32_t i = 0; i < package.program().devices.size(); ++i)
    names += concat(i ? ", " : "", package.device(i).name());
  return names;
}

// Whether the arrays of a call may lie on the device of that name, which is null for one of the host's memory.
Status find(const Package &package, const Choice &choice, std::string_view name, const Device *&found) {
  const Entry &entry = package.program().entries[choice.entry];
  found = nullptr;
  for (uint32_t i = 0; i < package.program().devices.size() && !found; ++i)
    if (isCalled(package.device(i), name)) found = &package.device(i);
  if (!found)
    return {SPRIG_RT_INVALID_ARGUMENT,
            concat("expected a device that the package runs on (", namesOfPlaces(package), "), got '", name, "'")};
  if (found->sharesHostMemory()) {
    found = nullptr;
    return {};
  }
  const Device *only = package.onlyDevice(choice.entry);
  if (!only)
    return {SPRIG_RT_UNSUPPORTED, concat("entry '", entry.name, "' runs on several devices (", namesOfPlaces(package),
                                         "), expected one that runs on ", found->name(), " alone")};
  if (only != found)
    return {SPRIG_RT_INVALID_ARGUMENT, concat("entry '", entry.name, "' runs on ", only->name(), ", got '", name, "'")};
  if (choice.length)
    return {SPRIG_RT_UNSUPPORTED, concat("entry '", entry.name, "': takes several lengths, and arrays in memory of ",
                                         found->name(), " are not padded to the longest")};
  if (!choice.exact)
    return {SPRIG_RT_UNSUPPORTED,
            concat("entry '", entry.name, "': expected a batch that an entry has, as arrays in memory of ",
                   found->name(), " are neither padded nor split, got ", choice.samples)};
  return {};
}

Status readList(const Package &package, const Choice &choice, const char *const *names, const char *what,
                const std::vector<TensorType> &types, std::vector<char> &places) {
  places.assign(types.size(), false);
  for (size_t i = 0; names && i < types.size(); ++i) {
    if (!names[i]) continue;
    const Device *device = nullptr;
    SPRIG_RETURN_IF_ERROR(find(package, choice, names[i], device), concat(what, " '", types[i].name, "'"));
    places[i] = device != nullptr;
  }
  return {};
}

} // namespace

Status Places::read(const Package &package, const Choice &choice, const GivenPlaces *given) {
  inputPlaces.clear();
  outputPlaces.clear();
  if (!given) return {};
  const Entry &entry = package.program().entries[choice.entry];
  SPRIG_RETURN_IF_ERROR(readList(package, choice, given->inputs, "input", entry.inputs, inputPlaces));
  return readList(package, choice, given->outputs, "output", entry.outputs, outputPlaces);
}

Status Places::readAll(const Package &package, const Choice &choice, std::string_view name) {
  const Entry &entry = package.program().entries[choice.entry];
  const Device *device = nullptr;
  SPRIG_RETURN_IF_ERROR(find(package, choice, name, device));
  inputPlaces.assign(entry.inputs.size(), device != nullptr);
  outputPlaces.assign(entry.outputs.size(), device != nullptr);
  return {};
}

} // namespace sprig::rt::core
