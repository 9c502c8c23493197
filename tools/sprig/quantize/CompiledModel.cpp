#include "tools/sprig/quantize/CompiledModel.h"
#include "lib/Data/Counted.h"

namespace sprig::cli {

CompiledModel::CompiledModel(std::string bytes, const std::string &path, const Settings &settings)
    : model{path, ModelKind::onnx, std::move(bytes), nullptr}, settings(settings),
      specs(inputsOfCalls(model, settings)) {}

std::vector<data::Array> CompiledModel::run(const std::map<std::string, data::Array> &arrays) {
  std::vector<data::Array> results = runnerFor(arrays).run(arrays);
  data::cutToCounts(results);
  return results;
}

PreparedCall CompiledModel::prepare(const std::map<std::string, data::Array> &arrays) {
  return runnerFor(arrays).prepare(arrays);
}

const Runner &CompiledModel::runnerFor(const std::map<std::string, data::Array> &arrays) {
  std::vector<int64_t> sizes;
  for (const auto &[name, array] : arrays) sizes.insert(sizes.end(), array.shape.begin(), array.shape.end());
  auto found = runners.find(sizes);
  if (found == runners.end()) {
    EntryRequest entry{settings.entryDims().front(), settings.inputShapes(), {}};
    bindShapes(specs, entry.shapes, entry.dims);
    bindDims(specs, arrays, entry.dims);
    requireAll(specs, arrays);
    for (const auto &[name, array] : arrays) entry.shapes[name] = array.shape;
    found = runners.emplace(sizes, compileAndLoad(model, {entry}, settings)).first;
  }
  return found->second;
}

} // namespace sprig::cli
