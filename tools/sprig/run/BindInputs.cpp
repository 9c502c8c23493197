#include "tools/sprig/Model.h"

namespace sprig::cli {

BoundInputs bindInputs(const std::vector<InputSpec> &specs, const std::vector<std::string> &files,
                       std::optional<uint64_t> randomSeed, const Settings &settings) {
  BoundInputs bound;
  auto entries = settings.entryDims();
  if (entries.size() > 1)
    throw Error(ErrorKind::usage, "--dim: one size for each dimension, this command runs one entry");
  bound.entry.dims = entries.front();
  bound.entry.shapes = settings.inputShapes();
  bindShapes(specs, bound.entry.shapes, bound.entry.dims);
  bound.arrays = readInputs(files, specs);
  bindDims(specs, bound.arrays, bound.entry.dims);
  for (const InputSpec &spec : specs)
    if (auto given = bound.arrays.find(spec.name); !spec.hasShape && given != bound.arrays.end())
      bound.entry.shapes.emplace(spec.name, given->second.shape);
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
