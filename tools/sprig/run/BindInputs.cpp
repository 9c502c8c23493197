#include "tools/sprig/Model.h"
#include <algorithm>

namespace sprig::cli {

BoundInputs bindInputs(const std::vector<InputSpec> &given, const std::vector<std::string> &files,
                       std::optional<uint64_t> randomSeed, const Settings &settings) {
  BoundInputs bound;
  // How much an input holds the files say, too.
  auto isGiven = [&](const std::string &name) {
    return std::any_of(files.begin(), files.end(), [&](auto &file) { return file.starts_with(name + "="); });
  };
  auto entries = settings.entryDims();
  if (entries.size() > 1)
    throw Error(ErrorKind::usage, "--dim: one size for each dimension, this command runs one entry");
  bound.entry.dims = entries.front();
  const std::vector<InputSpec> specs = withTensors(given, bound.entry.dims, isGiven);
  requireTensors(specs);
  bound.entry.shapes = settings.inputShapes();
  bindShapes(specs, bound.entry.shapes, bound.entry.dims);
  bound.arrays = readInputs(files, specs);
  bindDims(specs, bound.arrays, bound.entry.dims);
  for (const InputSpec &spec : specs)
    if (auto array = bound.arrays.find(spec.name); array != bound.arrays.end() && !spec.hasShape)
      bound.entry.shapes.emplace(spec.name, array->second.shape);
  if (randomSeed) {
    takeLeast(specs, bound.entry.dims);
    fillRandom(specs, *randomSeed, bound.entry.dims, bound.arrays);
  }
  requireAll(specs, bound.arrays);
  // Small integer inputs may decide shapes; larger ones are data.
  for (auto &[name, array] : bound.arrays)
    if (!data::isFloat(array.dtype) && array.elements() <= 64) bound.entry.values.emplace(name, array);
  return bound;
}

} // namespace sprig::cli
