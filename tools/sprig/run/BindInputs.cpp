#include "tools/sprig/Model.h"
#include <algorithm>

namespace sprig::cli {
namespace {

// Sizes and arrays of one entry, as --dim, --shape and files say them.
BoundInputs bindFiles(const std::vector<InputSpec> &given, const std::vector<std::string> &files,
                      const std::map<std::string, int64_t> &dims, const Settings &settings) {
  BoundInputs bound;
  // How much an input holds the files say, too.
  auto isGiven = [&](const std::string &name) {
    return std::any_of(files.begin(), files.end(), [&](auto &file) { return file.starts_with(name + "="); });
  };
  bound.entry.dims = dims;
  bound.specs = withTensors(given, bound.entry.dims, isGiven);
  requireTensors(bound.specs);
  bound.entry.shapes = settings.inputShapes();
  bindShapes(bound.specs, bound.entry.shapes, bound.entry.dims);
  bound.arrays = readInputs(files, bound.specs);
  bindDims(bound.specs, bound.arrays, bound.entry.dims);
  for (const InputSpec &spec : bound.specs)
    if (auto array = bound.arrays.find(spec.name); array != bound.arrays.end() && !spec.hasShape)
      bound.entry.shapes.emplace(spec.name, array->second.shape);
  return bound;
}

// Small integer inputs may decide shapes; larger ones are data.
void bindValues(BoundInputs &bound) {
  for (auto &[name, array] : bound.arrays)
    if (!data::isFloat(array.dtype) && array.elements() <= 64) bound.entry.values.emplace(name, array);
}

} // namespace

BoundInputs bindInputs(const std::vector<InputSpec> &specs, const std::vector<std::string> &files,
                       std::optional<uint64_t> randomSeed, const Settings &settings) {
  auto entries = settings.entryDims();
  if (entries.size() > 1) badUse("--dim: one size for each dimension, this command runs one entry");
  BoundInputs bound = bindFiles(specs, files, entries.front(), settings);
  if (randomSeed) {
    takeLeast(bound.specs, bound.entry.dims);
    fillRandom(bound.specs, *randomSeed, bound.entry.dims, bound.arrays);
  }
  requireAll(bound.specs, bound.arrays);
  bindValues(bound);
  return bound;
}

std::vector<BoundInputs> bindEntries(const std::vector<InputSpec> &specs, const std::vector<std::string> &files,
                                     const Settings &settings, const std::map<std::string, int64_t> &otherwise) {
  std::vector<BoundInputs> entries;
  for (auto &dims : settings.entryDims()) {
    BoundInputs &bound = entries.emplace_back(bindFiles(specs, files, dims, settings));
    for (const std::string &symbol : unboundSymbols(bound.specs, bound.entry.dims))
      if (auto found = otherwise.find(symbol); found != otherwise.end()) bound.entry.dims.insert(*found);
    takeLeast(bound.specs, bound.entry.dims);
    bindValues(bound);
  }
  return entries;
}

std::vector<EntryRequest> requestsOf(const std::vector<BoundInputs> &entries) {
  std::vector<EntryRequest> requests;
  for (const BoundInputs &bound : entries) requests.push_back(bound.entry);
  return requests;
}

} // namespace sprig::cli
